"""``Dataset.from_source``: the items of anything that can be indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.elements import as_element, spread
from tfsvc.data.operator import Context, Operator, OperatorIterator
from tfsvc.data.ops.cursor import Cursor, CursorIterator, Indexed
from tfsvc.data.ownership import settle
from tfsvc.data.stacking import to_columns
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import SplitPlan


@dataclass(frozen=True, eq=False)
class Source(Indexed):
    """``source[0]`` to ``source[count - 1]``; a split is one of them, and none is read but those that are given.

    Attributes:
      element_spec: the spec of an element, or ``None`` to find it from the first and the last item.
    """

    source: Any
    count: int
    element_spec: Any
    name = "from_source"

    @property
    def spec_is_given(self) -> bool:
        return self.element_spec is not None

    @property
    def examples_at_hand(self) -> bool:
        return False

    def cardinality(self) -> int:
        return self.count

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(self.count),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _SourceIterator(self, context)

    def element(self, index: int) -> Any:
        """An item as an element."""
        try:
            return settle([as_element(self.source[index])])
        except StopIteration as error:
            raise InvalidArgumentError(message=f"item {index} of the source raised StopIteration") from error

    def at(self, places: Any) -> Columns:
        return to_columns([self.element(int(place)) for place in places])

    def _make_spec(self) -> Any:
        return Operator._make_spec(self) if self.element_spec is None else self.element_spec

    def _make_examples(self) -> tuple[Any, ...]:
        if not self.count:
            raise InvalidArgumentError(message="an empty source needs an `output_signature`")
        examples = (self.element(0), self.element(self.count - 1))
        return examples if self.element_spec is None else spread(examples, self.element_spec)


class _SourceIterator(CursorIterator):
    def __init__(self, source: Source, context: Context) -> None:
        self._source = source
        super().__init__(Cursor(source.count, context.feed))

    def next(self) -> Any:
        return self._source.element(self._cursor.next())
