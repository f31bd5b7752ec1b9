"""The page about parity with TensorFlow's tests is true as far as names go: each test that it names exists."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "parity.md"
NAME = re.compile(r"`(test_[a-z0-9_]+)::(test_[a-z0-9_]+)`")


def defined() -> dict[str, set[str]]:
    """The names of tests by file, files of the same name together."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in TESTS.rglob("test_*.py"):
        tree = ast.parse(path.read_text())
        found[path.stem] |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return found


def test_every_test_that_the_page_names_exists() -> None:
    known, named = defined(), NAME.findall(PAGE.read_text())
    assert len(named) > 100
    assert [f"{file}::{test}" for file, test in named if test not in known[file]] == []


def test_every_row_says_a_test_or_why_there_is_none() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "TensorFlow's |" not in line]
    assert len(rows) > 100
    for row in rows:
        _, theirs, ours, _ = row.split("|", 3)
        assert "test" in theirs.lower(), row
        assert NAME.search(ours) or re.search("not applicable: |superseded|better", ours), row
