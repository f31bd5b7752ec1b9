"""A pipeline that writes: one stream of a distributed snapshot, a slice at a time."""

from __future__ import annotations

from typing import Any

from tfsvc import nest
from tfsvc.data import states
from tfsvc.data.operator import Operator
from tfsvc.execution.pipeline import Clock, context_of, describe_failure, weight
from tfsvc.protocol.contract import Produce
from tfsvc.protocol.production import Broken, Chunk, Ended, Hungry, Production, Ready, Recipe, Sink
from tfsvc.protocol.splits import ORIGIN, Checkpoint, SplitFeed, Starved
from tfsvc.storage.chunks import ChunkWriter
from tfsvc.storage.distributed import checkpoint, uncommitted_chunk
from tfsvc.storage.folders import folder_at

BLOCK = 1024
"""Elements that are asked for at once."""


class WritingPipeline:
    """Runs ``program`` as ``recipe`` says, into ``sink``.

    An element that cannot be made is the end of it: a snapshot has all of them or is none.

    Args:
      clock: measures how long a slice takes; ``None`` where time is simulated.
      slice_ns: a run ends after this long.
    """

    def __init__(self, program: Operator, recipe: Recipe, sink: Sink, clock: Clock | None, slice_ns: int) -> None:
        starts = recipe.checkpoint.positions or (ORIGIN,) * recipe.providers
        self._feeds = tuple(SplitFeed(provider, at) for provider, at in enumerate(starts))
        self._iterator = program.iterator(context_of(recipe, self._feeds, inline=clock is None))
        self._folder = folder_at(sink.path)
        if sink.chunk:
            saved = self._folder.read(checkpoint(sink.stream, sink.chunk, sink.saved_by))
            self._iterator.load(states.loads(saved))
        self._sink = sink
        self._chunk_bytes = min(sink.chunk_bytes, self._folder.file_bytes_max or sink.chunk_bytes)
        self._number = sink.chunk
        self._ordinal = recipe.checkpoint.ordinal
        self._clock = clock
        self._slice_ns = slice_ns
        self._writer: ChunkWriter | None = None
        self._elements = 0
        self._bytes = 0
        self._element_bytes = 0
        self._begun_at = 0

    def run(self, command: Produce) -> Production:
        """Up to ``elements_max`` more elements, or one slice of time, or as many as the chunk takes."""
        for lease in command.leases:
            self._feeds[lease.provider].add(lease)
        started = self._clock() if self._clock is not None else 0
        before = self._ordinal
        status: Ready | Hungry | Ended = Ready()
        try:
            while not self._full and self._ordinal - before < command.elements_max:
                self._take(min(self._limit, command.elements_max - self._ordinal + before))
                if self._clock is not None and self._clock() - started >= self._slice_ns:
                    break
        except StopIteration:
            status = Ended()
        except Starved as starved:
            status = Hungry(starved.provider, starved.at)
        except (Exception, SystemExit, GeneratorExit) as error:
            return Production((), Broken(describe_failure(error, self._ordinal)))
        ended = isinstance(status, Ended)
        chunk = self._end_chunk(ended) if ended or self._full else None
        spent = self._clock() - started if self._clock is not None else 0
        written = self._ordinal - before
        positions = tuple(feed.at for feed in self._feeds)
        return Production((), status, positions, spent_ns=spent, written=written, chunk=chunk)

    @property
    def _limit(self) -> int:
        """How many elements to ask for at once, so that the chunk does not grow far beyond its size."""
        room = self._chunk_bytes - self._bytes
        return max(1, min(BLOCK, room // self._element_bytes if self._element_bytes else 1))

    @property
    def _full(self) -> bool:
        if self._writer is None:
            return False
        late = self._clock is not None and self._clock() - self._begun_at >= self._sink.chunk_ns
        return late or self._bytes >= self._chunk_bytes

    def _take(self, limit: int) -> None:
        columns = self._iterator.block(limit)
        if columns is None:
            self._write(self._iterator.next())
        else:
            for element in columns.elements():
                self._write(element)

    def _write(self, element: Any) -> None:
        if self._writer is None:
            name = uncommitted_chunk(self._sink.stream, self._number, self._sink.attempt)
            self._writer = ChunkWriter(self._folder.begin(name), self._sink.compression)
            self._begun_at = self._clock() if self._clock is not None else 0
        components = nest.flatten(element)
        self._writer.write(components)
        self._ordinal += 1
        self._elements += 1
        self._element_bytes = sum(map(weight, components))
        self._bytes += self._element_bytes

    def _end_chunk(self, ended: bool) -> Chunk:
        elements, self._elements, self._bytes = self._elements, 0, 0
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            self._number += 1
        if not ended:
            name = checkpoint(self._sink.stream, self._number, self._sink.attempt)
            self._folder.write(name, states.dumps(self._iterator.save()))
        return Chunk(elements, Checkpoint(self._ordinal, tuple(feed.at for feed in self._feeds)))

    def __del__(self) -> None:
        # A pipeline is dropped wherever it is, and its chunk with it.
        writer: ChunkWriter | None = getattr(self, "_writer", None)
        if writer is not None:
            writer.abandon()
