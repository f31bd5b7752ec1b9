"""``Dataset.ignore_errors``: elements that fail are left out without a word."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.protocol.splits import Starved

_log = logging.getLogger(__name__)


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
        while True:
            try:
                return self._input.next()
            except (StopIteration, Starved):
                raise
            except Exception as error:
                if self._log_warning:
                    _log.warning("Error raised with error message %s", error)

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)
