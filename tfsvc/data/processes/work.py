"""What a process is given, and what it gives back: many elements at a time."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

import cloudpickle
import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.functions import call_for_element
from tfsvc.data.origins import user_traceback
from tfsvc.data.stacking import cut, is_regular, to_columns
from tfsvc.errors import RpcError, from_exception, to_exception

ROW_BYTES_MAX: Final = 16 << 10
"""Rows of more bytes are kept apart, so that holding one does not hold its neighbours."""

Piece = Columns | list[Any]
"""Elements in a row, as columns or one by one."""


def count_of(piece: Piece) -> int:
    return piece.count if isinstance(piece, Columns) else len(piece)


def behind(pieces: Sequence[Piece], start: int) -> list[Piece]:
    """What is left of the pieces without their first ``start`` elements."""
    left: list[Piece] = []
    for piece in pieces:
        count = count_of(piece)
        if start < count:
            rest = cut(piece, start, count) if isinstance(piece, Columns) else piece[start:]
            left.append(rest if start else piece)
        start = max(0, start - count)
    return left


def elements_of(pieces: Sequence[Piece]) -> Iterator[Any]:
    for piece in pieces:
        yield from piece.elements() if isinstance(piece, Columns) else piece


def weight(pieces: Sequence[Piece]) -> int:
    """Roughly their bytes."""
    return sum(
        getattr(leaf, "nbytes", 64) if isinstance(piece, Columns) else _weight_of(leaf)
        for piece in pieces
        for leaf in (piece.leaves if isinstance(piece, Columns) else piece)
    )


def _weight_of(element: Any) -> int:
    return sum(len(leaf) if isinstance(leaf, bytes) else getattr(leaf, "nbytes", 64) for leaf in nest.flatten(element))


@dataclass(frozen=True)
class Failure:
    """An exception of the function, on its way to the process that asked.

    Attributes:
      error: itself as a pickle, or as a value where it does not pickle.
      text: where in the function it was raised.
    """

    error: bytes | RpcError
    text: str

    @staticmethod
    def of(error: BaseException) -> Failure:
        text = user_traceback(error) or "".join(traceback.format_tb(error.__traceback__))
        try:
            body = cloudpickle.dumps(error)
            cloudpickle.loads(body)
        except Exception:
            return Failure(from_exception(error), text)
        return Failure(body, text)

    def exception(self) -> BaseException:
        """The exception again, which says where it comes from in a note."""
        if isinstance(self.error, RpcError):
            error: BaseException = to_exception(self.error)
        else:
            error = cloudpickle.loads(self.error)
        if self.text:
            error.add_note(f"In a process of its own:\n{self.text}".rstrip())
        return error


@dataclass(frozen=True)
class Results:
    """What a function gave for the elements of some pieces.

    Attributes:
      values: in order; for an element that failed its :class:`Failure`, and then no columns.
      seconds: how long it took.
    """

    values: Piece
    failed: bool
    seconds: float

    def __len__(self) -> int:
        return count_of(self.values)

    def value(self, index: int) -> Any:
        """The result for one element, or its :class:`Failure`."""
        if isinstance(self.values, Columns):
            return nest.map_structure(_apart, self.values.element(index))
        return self.values[index]


def _apart(leaf: Any) -> Any:
    """A row that does not keep all others."""
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def run(function: Any, pieces: Sequence[Piece]) -> Results:
    """Calls ``function`` for each element."""
    started = perf_counter()
    values: list[Any] = []
    failed = False
    for element in elements_of(pieces):
        try:
            values.append(call_for_element(function, element))
        except BaseException as error:
            failed = True
            values.append(Failure.of(error))
    seconds = perf_counter() - started
    return Results(values if failed else _together(values), failed, seconds)


def _together(values: list[Any]) -> Piece:
    """Small values of one form as columns."""
    if _weight_of(values[0]) > ROW_BYTES_MAX:
        return values
    try:
        columns = to_columns(values)
    except Exception:
        return values
    return columns if is_regular(columns) else values
