"""``Dataset.rebatch``: batches cut anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import zero_examples
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.data.ops.unbatch import check_rows, known_rows, rows_of, rows_of_examples
from tfsvc.data.stacking import cut, is_regular, join
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError
from tfsvc.specs import TensorSpec


@dataclass(frozen=True, eq=False)
class Rebatch(UnaryOperator):
    """The rows of the input's batches in batches of ``sizes`` in turn; the last may be shorter, or is left out."""

    sizes: tuple[int, ...]
    drop_remainder: bool
    name = "rebatch"
    shards_by_file = True

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) <= 0:
            raise InvalidArgumentError(message="Batch sizes must be greater than zero.")
        if self.spec_is_given:
            self.spec()

    def cardinality(self) -> int:
        return UNKNOWN

    def iterator(self, context: Context) -> OperatorIterator:
        return _RebatchIterator(self, context)

    def _make_spec(self) -> Any:
        rows = self._rows()
        return nest.map_structure(
            lambda spec: TensorSpec(None if spec.shape is None else (rows, *spec.shape[1:]), spec.dtype),
            self.input.spec(),
        )

    def _rows(self) -> int | None:
        """The number of rows of every batch, where it is known."""
        check_rows(self.input.spec())
        size, *others = dict.fromkeys(self.sizes)
        if others:
            return None
        if self.drop_remainder:
            return size
        known = known_rows(self.input.spec())
        return size if known is not None and known % size == 0 else None

    def _make_examples(self) -> tuple[Any, ...]:
        first = self.sizes[0]
        # The last may be of any size where that is not known, and must not seem to be of one.
        others = (size for size in (*self.sizes, 1, 2) if size != first)
        sizes = (first, self._rows() or next(others))
        rows = rows_of_examples(self.input.examples())
        if not rows:
            return zero_examples(self.spec())
        return tuple(_of_size(columns, size) for columns, size in zip((rows[0], rows[-1]), sizes, strict=True))


def _of_size(columns: Columns, size: int) -> Any:
    """An element of ``size`` rows, those of ``columns`` again and again."""
    return _element([cut(columns, 0, min(size, columns.count))] * -(-size // max(1, columns.count)), size)


def _element(pieces: list[Columns], size: int) -> Any:
    """The first ``size`` rows of the pieces as one element."""
    columns = join(pieces)
    if not is_regular(columns):
        raise FailedPreconditionError(message="Cannot rebatch elements whose rows differ in shape or dtype.")
    columns = cut(columns, 0, size)
    return nest.pack_sequence_as(columns.structure, columns.leaves)


class _RebatchIterator(OperatorIterator):
    def __init__(self, rebatch: Rebatch, context: Context) -> None:
        self._sizes = rebatch.sizes
        self._drop_remainder = rebatch.drop_remainder
        self._input = rebatch.input.iterator(context)
        self._pieces: list[Columns] = []
        self._turn = 0

    def next(self) -> Any:
        size = self._sizes[self._turn]
        held = sum(piece.count for piece in self._pieces)
        while held < size:
            try:
                piece = rows_of(self._input.next())
            except StopIteration:
                if not held or self._drop_remainder:
                    raise
                break
            if piece.count:
                self._pieces.append(piece)
                held += piece.count
        self._turn = (self._turn + 1) % len(self._sizes)
        return _element(self._take(size), size)

    def _take(self, size: int) -> list[Columns]:
        """Pieces of ``size`` rows together, or of all there are."""
        taken = []
        while size and self._pieces:
            piece = self._pieces.pop(0)
            if size < piece.count:
                self._pieces.insert(0, cut(piece, size, piece.count))
                piece = cut(piece, 0, size)
            taken.append(piece)
            size -= piece.count
        return taken

    def save(self) -> Any:
        return list(self._pieces), self._turn, self._input.save()

    def load(self, state: Any) -> None:
        pieces, self._turn, input = state
        self._pieces = list(pieces)
        self._input.load(input)
