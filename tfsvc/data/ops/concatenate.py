"""``Dataset.concatenate``: one dataset after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.elements import ends, relax
from tfsvc.data.operator import INFINITE, UNKNOWN, Context, Operator, OperatorIterator, remade


@dataclass(frozen=True, eq=False)
class Concatenate(Operator):
    """The elements of ``first``, then those of ``second``."""

    first: Operator
    second: Operator
    name = "concatenate"

    def __post_init__(self) -> None:
        if self.spec_is_given:
            self.spec()

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.first, self.second)

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Operator:
        first, second = inputs
        return remade(self, first=first, second=second)

    def by_file(self, divide: Callable[[Operator], Operator]) -> Operator:
        return remade(self, first=self.first.by_file(divide), second=self.second.by_file(divide))

    def cardinality(self) -> int:
        counts = (self.first.cardinality(), self.second.cardinality())
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)

    def iterator(self, context: Context) -> OperatorIterator:
        return _ConcatenateIterator(self, context)

    def _make_spec(self) -> Any:
        return relax([self.first.spec(), self.second.spec()])

    def _make_examples(self) -> tuple[Any, ...]:
        return ends(operator.examples() for operator in self.inputs)


class _ConcatenateIterator(OperatorIterator):
    def __init__(self, concatenate: Concatenate, context: Context) -> None:
        first, second = context.divided(concatenate.inputs)
        self._inputs = (concatenate.first.iterator(first), concatenate.second.iterator(second))
        self._place = 0

    def next(self) -> Any:
        if self._place == 0:
            try:
                return self._inputs[0].next()
            except StopIteration:
                self._place = 1
        return self._inputs[1].next()

    def block(self, limit: int) -> Columns | None:
        if self._place == 0:
            try:
                return self._inputs[0].block(limit)
            except StopIteration:
                self._place = 1
        return self._inputs[1].block(limit)

    def skip(self, limit: int) -> int:
        if self._place == 0:
            try:
                return self._inputs[0].skip(limit)
            except StopIteration:
                self._place = 1
        return self._inputs[1].skip(limit)

    def save(self) -> Any:
        return self._place, [input.save() for input in self._inputs]

    def load(self, state: Any) -> None:
        self._place, inputs = state
        for input, saved in zip(self._inputs, inputs, strict=True):
            input.load(saved)
