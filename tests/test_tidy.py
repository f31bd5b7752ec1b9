"""Habits of this code that no linter knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("tfsvc", "sim/tfsvc_sim", "transports/tfsvc_transports", "scenarios", "benchmarks", "examples")
SOURCES = [
    path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if not path.name.endswith("_pb2.py")
]
LINES_MAX = 450
DETERMINISTIC = ("tfsvc/protocol", "tfsvc/wire", "sim/tfsvc_sim")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_is_one_idea_and_says_which(path):
    text = path.read_text()
    assert text.count("\n") <= LINES_MAX, "split it where its idea divides"
    assert ast.get_docstring(ast.parse(text)), "say in the first line what the module is for"


def loops_over_sets(tree: ast.AST) -> Iterator[int]:
    """Lines where a set's order would decide something."""
    for node in ast.walk(tree):
        iterated = [node.iter] if isinstance(node, ast.For | ast.comprehension) else []
        for where in iterated:
            made = isinstance(where, ast.Set | ast.SetComp)
            called = isinstance(where, ast.Call) and isinstance(where.func, ast.Name)
            if made or (called and where.func.id in ("set", "frozenset")):
                yield where.lineno


@pytest.mark.parametrize("folder", DETERMINISTIC)
def test_no_order_comes_from_a_set(folder):
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if path.is_relative_to(ROOT / folder)
        for line in loops_over_sets(ast.parse(path.read_text()))
    ]
    assert not found


def test_every_module_of_the_library_is_imported_by_its_own_name_only():
    for path in SOURCES:
        assert "from sim." not in path.read_text()
        assert "from transports." not in path.read_text()
