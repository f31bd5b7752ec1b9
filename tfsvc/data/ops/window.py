"""``Dataset.window``: neighbouring elements as datasets of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator
from tfsvc.data.ops.held import Held, spec_of_rows
from tfsvc.data.stacking import transposed
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import DatasetSpec


@dataclass(frozen=True, eq=False)
class Window(UnaryOperator):
    """Each component of an element is a dataset of ``size`` values, ``stride`` apart; windows start ``shift`` apart.

    Attributes:
      dataset: makes the public dataset of an operator.
    """

    size: int
    shift: int
    stride: int
    drop_remainder: bool
    dataset: Callable[[Operator], Any]
    name = "window"
    shards_by_file = True

    def __post_init__(self) -> None:
        for what in ("size", "shift", "stride"):
            if getattr(self, what) <= 0:
                raise InvalidArgumentError(message=f"Window {what} must be greater than zero.")

    @property
    def span(self) -> int:
        """Elements from the first to the last of a window."""
        return (self.size - 1) * self.stride + 1

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count < 0:
            return count
        if self.drop_remainder:
            return 0 if count < self.span else (count - self.span) // self.shift + 1
        return -(-count // self.shift)

    def iterator(self, context: Context) -> OperatorIterator:
        return _WindowIterator(self, context)

    def element(self, rows: tuple[Any, ...]) -> Any:
        """The window of ``rows``."""
        columns = transposed(rows)
        specs = nest.flatten(spec_of_rows(self.input, rows))
        leaves = [self.dataset(Held(column, spec)) for column, spec in zip(columns, specs, strict=True)]
        return nest.pack_sequence_as(rows[0], leaves)

    def _make_spec(self) -> Any:
        return nest.map_structure(DatasetSpec, self.input.spec())

    def _make_examples(self) -> tuple[Any, ...]:
        examples = self.input.examples()
        return (self.element(tuple(examples[i % len(examples)] for i in range(self.size))),)


class _WindowIterator(OperatorIterator):
    def __init__(self, window: Window, context: Context) -> None:
        self._window = window
        self._input = window.input.iterator(context)
        self._rows: list[Any] = []
        self._skip = 0
        self._input_ended = False

    def next(self) -> Any:
        window = self._window
        while not self._input_ended and (self._skip or len(self._rows) < window.span):
            try:
                row = self._input.next()
            except StopIteration:
                self._input_ended = True
            else:
                if self._skip:
                    self._skip -= 1
                else:
                    self._rows.append(row)
        rows = self._rows
        if not rows or (window.drop_remainder and len(rows) < window.span):
            raise StopIteration
        self._rows = rows[window.shift :]
        self._skip = max(0, window.shift - len(rows))
        return window.element(tuple(rows[: window.span : window.stride]))

    def save(self) -> Any:
        return list(self._rows), self._skip, self._input_ended, self._input.save()

    def load(self, state: Any) -> None:
        rows, self._skip, self._input_ended, input = state
        self._rows = list(rows)
        self._input.load(input)
