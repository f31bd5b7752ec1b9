"""``Dataset.prefetch``: a hint that elements may be made ahead."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.errors import InvalidArgumentError


@dataclass(frozen=True, eq=False)
class Prefetch(UnaryOperator):
    """The input's elements. The service makes them ahead by itself, so nothing is buffered here."""

    buffer_size: int
    name = "prefetch"
    shards_by_file = True

    def __post_init__(self) -> None:
        if self.buffer_size < -1:
            raise InvalidArgumentError(message="buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")

    def iterator(self, context: Context) -> OperatorIterator:
        return self.input.iterator(context)
