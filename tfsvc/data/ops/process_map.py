"""``Dataset.map`` of a function that is marked with ``in_processes``: many elements at a time, in other processes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

from tfsvc.columns import Columns
from tfsvc.data.functions import describe, raise_for
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.map import Map
from tfsvc.data.parallelism import calls_at_once, check_calls
from tfsvc.data.processes.pool import AHEAD, LostError, Packed, Share, shared
from tfsvc.data.processes.work import Failure, Piece, Results, behind, count_of, elements_of, weight
from tfsvc.data.stacking import cut
from tfsvc.data.threads import check_process
from tfsvc.errors import RpcError, UnavailableError, from_exception, to_exception
from tfsvc.protocol.splits import Starved

CHUNK_S: Final = 0.01
"""Elements travel as many at a time as take this long, so that the journey costs little."""
CHUNK_BYTES: Final = 1 << 20
LIGHT_S: Final = 0.03
"""The same for elements that are cheap to hold, on their way and in a saved state; a chunk is a frame of a reader's."""
LIGHT_BYTES: Final = 8 << 10
"""As many bytes of them; what a pipeline has under way then fits into a state that is shipped."""
CHUNK_MAX: Final = 1024
LOSSES_MAX: Final = 3
"""Processes that may end while they are at an element before it fails."""


@dataclass(frozen=True, eq=False)
class ProcessMap(Map):
    """``function(element)`` for each element, in ``parallel_calls`` processes.

    Attributes:
      parallel_calls: -1 for one a core.
      deterministic: whether results come in the order of the input; ``None`` leaves it to the dataset's options.
    """

    parallel_calls: int
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        check_calls(self.parallel_calls)

    def iterator(self, context: Context) -> OperatorIterator:
        if context.inline:
            return super().iterator(context)
        function, input = self.started(context)
        packed = self._packed if function is self.unmarked else Packed.of(function)
        in_order = context.in_order(self.deterministic)
        return _ProcessMapIterator(function, packed, input, calls_at_once(self.parallel_calls), in_order)

    @cached_property
    def _packed(self) -> Packed:
        return Packed.of(self.unmarked)


@dataclass(eq=False)
class _Chunk:
    """Elements on their way, or the failure of the input in their place.

    Attributes:
      given: how many of the results have been given.
      losses: how many processes ended while they were at it.
    """

    pieces: list[Piece]
    result: Future[Results]
    given: int = 0
    losses: int = 0
    failure: Exception | None = None


