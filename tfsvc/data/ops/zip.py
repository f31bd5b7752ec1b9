"""``Dataset.zip``: one element of each of several datasets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.operator import INFINITE, UNKNOWN, Context, Operator, OperatorIterator, remade
from tfsvc.data.stacking import cut, positions
from tfsvc.protocol.splits import Starved


@dataclass(frozen=True, eq=False)
class Zip(Operator):
    """Elements of the form of ``structure``, whose leaves number the ``operators``; as long as the shortest."""

    operators: tuple[Operator, ...]
    structure: Any
    name = "zip"

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.operators

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Operator:
        return remade(self, operators=inputs)

    def by_file(self, divide: Callable[[Operator], Operator]) -> Operator:
        return remade(self, operators=tuple(operator.by_file(divide) for operator in self.operators))

    def cardinality(self) -> int:
        counts = [operator.cardinality() for operator in self.operators]
        if UNKNOWN in counts:
            return UNKNOWN
        return min((count for count in counts if count != INFINITE), default=INFINITE)

    def iterator(self, context: Context) -> OperatorIterator:
        return _ZipIterator(self, context)

    def _make_spec(self) -> Any:
        return nest.pack_sequence_as(self.structure, [operator.spec() for operator in self.operators])

    def _make_examples(self) -> tuple[Any, ...]:
        columns = [operator.examples() for operator in self.operators]
        ends = (0, -1) if any(len(column) > 1 for column in columns) else (0,)
        return tuple(nest.pack_sequence_as(self.structure, [column[end] for column in columns]) for end in ends)


class _ZipIterator(OperatorIterator):
    """Asks each input once for every tuple, also when some of them fail, so that the others stay aligned.

    The first failure of a tuple is told, as in TensorFlow.

    ``_pieces`` holds what inputs gave as columns and no tuple has taken yet; ``_held`` the tuple being made.
    """

    def __init__(self, operator: Zip, context: Context) -> None:
        self._structure = operator.structure
        self._pack = nest.packer(operator.structure)
        contexts = context.divided(operator.operators)
        self._inputs = [input.iterator(own) for input, own in zip(operator.operators, contexts, strict=True)]
        self._pieces: list[Columns | None] = [None] * len(self._inputs)
        self._held: list[Any] = []
        self._spoiled = False

    def next(self) -> Any:
        while True:
            self._fill()
            held, spoiled = self._held, self._spoiled
            self._held, self._spoiled = [], False
            if not spoiled:
                return self._pack(held)

    def _fill(self) -> None:
        while len(self._held) < len(self._inputs):
            place = len(self._held)
            try:
                element = self._inputs[place].next() if self._pieces[place] is None else self._pop(place)
            except (StopIteration, Starved):
                raise
            except Exception:
                self._held.append(None)
                if not self._spoiled:
                    self._spoiled = True
                    raise
            else:
                self._held.append(element)

    def _pop(self, place: int) -> Any:
        return self._take(place, 1).element(0)

    def _take(self, place: int, count: int) -> Columns:
        """The first ``count`` elements of a piece."""
        piece = self._pieces[place]
        assert piece is not None
        self._pieces[place] = cut(piece, count, piece.count) if count < piece.count else None
        return cut(piece, 0, count)

    def block(self, limit: int) -> Columns | None:
        if self._held:
            return None
        for place, input in enumerate(self._inputs):
            if self._pieces[place] is None:
                try:
                    self._pieces[place] = input.block(limit)
                except (StopIteration, Starved):
                    raise
                except Exception:
                    self._held = [*map(self._pop, range(place)), None]
                    self._spoiled = True
                    raise
                if self._pieces[place] is None:
                    return None
        count = min(limit, *(piece.count for piece in self._pieces if piece is not None))
        return self._joined([self._take(place, count) for place in range(len(self._inputs))], count)

    def _joined(self, parts: list[Columns], count: int) -> Columns:
        leaves = [leaf for part in parts for leaf in part.leaves]
        # Positions are numbered anew, in the order of all leaves.
        element = nest.pack_sequence_as(self._structure, [part.structure for part in parts])
        return Columns(positions(element), tuple(leaves), count)

    def save(self) -> Any:
        return list(self._held), self._spoiled, list(self._pieces), [input.save() for input in self._inputs]

    def load(self, state: Any) -> None:
        held, self._spoiled, pieces, inputs = state
        self._held, self._pieces = list(held), list(pieces)
        for input, saved in zip(self._inputs, inputs, strict=True):
            input.load(saved)
