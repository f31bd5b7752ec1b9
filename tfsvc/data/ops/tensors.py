"""``Dataset.from_tensors``: one element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tfsvc import nest
from tfsvc.data.elements import read_only
from tfsvc.data.operator import Context, OperatorIterator, SourceOperator
from tfsvc.data.ops.cursor import Cursor
from tfsvc.protocol.splits import SplitPlan


@dataclass(frozen=True, eq=False)
class Tensors(SourceOperator):
    """``element``, once."""

    element: Any
    name = "from_tensors"

    def __post_init__(self) -> None:
        if not nest.flatten(self.element):
            raise ValueError("from_tensors needs at least one component")

    @cached_property
    def given(self) -> Any:
        """The element as it is handed out."""
        return nest.map_structure(read_only, self.element)

    def cardinality(self) -> int:
        return 1

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(1),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _TensorsIterator(self, context)

    def _make_examples(self) -> tuple[Any, ...]:
        return (self.element,)


class _TensorsIterator(OperatorIterator):
    def __init__(self, tensors: Tensors, context: Context) -> None:
        self._element = tensors.given
        self._cursor = Cursor(1, context.feed)

    def next(self) -> Any:
        self._cursor.next()
        return self._element

    def save(self) -> Any:
        return self._cursor.save()

    def load(self, state: Any) -> None:
        self._cursor.load(state)
