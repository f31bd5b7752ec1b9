"""Every Python block of our pages runs as it stands, every command prints what they say; the reference is fresh."""

from __future__ import annotations

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
from tests import console

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "reference"),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
OTHERS = re.compile(
    r"^ *(?:from|import) (?:tfsvc\.)?(accelerate|datasets|grain|jax|lightning|ray|tensorflow|torch|torchdata)\b", re.M
)
"""Libraries that not everybody has; a block that imports one needs it."""


ENTRIES = generate.entries()


@pytest.mark.timeout(200)
@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.name)
def test_the_blocks_of_a_page_run(page):
    blocks = BLOCK.findall(page.read_text())
    usable = [block for block in blocks if all(map(importlib.util.find_spec, OTHERS.findall(block)))]
    if page.parent.name == "moving" and usable != blocks:
        pytest.skip("tells of a library that is not installed")
    script = "\n".join(usable)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=180, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if console.BLOCK.search(p.read_text())], ids=lambda p: p.name)
@pytest.mark.timeout(300)
def test_the_commands_of_a_page_print_what_it_says(page, tmp_path):
    problems = console.play(page.read_text(), tmp_path)
    assert not problems, "\n".join(problems)


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
