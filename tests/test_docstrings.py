"""What the reference of Python names shows is told: each name, each parameter, each field.

Two things need no word of their own: the ``name`` of an operator, which is a label everywhere, and the constructor of a
class that users get rather than make, whose docstring then says what makes it (``Made by``).
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAGES = sorted((Path(__file__).parents[1] / "docs" / "api").glob("*.md"))
OURS = ("tfsvc", "tfsvc_sim")
CONTRACT = ("strike", "fate")  # of faults and rules: told once, by their protocols


def _find(path: str) -> Any:
    for cut in range(len(path.split(".")), 0, -1):
        parts = path.split(".")
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for step in parts[cut:]:
            found = getattr(found, step)
        return found
    raise LookupError(path)


def _public(module: ModuleType) -> list[str]:
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return list(getattr(module, "__all__", [name for name in own if not name.startswith("_")]))


def shown() -> dict[str, Any]:
    """What the pages name, modules by what is public in them."""
    found: dict[str, Any] = {}
    for page in PAGES:
        for path in re.findall(r"^::: (\S+)", page.read_text(), re.M):
            try:
                value = _find(path)
            except ImportError:  # of a trainer's library that is not installed
                continue
            inside = (
                {f"{path}.{name}": getattr(value, name) for name in _public(value)} if inspect.ismodule(value) else {}
            )
            found |= inside or {path: value}
    return {path: value for path, value in found.items() if inspect.isclass(value) or inspect.isroutine(value)}


SHOWN = shown()


def untold(function: Callable[..., Any], docs: str) -> list[str]:
    """The parameters of which there is no word."""
    parameters = list(inspect.signature(function).parameters)
    return [p for p in parameters if p not in ("self", "cls", "name") and not re.search(rf"\b{p}\b", docs)]


def gaps(path: str, value: Any) -> Iterator[str]:
    docs = inspect.getdoc(value) or ""
    if not docs or (inspect.isclass(value) and not value.__doc__):
        yield f"{path}: no docstring"
    if inspect.isroutine(value):
        yield from (f"{path}: {name}" for name in untold(value, docs))
        return
    usual = issubclass(value, enum.Enum | BaseException) or getattr(value, "_is_protocol", False)
    if not usual and "Made by" not in docs and value.__init__ is not object.__init__:
        yield from (f"{path}: {name}" for name in untold(value, docs + (inspect.getdoc(value.__init__) or "")))
    for name, member in inspect.getmembers_static(value):
        plain = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        module = getattr(plain.fget if isinstance(plain, property) else plain, "__module__", None) or ""
        if name.startswith("_") or name in CONTRACT or module.partition(".")[0] not in OURS:
            continue
        if inspect.isfunction(plain):
            told = inspect.getdoc(plain) or inspect.getdoc(getattr(value, name)) or ""
            if not told:
                yield f"{path}.{name}: no docstring"
            elsewhere = value.__doc__ or ""  # what all methods take is told once
            yield from (f"{path}.{name}: {parameter}" for parameter in untold(plain, f"{told} {elsewhere}"))
        elif isinstance(plain, property) and not inspect.getdoc(plain):
            yield f"{path}.{name}: no docstring"


@pytest.mark.parametrize("path", SHOWN)
def test_everything_of_a_public_name_is_told(path):
    assert list(gaps(path, SHOWN[path])) == []


def test_a_gap_is_seen():
    def some(one: int, other: int) -> None:
        """Takes ``one``."""

    assert list(gaps("some", some)) == ["some: other"]
    some.__doc__ = None
    assert next(gaps("some", some)) == "some: no docstring"
