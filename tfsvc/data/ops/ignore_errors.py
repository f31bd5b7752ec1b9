"""``Dataset.ignore_errors``: elements that fail are left out without a word."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from tfsvc.columns import Columns
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.protocol.splits import Starved

_log = logging.getLogger(__name__)
Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class IgnoreErrors(UnaryOperator):
    """The elements that do not fail; with ``log_warning`` each failure is logged."""

    log_warning: bool
    name = "ignore_errors"

    def cardinality(self) -> int:
        return UNKNOWN

    def iterator(self, context: Context) -> OperatorIterator:
        return _IgnoreErrorsIterator(self, context)


class _IgnoreErrorsIterator(OperatorIterator):
    def __init__(self, ignore_errors: IgnoreErrors, context: Context) -> None:
        self._log_warning = ignore_errors.log_warning
        self._input = ignore_errors.input.iterator(context)

    def next(self) -> Any:
        return self._first_of(self._input.next)

    def block(self, limit: int) -> Columns | None:
        return self._first_of(lambda: self._input.block(limit))

    def _first_of(self, ask: Callable[[], Answer]) -> Answer:
        """The first answer that is no failure."""
        while True:
            try:
                return ask()
            except (StopIteration, Starved):
                raise
            except Exception as error:
                if self._log_warning:
                    _log.warning("Error raised with error message %s", error)

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)
