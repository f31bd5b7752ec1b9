"""``Dataset.zip``: one element of each of several datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.data.operator import INFINITE, UNKNOWN, Context, Operator, OperatorIterator
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
    """Asks each input once for every tuple, also when one of them fails, so that the others stay aligned."""

    def __init__(self, operator: Zip, context: Context) -> None:
        self._structure = operator.structure
        contexts = context.divided(operator.operators)
        self._inputs = [input.iterator(own) for input, own in zip(operator.operators, contexts, strict=True)]
        self._held: list[Any] = []
        self._spoiled = False

    def next(self) -> Any:
        while True:
            self._fill()
            held, spoiled = self._held, self._spoiled
            self._held, self._spoiled = [], False
            if not spoiled:
                return nest.pack_sequence_as(self._structure, held)

    def _fill(self) -> None:
        while len(self._held) < len(self._inputs):
            try:
                element = self._inputs[len(self._held)].next()
            except (StopIteration, Starved):
                raise
            except Exception:
                self._spoiled = True
                self._held.append(None)
                raise
            self._held.append(element)

    def save(self) -> Any:
        return list(self._held), self._spoiled, [input.save() for input in self._inputs]

    def load(self, state: Any) -> None:
        held, self._spoiled, inputs = state
        self._held = list(held)
        for input, saved in zip(self._inputs, inputs, strict=True):
            input.load(saved)
