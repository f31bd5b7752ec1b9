"""The notebooks: each is what its source says, holds what it showed, and runs to its end with its oracles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("matplotlib")

from notebooks.build import build, execute, sources  # noqa: E402

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def test_there_are_notebooks():
    assert len(sources()) == 5


@pytest.mark.parametrize("source", sources(), ids=lambda path: path.stem)
def test_a_notebook_is_made_from_its_source_and_keeps_its_plots(source):
    kept = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    made = build(source)
    assert [cell.source for cell in kept.cells] == [cell.source for cell in made.cells], (
        f"{source.name} has changed since; run python -m notebooks.build {source.stem}"
    )
    outputs = [output for cell in kept.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert "reproduced under the assumptions" in kept.cells[0].source


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("notebooks")
@pytest.mark.parametrize("source", sources(), ids=lambda path: path.stem)
def test_a_notebook_runs(source, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    execute(source)
