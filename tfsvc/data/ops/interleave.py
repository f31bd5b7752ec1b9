"""``Dataset.interleave``: several datasets made from elements, read in turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.flat_map import Expanded, Expansion, Within
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
        self._function = Within.of(interleave.function)
        self._block_length = interleave.block_length
        self._input = interleave.input.identified.iterator(context)
        self._context = context
        self._slots: list[Expanded | None] = [None] * interleave.cycle_length
        self._turn = 0
        self._given = 0
        self._input_ended = False

    def next(self) -> Any:
        while not self._input_ended or any(self._slots):
            slot = self._slots[self._turn] or self._open()
            if slot is None:
                self._advance()
                continue
            try:
                element = slot.iterator.next()
            except StopIteration:
                self._slots[self._turn] = None
                self._advance()
                continue
            self._given += 1
            if self._given == self._block_length:
                self._advance()
            return element
        raise StopIteration

    def _open(self) -> Expanded | None:
        """Fills the slot whose turn it is, unless the input has ended."""
        if self._input_ended:
            return None
        try:
            pair = self._input.next()
        except StopIteration:
            self._input_ended = True
            return None
        slot = Expanded(self._function, pair, int(pair[1]), self._context)
        self._slots[self._turn] = slot
        return slot

    def _advance(self) -> None:
        self._given = 0
        self._turn = (self._turn + 1) % len(self._slots)

    def save(self) -> Any:
        slots = [slot and slot.save() for slot in self._slots]
        return self._input.save(), slots, self._turn, self._given, self._input_ended

    def load(self, state: Any) -> None:
        input, slots, self._turn, self._given, self._input_ended = state
        self._input.load(input)
        self._slots = [slot and Expanded.load(slot, self._function, self._context) for slot in slots]
