"""``Dataset.interleave`` with ``num_parallel_calls``: the open datasets are read on threads."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.flat_map import Expanded, Expands
from tfsvc.data.ops.interleave import Interleave
from tfsvc.data.parallelism import AUTOTUNE, calls_at_once, check_calls
from tfsvc.data.threads import Crew
from tfsvc.errors import from_exception, to_exception
from tfsvc.protocol.splits import Starved

READ_S: Final = 0.001
"""A thread reads this long from one dataset, and one block at the least, so that handing over costs little."""


@dataclass(frozen=True, eq=False)
class ParallelInterleave(Interleave):
    """The same elements in the same order as :class:`Interleave`.

    Attributes:
      parallel_calls: how many datasets are read at a time; -1 for one a core.
      deterministic: whether the order is kept; ``None`` leaves it to the dataset's options.
    """

    parallel_calls: int = AUTOTUNE
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_calls(self.parallel_calls)

    def iterator(self, context: Context) -> OperatorIterator:
        if context.inline:
            return super().iterator(context)
        return _ParallelInterleaveIterator(self, context)


@dataclass(frozen=True, eq=False)
class _Failure:
    """An exception in the place of an element; ``closed`` if nothing comes behind it in its dataset."""

    error: BaseException
    closed: bool = False


@dataclass(eq=False)
class _Reader:
    """One dataset: what was read of it and not given yet, and the read that is under way.

    Only a read touches ``expanded`` and ``ended``; there is one at a time.
    """

    pair: Any
    expanded: Expanded | None = None
    ended: bool = False
    ready: deque[Any] = field(default_factory=deque)
    read: Future[None] | None = None
    goal: int = 1

    def run(self, operator: Expands, context: Context, block: int) -> None:
        """Reads for a while."""
        until = monotonic() + READ_S
        count = 0
        try:
            if self.expanded is None:
                self.expanded = Expanded(operator, self.pair, int(self.pair[1]), context)
        except BaseException as error:
            self.ended = True
            self.ready.append(_Failure(error, closed=True))
            return
        while count < block or monotonic() < until:
            try:
                made = self.expanded.iterator.next()
            except StopIteration:
                self.ended = True
                return
            except BaseException as error:
                made = _Failure(error)
            self.ready.append(made)
            count += 1
        self.goal = count

    def save(self) -> Any:
        """Waits for the read that is under way."""
        if self.read is not None:
            wait([self.read])
        ready = [
            (None, from_exception(made.error), made.closed) if isinstance(made, _Failure) else (made, None, False)
            for made in self.ready
        ]
        return self.pair, self.ended, ready, self.expanded and self.expanded.save()

    @staticmethod
    def load(state: Any, operator: Expands, context: Context) -> _Reader:
        pair, ended, ready, expanded = state
        made = (_Failure(to_exception(error), closed) if error else value for value, error, closed in ready)
        return _Reader(pair, expanded and Expanded.load(expanded, operator, context), ended, deque(made))


class _ParallelInterleaveIterator(OperatorIterator):
    """``_slots`` take turns; ``_next`` are datasets that are opened before a slot is free for them."""

    def __init__(self, interleave: ParallelInterleave, context: Context) -> None:
        self._operator = interleave.within
        self._block_length = interleave.block_length
        self._input = interleave.input.identified.iterator(context)
        self._context = context
        self._in_order = context.in_order(interleave.deterministic)
        calls = calls_at_once(interleave.parallel_calls)
        self._crew = Crew("tfsvc-interleave", calls)
        self._ahead = min(calls, interleave.cycle_length)
        self._slots: list[_Reader | None] = [None] * interleave.cycle_length
        self._next: deque[_Reader] = deque()
        self._turn = 0
        self._given = 0
        self._input_ended = False

    def next(self) -> Any:
        self._crew.check()
        while True:
            self._look_ahead()
            if not self._in_order:
                self._choose()
            reader = self._slots[self._turn]
            if reader is None:
                if not self._open(self._turn):
                    if not any(self._slots):
                        raise StopIteration
                    self._advance()
                continue
            if not self._wait(reader):
                self._slots[self._turn] = None
                self._advance()
                continue
            made = reader.ready.popleft()
            self._keep_reading(reader)
            if isinstance(made, _Failure):
                if made.closed:
                    self._slots[self._turn] = None
                raise made.error
            self._given += 1
            if self._given == self._block_length:
                self._advance()
            return made

    def _look_ahead(self) -> None:
        """Opens datasets before there is a slot for them."""
        with suppress(Starved):
            while not self._input_ended and len(self._next) < self._ahead:
                self._pull()

    def _pull(self) -> None:
        """Opens the next dataset; a failure of the input waits for its turn like one."""
        try:
            pair = self._input.next()
        except StopIteration:
            self._input_ended = True
        except Starved:
            raise
        except Exception as error:
            self._next.append(_Reader(None, ended=True, ready=deque([_Failure(error, closed=True)])))
        else:
            reader = _Reader(pair)
            self._next.append(reader)
            self._keep_reading(reader)

    def _open(self, place: int) -> bool:
        """Gives a slot the next dataset; false where there is none."""
        if not self._next and not self._input_ended:
            self._pull()
        if self._next:
            self._slots[place] = self._next.popleft()
        return self._slots[place] is not None

    def _wait(self, reader: _Reader) -> bool:
        """Waits for an element or a failure; false where the dataset has ended."""
        while not reader.ready:
            if reader.read is not None and not reader.read.done():
                # Who is interrupted here finds all in its place the next time.
                wait([reader.read])
            elif reader.ended:
                return False
            else:
                self._keep_reading(reader)
        return True

    def _keep_reading(self, reader: _Reader) -> None:
        idle = reader.read is None or reader.read.done()
        if idle and not reader.ended and len(reader.ready) < reader.goal:
            reader.read = self._crew.submit(reader.run, self._operator, self._context, self._block_length)

    def _choose(self) -> None:
        """Turns to a slot that has an element by now, for a reader that wishes no order."""
        while True:
            for place, slot in enumerate(self._slots):
                if slot is None:
                    self._open(place)
            for step in range(len(self._slots)):
                place = (self._turn + step) % len(self._slots)
                slot = self._slots[place]
                if slot is not None and (slot.ready or slot.read is None or slot.read.done()):
                    self._given = self._given if not step else 0
                    self._turn = place
                    return
            reads = [slot.read for slot in self._slots if slot is not None and slot.read is not None]
            if not reads:
                return
            wait(reads, return_when=FIRST_COMPLETED)

    def _advance(self) -> None:
        self._given = 0
        self._turn = (self._turn + 1) % len(self._slots)

    def save(self) -> Any:
        slots = [slot and slot.save() for slot in self._slots]
        coming = [reader.save() for reader in self._next]
        return self._input.save(), slots, coming, self._turn, self._given, self._input_ended

    def load(self, state: Any) -> None:
        input, slots, coming, self._turn, self._given, self._input_ended = state
        self._input.load(input)
        self._slots = [slot and _Reader.load(slot, self._operator, self._context) for slot in slots]
        self._next.extend(_Reader.load(reader, self._operator, self._context) for reader in coming)
