"""What an error says beside its own text: the operator that it came out of, where that was made, and for which element.

Nothing of it costs anything while all goes well: an operator notes the line that made it once, and who raised an error
is read from the error's traceback.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final

import numpy as np

from tfsvc.data.functions import call, call_for_each, describe, raise_for
from tfsvc.data.operator import Operator, OperatorIterator

VALUE_MAX: Final = 200
"""Characters of an element that a message shows."""

_OURS: Final = ("tfsvc.", "tfsvc_transports.", "tfsvc_sim.")
_THEIRS: Final = ("tfsvc.examples.",)
_BUILDING: Final = tuple(str(Path(__file__).parents[1] / folder) + os.sep for folder in ("data", "service"))
"""The files that build datasets for a program that calls; others of the library do so for themselves."""
_CALLS: Final = (call.__code__, raise_for.__code__)
_BETWEEN: Final = ("concurrent.futures.",)
"""What stands between an operator and its input without being either's."""


def note_origin(operator: Operator) -> None:
    """Marks operators that were just made with the line of the program that called for them."""
    if not operator.origin:
        mark(operator, _calling_line())


def mark(operator: Operator, origin: str) -> None:
    """Marks an operator, and those below that have no mark yet, with a line."""
    object.__setattr__(operator, "origin", origin)
    for below in operator.inputs:
        if not below.origin:
            mark(below, origin)


def origins(operator: Operator) -> tuple[str, ...]:
    """The origins of all operators of a graph, to be shipped beside it: equal graphs stay equal."""
    return tuple(below.origin for below in _graph(operator))


def restore_origins(operator: Operator, told: tuple[str, ...]) -> None:
    """Marks the operators of an equal graph in another process with what :func:`origins` gave."""
    for below, origin in zip(_graph(operator), told, strict=False):
        object.__setattr__(below, "origin", origin)


def _graph(operator: Operator) -> Iterator[Operator]:
    """Each operator of a graph once, in an order that depends on the graph alone."""
    seen: dict[int, None] = {}
    waiting = [operator]
    while waiting:
        found = waiting.pop()
        if id(found) not in seen:
            seen[id(found)] = None
            waiting.extend(part for field in fields(found) for part in _operators(getattr(found, field.name)))
            yield found


def _operators(value: Any) -> Iterator[Operator]:
    if isinstance(value, Operator):
        yield value
    elif isinstance(value, tuple):
        yield from (item for item in value if isinstance(item, Operator))


def _calling_line() -> str:
    """The line outside of this library that called it; empty where the library calls itself."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_BUILDING):
        if frame.f_code is call.__code__:
            return ""
        frame = frame.f_back
    return "" if frame is None or _is_ours(frame) else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_ours(frame: FrameType) -> bool:
    return _module(frame).startswith(_OURS) and not _module(frame).startswith(_THEIRS)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def explain(error: BaseException, element: str) -> None:
    """Adds a note to an error that came out of a pipeline, once.

    Args:
      error: the error, with its traceback.
      element: which element was being made, in words.
    """
    account = _account(error, element)
    if account and account not in getattr(error, "__notes__", ()):
        error.add_note(account)


def _account(error: BaseException, element: str) -> str:
    found: OperatorIterator | None = None
    around = ""  # the operator of the program in whose function ``found`` was made
    called: tuple[Any, Any] | None = None
    for frame in _frames(error.__traceback__):
        if not _is_ours(frame):
            if found is None or _module(frame).startswith(_BETWEEN):
                continue
            # What lies deeper is the business of the function or library that was called.
            break
        myself = frame.f_locals.get("self")
        if isinstance(myself, OperatorIterator) and myself.operator is not None:
            if myself.operator.origin:
                around = f"{myself.operator.name}() at {myself.operator.origin}"
            found, called = myself, None
        elif found is not None and frame.f_code in _CALLS:
            called = frame.f_locals["function"], frame.f_locals["element"]
        elif found is not None and frame.f_code is call_for_each.__code__:
            failed = frame.f_locals["columns"].element(len(frame.f_locals["results"]))
            called = frame.f_locals["function"], failed
    if found is None or found.operator is None:
        return ""
    operator = found.operator
    place = f" at {operator.origin}" if operator.origin else f" of {around}" if around else ""
    if called is None:
        return f"In {operator.name}(){place}, for {element}."
    function, argument = called
    return f"In {operator.name}(){place}: {describe(function)} was called with {_shown(argument)}, for {element}."


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _shown(element: Any) -> str:
    try:
        with np.printoptions(threshold=8, edgeitems=2):
            text = repr(element)
    except Exception as error:
        return f"an element whose text cannot be had ({type(error).__name__})"
    text = " ".join(text.split())
    return text if len(text) <= VALUE_MAX else f"{text[: VALUE_MAX - 3]}..."


def user_traceback(error: BaseException) -> str:
    """The error's traceback without the frames of this library, and those of the errors that led to it."""
    frames = traceback.walk_tb(error.__traceback__)
    shown = [(frame, line) for frame, line in frames if not _is_ours(frame)]
    text = "".join(traceback.StackSummary.extract(iter(shown)).format())
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    below = "" if cause is None else user_traceback(cause)
    if cause is None or not (below or error.__cause__):
        return text
    return f"{text}Caused by {''.join(traceback.format_exception_only(cause))}{below}"
