"""Elements at hand as a dataset: what ``window`` and ``group_by_window`` give to functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.elements import relax, spec_of_element, spread, zero_element
from tfsvc.data.operator import Context, Operator, OperatorIterator, SourceOperator
from tfsvc.data.ops.cursor import Cursor, CursorIterator
from tfsvc.data.stacking import to_columns
from tfsvc.protocol.splits import SplitPlan


@dataclass(frozen=True, eq=False)
class Held(SourceOperator):
    """``rows`` in order; ``row_spec`` is the spec of the rows of all such datasets, not only of these."""

    rows: tuple[Any, ...]
    row_spec: Any
    name = "window"

    def cardinality(self) -> int:
        return len(self.rows)

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(len(self.rows)),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _HeldIterator(self, context)

    def _make_spec(self) -> Any:
        return self.row_spec

    def _make_examples(self) -> tuple[Any, ...]:
        rows = self.rows or (zero_element(self.row_spec),)
        return spread((rows[0], rows[-1]), self.row_spec)


class _HeldIterator(CursorIterator):
    def __init__(self, held: Held, context: Context) -> None:
        self._rows = held.rows
        super().__init__(Cursor(len(held.rows), context.feed))

    def next(self) -> Any:
        return self._rows[self._cursor.next()]

    def block(self, limit: int) -> Columns | None:
        lo, hi = self._cursor.span(limit)
        return to_columns(self._rows[lo:hi])


def spec_of_rows(operator: Operator, rows: tuple[Any, ...]) -> Any:
    """The spec of all elements of ``operator``, or that of ``rows`` where examples do not get through its functions."""
    try:
        return operator.spec()
    except Exception:
        return relax(map(spec_of_element, rows))
