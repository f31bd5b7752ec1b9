"""Where in a dataset an object hangs that cannot leave this process."""

from __future__ import annotations

import functools
import io
import socket
import subprocess
import threading
import types
from collections import deque
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from tfsvc.data.functions import describe
from tfsvc.data.iterators import DatasetIterator
from tfsvc.data.operator import Operator

_INSIDE = "create it inside the function, so that each worker has its own"

_REFUSED: tuple[tuple[Any, str], ...] = (
    (
        (
            type(threading.Lock()),
            type(threading.RLock()),
            threading.Condition,
            threading.Event,
            threading.Semaphore,
            threading.Barrier,
        ),
        "create it inside the function or as a global of an importable module; workers share no memory",
    ),
    (threading.local, _INSIDE),
    (threading.Thread, "start it inside the function; a running thread cannot move to a worker"),
    (socket.socket, "connect inside the function, from an address that workers can reach"),
    (subprocess.Popen, "start it inside the function; a process cannot move to a worker"),
    (DatasetIterator, "hand over the dataset, and iterate it inside the function"),
    (types.GeneratorType, "pass the function that makes the generator, and call it inside"),
    ((types.CoroutineType, types.AsyncGeneratorType), "pass the function that makes it, and run it inside"),
)


def refusal(value: Any) -> str | None:
    """Why an object must not be shipped, as advice for its owner; ``None`` where it may."""
    if isinstance(value, io.IOBase):
        memory = isinstance(value, (io.BytesIO, io.StringIO))
        return None if memory else "pass its path and open it inside the function"
    return next((advice for kinds, advice in _REFUSED if isinstance(value, kinds)), None)


def kind_of(value: Any) -> str:
    """The public name of an object's type, such as ``threading.Lock``."""
    kind = type(value)
    module = {"_thread": "threading", "_io": "io"}.get(kind.__module__, kind.__module__)
    name = {"lock": "Lock"}.get(kind.__qualname__, kind.__qualname__)
    return name if module == "builtins" else f"{module}.{name}"


def path_to(operator: Operator, culprit: Any) -> str:
    """The shortest path from the graph to ``culprit``, its steps joined by arrows; empty if none is found.

    Args:
      operator: the end of the graph.
      culprit: the very object that is looked for.
    """
    queue: deque[tuple[Any, tuple[str, ...]]] = deque([(operator, ())])
    # Objects that are made on the way must outlive the search, or their ids would be used again.
    seen = {id(operator): operator}
    while queue:
        value, path = queue.popleft()
        if value is culprit:
            return " -> ".join(path)
        for step, child in _parts(value):
            if id(child) not in seen:
                seen[id(child)] = child
                queue.append((child, (*path, step) if step else path))
    return ""


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What hangs directly on ``value``, each with the words that lead to it; empty words for the graph itself."""
    match value:
        case Operator():
            yield from _parts_of_operator(value)
        case types.FunctionType():
            yield from _parts_of_function(value)
        case types.MethodType():
            yield "the function of a method", value.__func__
            yield "the object of a method", value.__self__
        case functools.partial():
            yield "the function of a partial", value.func
            for index, item in enumerate(value.args):
                yield f"argument {index} of a partial", item
            for name, item in value.keywords.items():
                yield f"argument {name!r} of a partial", item
        case dict():
            for key, item in value.items():
                yield f"key {key!r}", item
        case list() | tuple() | set() | frozenset() | deque():
            for index, item in enumerate(value):
                yield f"item {index}", item
        case types.ModuleType() | str() | bytes() | int() | float() | None:
            return
        case _:
            yield from _parts_of_object(value)


def _parts_of_operator(operator: Operator) -> Iterator[tuple[str, Any]]:
    for field in fields(operator):
        value = getattr(operator, field.name)
        if isinstance(value, Operator):
            yield "", value
        elif callable(value):
            yield f"{operator.name} {describe(value)}", value
        else:
            yield f"{field.name} of {operator.name}", value


def _parts_of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        # A variable that is not set yet has an empty cell.
        yield from ((f"closure variable {name!r}", value) for value in _content(cell))
    for name, value in _globals_of(function.__code__, function.__globals__):
        yield f"global variable {name!r}", value
    for index, value in enumerate(function.__defaults__ or ()):
        yield f"default argument {index}", value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield f"default of argument {name!r}", value


def _content(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _globals_of(code: types.CodeType, variables: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in code.co_names:
        if name in variables:
            yield name, variables[name]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant, variables)


def _parts_of_object(value: Any) -> Iterator[tuple[str, Any]]:
    attributes = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                attributes[name] = getattr(value, name)
    for name, item in attributes.items():
        yield f"{'class attribute' if isinstance(value, type) else 'attribute'} {name!r} of {_label(value)}", item
    if getattr(type(value), "__module__", None) == "__main__":
        yield f"class of {_label(value)}", type(value)


def _label(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else type(value).__name__
