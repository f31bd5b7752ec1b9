"""``Dataset.interleave``: several datasets made from elements, read in turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.flat_map import Expanded, Expansion
from tfsvc.data.stacking import columns_of, count_alike
from tfsvc.errors import InvalidArgumentError


@dataclass(frozen=True, eq=False)
class Interleave(Expansion):
    """``block_length`` elements of each of ``cycle_length`` open datasets in turn."""

    cycle_length: int
    block_length: int
    name = "interleave"
    expands = True

    def __post_init__(self) -> None:
        if self.cycle_length <= 0:
            raise InvalidArgumentError(message="cycle_length must be greater than zero.")
        if self.block_length <= 0:
            raise InvalidArgumentError(message="block_length must be greater than zero.")

    def iterator(self, context: Context) -> OperatorIterator:
        return _InterleaveIterator(self, context)


class _InterleaveIterator(OperatorIterator):
    def __init__(self, interleave: Interleave, context: Context) -> None:
        self._operator = interleave
        self._block_length = interleave.block_length
        self._input = interleave.input.iterator(context)
        self._context = context
        self._slots: list[Expanded | None] = [None] * interleave.cycle_length
        self._turn = 0
        self._given = 0
        self._made = 0
        self._input_ended = False
        self._held: list[Any] = []

    def next(self) -> Any:
        return self._held.pop(0) if self._held else self._read(1)

    def _read(self, limit: int) -> Any:
        """The next element; of the dataset that it comes from up to ``limit`` may be read."""
        while not self._input_ended or any(self._slots):
            slot = self._slots[self._turn] or self._open()
            if slot is None:
                self._advance()
                continue
            try:
                element = slot.next(limit)
            except StopIteration:
                self._slots[self._turn] = None
                self._advance()
                continue
            self._count()
            return element
        raise StopIteration

    def block(self, limit: int) -> Columns | None:
        """What is at hand behind the next element, for as long as no dataset must be asked for more."""
        if self._held:
            return None
        rows = [self._read(max(1, limit // len(self._slots)))]
        while len(rows) < limit and (slot := self._slots[self._turn]) is not None and slot.has_rows:
            rows.append(slot.next())
            self._count()
        count = count_alike(rows)
        self._held = rows[count:]
        return columns_of(rows[:count])

    def _count(self) -> None:
        self._given += 1
        if self._given == self._block_length:
            self._advance()

    def _open(self) -> Expanded | None:
        """Fills the slot whose turn it is, unless the input has ended."""
        if self._input_ended:
            return None
        try:
            element = self._input.next()
        except StopIteration:
            self._input_ended = True
            return None
        self._made += 1
        slot = Expanded(self._operator, element, self._made, self._context)
        self._slots[self._turn] = slot
        return slot

    def _advance(self) -> None:
        self._given = 0
        self._turn = (self._turn + 1) % len(self._slots)

    def save(self) -> Any:
        slots = [slot and slot.save() for slot in self._slots]
        turn = self._turn, self._given, self._made, self._input_ended
        return self._input.save(), slots, turn, list(self._held)

    def load(self, state: Any) -> None:
        input, slots, turn, held = state
        self._turn, self._given, self._made, self._input_ended = turn
        self._held = list(held)
        self._input.load(input)
        self._slots = [slot and Expanded.load(slot, self._operator, self._context) for slot in slots]
