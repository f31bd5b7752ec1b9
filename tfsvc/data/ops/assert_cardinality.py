"""``tf.data.experimental.assert_cardinality``: a length that the user knows, and that is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.data.operator import INFINITE, Context, OperatorIterator, UnaryOperator
from tfsvc.errors import FailedPreconditionError


@dataclass(frozen=True, eq=False)
class AssertCardinality(UnaryOperator):
    """The input's elements, of which there must be ``expected``, or no end of them where it is ``INFINITE``."""

    expected: int
    name = "assert_cardinality"

    def cardinality(self) -> int:
        return self.expected

    def iterator(self, context: Context) -> OperatorIterator:
        # Under splits an iterator sees a part of the elements, so there is nothing to count.
        return self.input.iterator(context) if context.feeds else _AssertCardinalityIterator(self, context)


class _AssertCardinalityIterator(OperatorIterator):
    def __init__(self, operator: AssertCardinality, context: Context) -> None:
        self._expected = operator.expected
        self._input = operator.input.iterator(context)
        self._given = 0

    def next(self) -> Any:
        try:
            element = self._input.next()
        except StopIteration:
            if self._given != self._expected:
                raise self._differs(f"but it has {self._given}") from None
            raise
        if self._given == self._expected != INFINITE:
            raise self._differs("but it has more")
        self._given += 1
        return element

    def _differs(self, what: str) -> FailedPreconditionError:
        elements = "no end of elements" if self._expected == INFINITE else f"{self._expected} elements"
        return FailedPreconditionError(message=f"assert_cardinality says that the dataset has {elements}, {what}.")

    def save(self) -> Any:
        return self._given, self._input.save()

    def load(self, state: Any) -> None:
        self._given, input = state
        self._input.load(input)
