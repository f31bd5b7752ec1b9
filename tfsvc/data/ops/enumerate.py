"""``Dataset.enumerate``: elements with their number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.protocol.splits import Starved
from tfsvc.specs import TensorSpec

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Enumerate(UnaryOperator):
    """``(number, element)`` with int64 numbers from ``start``; under splits each worker counts on its own."""

    start: int
    name = "enumerate"

    def iterator(self, context: Context) -> OperatorIterator:
        return _EnumerateIterator(self, context)

    def _make_spec(self) -> Any:
        return (TensorSpec((), "int64"), self.input.spec())

    def _make_examples(self) -> tuple[Any, ...]:
        return tuple((np.int64(self.start + i), example) for i, example in enumerate(self.input.examples()))


class _EnumerateIterator(OperatorIterator):
    def __init__(self, enumerate: Enumerate, context: Context) -> None:
        self._number = enumerate.start
        self._input = enumerate.input.iterator(context)

    def next(self) -> Any:
        element = self._counted(self._input.next)
        self._number += 1
        return np.int64(self._number - 1), element

    def block(self, limit: int) -> Columns | None:
        columns = self._counted(lambda: self._input.block(limit))
        if columns is None:
            return None
        start, self._number = self._number, self._number + columns.count
        numbers = np.arange(start, self._number, dtype=np.int64)
        structure = (0, nest.map_structure(lambda position: position + 1, columns.structure))
        return Columns(structure, (numbers, *columns.leaves), columns.count)

    def skip(self, limit: int) -> int:
        skipped = self._counted(lambda: self._input.skip(limit))
        self._number += skipped
        return skipped

    def _counted(self, ask: Callable[[], Answer]) -> Answer:
        """The answer; an element that fails instead keeps its number."""
        try:
            return ask()
        except (StopIteration, Starved):
            raise
        except Exception:
            self._number += 1
            raise

    def save(self) -> Any:
        return self._number, self._input.save()

    def load(self, state: Any) -> None:
        self._number, input = state
        self._input.load(input)
