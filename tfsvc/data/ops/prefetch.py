"""``Dataset.prefetch``: elements that are made ahead of their reader."""

from __future__ import annotations

import os
import threading
from collections import deque
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter
from typing import Any, Final

from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.data.parallelism import AUTOTUNE
from tfsvc.data.threads import check_process
from tfsvc.errors import InvalidArgumentError, RpcError, from_exception, to_exception

SLOW_S: Final = 50e-6
SLOW_MAX: Final = 3
"""A thread is begun behind so many slow elements; to hand over others would take longer than to make them."""
FIRST: Final = 2
LARGEST: Final = 64
"""Elements made ahead with ``AUTOTUNE``: at first, and at the most."""


@dataclass(frozen=True, eq=False)
class Prefetch(UnaryOperator):
    """The input's elements, up to ``buffer_size`` of them made ahead on a thread; -1 leaves their number open.

    A worker of the service makes all elements ahead, and its reader fetches them ahead, so there is no further buffer.
    """

    buffer_size: int
    name = "prefetch"
    shards_by_file = True

    def __post_init__(self) -> None:
        if self.buffer_size < AUTOTUNE:
            raise InvalidArgumentError(message="buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")

    def iterator(self, context: Context) -> OperatorIterator:
        input = self.input.iterator(context)
        # Splits are leased to a pipeline between its elements, not while a thread reads them.
        if not context.ahead or context.feeds or not self.buffer_size or self.input.fetches_ahead:
            return input
        return _PrefetchIterator(input, self.buffer_size)


@dataclass(frozen=True, eq=False)
class _Failure:
    error: BaseException


_END: Final = _Failure(StopIteration())
"""Comes last."""


class _Reading:
    """What the thread and the reader share; the thread refers to nothing else, so that a dropped iterator ends it."""

    def __init__(self, input: OperatorIterator) -> None:
        self.input = input
        self.turn = threading.Lock()
        """Held while the input is read."""
        self.elements: SimpleQueue[Any] = SimpleQueue()
        self.room: SimpleQueue[None] = SimpleQueue()
        """An item for each element that may be made."""
        self.ended = False

    def run(self) -> None:
        while not self.ended:
            self.room.get()
            with self.turn:
                if self.ended:
                    return
                try:
                    made = self.input.next()
                except StopIteration:
                    made, self.ended = _END, True
                except BaseException as error:
                    made = _Failure(error)
                self.elements.put(made)
            # The last reference is the reader's.
            del made


class _PrefetchIterator(OperatorIterator):
    """Reads through until elements turn out to be slow, and blocks until then: who takes them waits for no element."""

    def __init__(self, input: OperatorIterator, size: int) -> None:
        self._reading = _Reading(input)
        self._limit = FIRST if size == AUTOTUNE else size
        self._grows = size == AUTOTUNE
        self._was_full = False
        self._started = False
        self._slow = 0
        self._pid = os.getpid()
        self._held: deque[Any] = deque()
        self._ended = False

    def next(self) -> Any:
        if self._ended:
            raise StopIteration
        check_process(self._pid)
        if not self._started:
            if self._slow < SLOW_MAX and not self._held:
                return self._make()
            self._start()
        if self._grows:
            self._tune()
        made = self._held.popleft() if self._held else self._reading.elements.get()
        if not isinstance(made, _Failure):
            self._reading.room.put(None)
            return made
        if made is _END:
            self._ended = True
            raise StopIteration
        self._reading.room.put(None)
        raise made.error

    def block(self, limit: int) -> Columns | None:
        if self._started or self._held or self._slow >= SLOW_MAX:
            return None
        began = perf_counter()
        block = self._reading.input.block(limit)
        if block is not None:
            self._judge((perf_counter() - began) / block.count)
        return block

    def _make(self) -> Any:
        """An element on the spot."""
        began = perf_counter()
        try:
            return self._reading.input.next()
        finally:
            self._judge(perf_counter() - began)

    def _judge(self, seconds: float) -> None:
        """Takes account of how long an element took."""
        self._slow = self._slow + 1 if seconds > SLOW_S else max(0, self._slow - 1)

    def _start(self) -> None:
        self._started = True
        for _ in range(self._limit - len(self._held)):
            self._reading.room.put(None)
        threading.Thread(target=self._reading.run, name="tfsvc-prefetch", daemon=True).start()

    def _tune(self) -> None:
        """Doubles the buffer when it has been full and yet runs dry, as TensorFlow does."""
        ready = len(self._held) + self._reading.elements.qsize()
        if ready >= self._limit:
            self._was_full = True
        elif not ready and self._was_full and self._limit < LARGEST:
            for _ in range(self._limit):
                self._reading.room.put(None)
            self._limit *= 2
            self._was_full = False

    def __del__(self) -> None:
        self._reading.ended = True
        self._reading.room.put(None)

    def save(self) -> Any:
        with self._reading.turn:
            while not self._reading.elements.empty():
                self._held.append(self._reading.elements.get())
            held = [_state(made) for made in self._held]
            return held, self._ended, self._reading.input.save()

    def load(self, state: Any) -> None:
        held, self._ended, input = state
        self._held.extend(map(_made, held))
        self._reading.input.load(input)
        if self._held and self._held[-1] is _END:
            self._reading.ended = True


def _state(made: Any) -> tuple[Any, bool | RpcError]:
    """An element; or an exception as a value, since it need not pickle; or the end."""
    if made is _END:
        return None, True
    return (None, from_exception(made.error)) if isinstance(made, _Failure) else (made, False)


def _made(state: tuple[Any, bool | RpcError]) -> Any:
    value, special = state
    if isinstance(special, RpcError):
        return _Failure(to_exception(special))
    return _END if special else value
