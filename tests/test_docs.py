"""Every Python block of our pages runs as it stands; the reference is whole, fresh, and prints what it says."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfsvc as tf
from docs import generate

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "reference"),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


ENTRIES = generate.entries()


def imported(script: str) -> list[str]:
    """The libraries that a script needs."""
    nodes = list(ast.walk(ast.parse(script)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return sorted({name.partition(".")[0] for name in names})


@pytest.mark.timeout(200)
@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.name)
def test_the_blocks_of_a_page_run(page):
    script = "\n".join(BLOCK.findall(page.read_text()))
    if missing := [name for name in imported(script) if importlib.util.find_spec(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=180, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_the_reference_is_fresh():
    folder = ROOT / "docs" / "reference"
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == generate.pages(), (
        "run python -m docs.generate"
    )


def test_every_operator_has_its_place_in_the_reference():
    methods = {name for name in dir(tf.data.Dataset) if not name.startswith("_")}
    told = {entry.get("operator", name) for name, entry in ENTRIES.items()} | ENTRIES.keys()
    assert methods - ENTRIES.keys() == set()
    # No method is called like the last two, which others are made of; one of them is only imported where it is needed.
    assert generate.operators().keys() - told <= {"numbered", "uniform"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_an_example_prints_what_the_reference_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"tf": tf, "np": np, "Dataset": tf.data.Dataset}
    example = doctest.DocTestParser().get_doctest(ENTRIES[name]["example"], names, name, None, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(example, out=said.append).failed == 0, "".join(said)