class _ProcessMapIterator(OperatorIterator):
    """The input is read here. A saved state holds the elements on their way, for which the function is called again."""

    def __init__(
        self,
        function: Callable[..., Any],
        packed: Packed,
        input: OperatorIterator,
        processes: int,
        in_order: bool,
    ) -> None:
        self._function = function
        self._packed = packed
        self._input = input
        self._processes = processes
        self._share = Share(processes)
        self._in_order = in_order
        self._chunks: deque[_Chunk] = deque()
        self._input_ended = False
        self._pid = os.getpid()
        self._size = 1
        self._short = False

    def next(self) -> Any:
        chunk, results = self._ready()
        chunk.given += 1
        if chunk.given == len(results):
            self._chunks.remove(chunk)
        value = results.value(chunk.given - 1)
        if isinstance(value, Failure):
            element = next(islice(elements_of(chunk.pieces), chunk.given - 1, None))
            raise_for(self._function, element, value.exception())
        return value

    def block(self, limit: int) -> Columns | None:
        chunk, results = self._ready()
        if not isinstance(results.values, Columns):
            return None
        start, chunk.given = chunk.given, min(chunk.given + limit, len(results))
        if chunk.given == len(results):
            self._chunks.remove(chunk)
        return cut(results.values, start, chunk.given)

    def _ready(self) -> tuple[_Chunk, Results]:
        """The chunk whose turn it is, and its results; raises what came in its place."""
        check_process(self._pid)
        while True:
            self._fill()
            if not self._chunks:
                raise StopIteration
            chunk = self._chunks[0] if self._in_order else self._first_done()
            if chunk.failure is not None:
                self._chunks.remove(chunk)
                raise chunk.failure
            try:
                # Waits; who is interrupted here finds the chunk in its place the next time.
                results = chunk.result.result()
            except LostError as lost:
                self._retry(chunk, lost)
            except Exception as error:
                chunk.result = _known(_all_failed(chunk, error))
            else:
                if not chunk.given:
                    self._learn(chunk, results)
                return chunk, results

    def _first_done(self) -> _Chunk:
        done, _ = wait([chunk.result for chunk in self._chunks], return_when=FIRST_COMPLETED)
        return next(chunk for chunk in self._chunks if chunk.result in done)

    def _fill(self) -> None:
        while not self._input_ended and len(self._chunks) < AHEAD * self._processes:
            pieces: list[Piece] = []
            failure: Exception | None = None
            try:
                self._read(pieces)
            except StopIteration:
                self._input_ended = True
            except Starved:
                if not pieces:
                    if not self._chunks:
                        raise
                    return
            except Exception as error:
                failure = error
            if pieces:
                self._chunks.append(_Chunk(pieces, self._submit(pieces)))
            if failure is not None:
                self._chunks.append(_failed(failure))

    def _read(self, pieces: list[Piece]) -> None:
        """Adds the elements of one chunk, as far as they come."""
        left = self._size
        while left:
            columns = self._input.block(left)
            if columns is None:
                row = self._input.next()
                if not pieces or isinstance(pieces[-1], Columns):
                    pieces.append([])
                rows = pieces[-1]
                assert isinstance(rows, list)
                rows.append(row)
                left -= 1
            else:
                pieces.append(columns)
                left -= columns.count

    def _submit(self, pieces: list[Piece]) -> Future[Results]:
        return shared().submit(self._share, self._packed, pieces, self._short)

    def _learn(self, chunk: _Chunk, results: Results) -> None:
        """How many elements to send at a time from now on."""
        count = len(results)
        heaviest = max(weight(chunk.pieces), weight([results.values]))
        seconds, size = max(results.seconds, 1e-6), max(heaviest, 1)
        wanted = count * max(
            min(CHUNK_S / seconds, CHUNK_BYTES / size),
            min(LIGHT_S / seconds, LIGHT_BYTES / size),
        )
        self._size = max(1, min(int(wanted), 2 * self._size, CHUNK_MAX))
        self._short = results.seconds <= 2 * (LIGHT_S if count > 1 else CHUNK_S)

    def _retry(self, chunk: _Chunk, lost: LostError) -> None:
        """Sends a chunk once more, in single elements once it is under suspicion."""
        chunk.losses += lost.suspect
        if chunk.losses < 2:
            chunk.result = self._submit(chunk.pieces)
        elif sum(map(count_of, chunk.pieces)) > 1:
            place = self._chunks.index(chunk)
            del self._chunks[place]
            for offset, element in enumerate(elements_of(chunk.pieces)):
                single: list[Piece] = [[element]]
                self._chunks.insert(place + offset, _Chunk(single, self._submit(single), losses=1))
        elif chunk.losses < LOSSES_MAX:
            chunk.result = self._submit(chunk.pieces)
        else:
            chunk.result = _known(_all_failed(chunk, UnavailableError(message=self._obituary(chunk, lost))))

    def _obituary(self, chunk: _Chunk, lost: LostError) -> str:
        how = f"was killed by signal {-lost.code}" if lost.code < 0 else f"ended with code {lost.code}"
        return (
            f"the process that ran {describe(self._function)} for this element {how}, {chunk.losses} times in a row; "
            "the system may have run out of memory, or the function ended it"
        )

    def __del__(self) -> None:
        for chunk in self._chunks:
            chunk.result.cancel()

    def save(self) -> Any:
        return [_state(chunk) for chunk in self._chunks], self._input_ended, self._input.save()

    def load(self, state: Any) -> None:
        chunks, self._input_ended, input = state
        for pieces, losses, failure in chunks:
            if failure is not None:
                self._chunks.append(_failed(to_exception(failure)))
            else:
                self._chunks.append(_Chunk(pieces, self._submit(pieces), losses=losses))
        self._input.load(input)


def _state(chunk: _Chunk) -> tuple[list[Piece], int, RpcError | None]:
    # An exception need not pickle.
    failure = None if chunk.failure is None else from_exception(chunk.failure)
    return behind(chunk.pieces, chunk.given), chunk.losses, failure


def _known(results: Results) -> Future[Results]:
    future: Future[Results] = Future()
    future.set_result(results)
    return future


def _failed(failure: Exception) -> _Chunk:
    return _Chunk([], _known(Results([], True, 0)), failure=failure)


def _all_failed(chunk: _Chunk, error: Exception) -> Results:
    failure = Failure.of(error)
    return Results([failure] * sum(map(count_of, chunk.pieces)), True, 0)
