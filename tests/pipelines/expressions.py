"""Functions of an element, drawn to fit its spec: the text of a lambda that both modules run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def dtype_name(dtype: str) -> str:
    """How code names a dtype."""
    return "ml_dtypes.bfloat16" if dtype == "bfloat16" else repr(dtype)


@dataclass(frozen=True)
class Leaf:
    """One component of an element: how to name it, and what it is."""

    path: str
    dtype: str
    shape: tuple[int | None, ...] | None

    @property
    def is_scalar(self) -> bool:
        return self.shape == ()

    @property
    def is_index(self) -> bool:
        return self.is_scalar and self.dtype in INTEGERS


@dataclass(frozen=True)
class Arguments:
    """How a function takes an element: its parameters, and how it names the element and its components."""

    parameters: str
    element: str
    leaves: tuple[Leaf, ...]


def arguments(spec: Any) -> Arguments:
    """For a function of an element: a tuple is spread over several parameters."""
    if isinstance(spec, tuple) and not hasattr(spec, "_fields"):
        names = "abcdefgh"[: len(spec)]
        leaves = tuple(leaf for name, child in zip(names, spec, strict=True) for leaf in _leaves(child, name))
        return Arguments(", ".join(names), f"({', '.join(names)},)", leaves)
    return Arguments("x", "x", tuple(_leaves(spec, "x")))


def whole(spec: Any) -> Arguments:
    """For a function that gets the element as one argument, ``x``."""
    return Arguments("x", "x", tuple(_leaves(spec, "x")))


def _leaves(spec: Any, path: str) -> Iterator[Leaf]:
    if isinstance(spec, Mapping):
        for key in sorted(spec):
            yield from _leaves(spec[key], f"{path}[{key!r}]")
    elif isinstance(spec, tuple) and hasattr(spec, "_fields"):
        for name, child in zip(spec._fields, spec, strict=True):
            yield from _leaves(child, f"{path}.{name}")
    elif isinstance(spec, tuple):
        for place, child in enumerate(spec):
            yield from _leaves(child, f"{path}[{place}]")
    elif hasattr(spec, "dtype"):
        yield Leaf(path, spec.dtype.name, spec.shape)
    else:
        yield Leaf(path, "dataset", None)


def values(arguments: Arguments) -> st.SearchStrategy[str]:
    """One component: something of the element's, or a constant."""
    choices = [text for leaf in arguments.leaves for text in _values_of(leaf)]
    return st.sampled_from([*choices, "1", "2.5", "'c'", "True", "[1, 2]", "np.int64(3)"])


def _values_of(leaf: Leaf) -> Iterator[str]:
    path = leaf.path
    yield path
    yield path
    yield f"f.size({path})"
    yield f"f.flat({path})"
    if leaf.dtype in ("int32", "int64", "float32", "float64", "string", "bool"):
        yield f"f.twice({path})"
    if leaf.dtype in INTEGERS + FLOATS:
        yield f"{path} + 1"
        yield f"{path} % 3"
        yield f"f.cast({path}, 'int64')"
        yield f"f.cast({path}, 'float32')"
    if leaf.is_index:
        yield f"f.fill(f.cast({path}, 'int64') % 3, {path})"
        yield f"f.unless({path} == 2, {path})"
    if leaf.is_scalar and leaf.dtype == "string":
        yield f"f.length({path})"
        yield f"f.fill(f.length({path}), {path})"
    if leaf.dtype == "bool":
        yield f"~{path}"


@st.composite
def results(draw: st.DrawFn, arguments: Arguments) -> str:
    """What a function of ``map`` gives: a component or a nest of several."""
    one = values(arguments)
    match draw(st.sampled_from(["leaf", "leaf", "leaf", "tuple", "dict", "named", "list", "nested", "single"])):
        case "leaf":
            return draw(one)
        case "tuple":
            return f"({draw(one)}, {draw(one)})"
        case "dict":
            return f"{{'b': {draw(one)}, 'a': {draw(one)}}}"
        case "named":
            return f"Point({draw(one)}, {draw(one)})"
        case "list":
            return f"[{draw(one)}, {draw(one)}]"
        case "single":
            return f"({draw(one)},)"
        case _:
            return f"({draw(one)}, ({draw(one)}, {{'k': {draw(one)}}}))"


def truths(arguments: Arguments) -> st.SearchStrategy[str]:
    """A condition."""
    return st.sampled_from([text for leaf in arguments.leaves for text in _truths_of(leaf)] or ["True"])


def _truths_of(leaf: Leaf) -> Iterator[str]:
    path = leaf.path
    yield f"f.size({path}) > 1"
    yield f"f.size({path}) < 3"
    if leaf.is_scalar and leaf.dtype in INTEGERS + FLOATS:
        yield f"{path} % 3 != 1"
        yield f"{path} < 3"
        yield f"{path} > 0"
    if leaf.is_index:
        yield f"f.unless({path} == 1, {path}) < 4"
    if leaf.is_scalar and leaf.dtype == "string":
        yield f"f.length({path}) > 1"
    if leaf.is_scalar and leaf.dtype == "bool":
        yield path


def numbers(arguments: Arguments) -> st.SearchStrategy[str]:
    """A small int64 scalar that is not negative."""
    return st.sampled_from([text for leaf in arguments.leaves for text in _numbers_of(leaf)] or ["np.int64(2)"])


def _numbers_of(leaf: Leaf) -> Iterator[str]:
    yield f"f.cast(f.size({leaf.path}), 'int64') % 4"
    if leaf.is_index:
        yield f"f.cast({leaf.path}, 'int64') % 2"
        yield f"f.cast({leaf.path}, 'int64') % 3"
    if leaf.is_scalar and leaf.dtype == "string":
        yield f"f.cast(f.length({leaf.path}), 'int64')"
