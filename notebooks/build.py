"""Makes the notebooks from their sources, runs them, and keeps what they show.

    python -m notebooks.build [NAME ...]

A source is a Python file of cells: ``# %% [markdown]`` begins text, ``# %%`` begins code.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
TIMEOUT_S = 600
METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def sources() -> list[Path]:
    """The files that are notebooks."""
    return sorted(path for path in HERE.glob("*.py") if path.name[0].isdigit())


def cells(source: Path) -> list[tuple[str, str]]:
    """The kind, ``markdown`` or ``code``, and the text of each cell."""
    found = []
    for part in ("\n" + source.read_text()).split("\n# %%")[1:]:
        first, _, text = part.partition("\n")
        if "markdown" in first:
            lines = [line.removeprefix("#").removeprefix(" ") for line in text.strip().splitlines()]
            found.append(("markdown", "\n".join(lines)))
        else:
            found.append(("code", text.strip()))
    return found


def build(source: Path) -> Any:
    """The notebook, not run."""
    notebook = nbformat.v4.new_notebook(metadata=METADATA)
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    notebook.cells = [make[kind](text, id=f"cell-{i}") for i, (kind, text) in enumerate(cells(source))]
    return notebook


def execute(source: Path) -> Any:
    """The notebook with what its cells gave.

    Raises:
      nbclient.exceptions.CellExecutionError: if one fails.
    """
    notebook = build(source)
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    NotebookClient(notebook, timeout=TIMEOUT_S, kernel_name="python3", resources={"metadata": {"path": HERE}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # the time of day says nothing
    return notebook


def main() -> None:
    names = sys.argv[1:]
    for source in sources():
        if not names or source.stem in names:
            print(source.stem)
            nbformat.write(execute(source), source.with_suffix(".ipynb"))


if __name__ == "__main__":
    main()
