"""A worker's streams of distributed snapshots: pipelines that write, and chunks that wait to be committed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Chunk, Production, Recipe, Sink
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.producer import Producer
from tfsvc.protocol.worker.sources import FIRST_GROUP, LaneSource


class SnapshotStream:
    """Writes one attempt of a stream.

    Chunks are committed one after the other while the pipeline goes on; what was written and not committed is no loss,
    since whoever takes the stream over makes it again.

    Args:
      failed: called when the stream cannot be written.
    """

    def __init__(self, desk: Desk, task: m.SnapshotTaskDef, failed: Callable[[], None]) -> None:
        self.task = task
        self.error: RpcError | None = None
        self.completed = False
        self.producer: Producer | None = None
        self._desk = desk
        self._failed = failed
        self._chunks: deque[tuple[Chunk, bool]] = deque()
        self._number = 0
        self._asking = False
        self._over = False
        self._backoff = Backoff(desk.luck.stream("snapshot"))
        self._next: Instant = NEVER
        self._open()

    @property
    def _ahead(self) -> bool:
        """Whether splits may lie here that the pipeline has not asked for.

        Not with several sources: where each element takes one split of each, as in a zip, a worker that held more of
        one than of the other at the end would leave elements unmade.
        """
        return self.task.num_sources == 1

    @property
    def progress(self) -> m.SnapshotTaskProgress:
        return m.SnapshotTaskProgress(self.task, self.completed, self.error)

    def produced(self, production: Production) -> None:
        assert self.producer is not None
        self.producer.produced_more(production)
        if production.chunk is not None:
            self._chunks.append((production.chunk, self.producer.ended))
            self._commit()

    def close(self) -> None:
        """Stops for good; what was not committed is given up."""
        self._over = True
        self._chunks.clear()
        if self.producer is not None:
            self.producer.discard()

    def deadline(self) -> Instant:
        return min(self._next, NEVER if self.producer is None else self.producer.deadline())

    def wake(self) -> None:
        if self._next <= self._desk.now:
            self._next = NEVER
            if self.producer is None:
                self._open()
            else:
                self._commit()
        if self.producer is not None:
            self.producer.wake()

    def _open(self) -> None:
        request = m.OpenStreamRequest(self.task.lane_id, self.task.attempt, FIRST_GROUP if self._ahead else 0)
        self._desk.ask_dispatcher(request, self._opened)

    def _opened(self, answer: m.Response | RpcError) -> None:
        match answer:
            case _ if self._over:
                pass
            case m.OpenStreamResponse():
                self._backoff.reset()
                self._start(answer)
            case RpcError() as error:
                self._refused(error)
            case _:
                raise AssertionError(answer)

    def _start(self, start: m.OpenStreamResponse) -> None:
        task, settings = self.task, self._desk.settings
        self._number = start.chunks
        sink = Sink(
            task.base_path,
            task.stream_index,
            task.attempt,
            start.chunks,
            start.saved_by,
            task.metadata.compression,
            settings.chunk_bytes,
            settings.chunk_ns,
        )
        plans = start.dataset.plans
        seed = Luck(start.seed, f"stream/{task.stream_index}").bits()
        recipe = Recipe(
            start.dataset, task.base_path, len(plans), start.checkpoint, seed=seed, shared_seed=start.seed, sink=sink
        )
        self.producer = Producer(self._desk, recipe, self._changed)
        source = LaneSource(self._desk, task.lane_id, task.attempt, self.producer, self._moved_on, self._ahead)
        self.producer.source = source
        source.start(start.leases)

    def _changed(self) -> None:
        """The only frame of a pipeline that writes is the error that ends it."""
        assert self.producer is not None
        if self.producer.frames and self.error is None:
            self.error = self.producer.frames[-1].error
            self._failed()

    def _moved_on(self, _: RpcError) -> None:
        self.close()

    def _commit(self) -> None:
        if self._asking or self._over or not self._chunks or self._next != NEVER:
            return
        self._asking = True
        chunk, done = self._chunks[0]
        request = m.CommitChunkRequest(
            self.task.lane_id, self.task.attempt, self._number, chunk.elements, chunk.checkpoint, done
        )
        self._desk.ask_dispatcher(request, lambda answer: self._committed(chunk, done, answer))

    def _committed(self, chunk: Chunk, done: bool, answer: m.Response | RpcError) -> None:
        self._asking = False
        match answer:
            case _ if self._over:
                pass
            case m.CommitChunkResponse():
                self._backoff.reset()
                self._chunks.popleft()
                self._number += 1 if chunk.elements else 0
                self.completed = done
                self._commit()
            case RpcError() as error:
                self._refused(error)
            case _:
                raise AssertionError(answer)

    def _refused(self, error: RpcError) -> None:
        if error.retriable:
            self._next = self._backoff.next(self._desk.now)
        elif error.code is Code.FAILED_PRECONDITION:
            self.close()
        else:
            self.error = error
            self.close()
            self._failed()


class SnapshotStreams:
    """All streams of a worker, by the path of their snapshots.

    Args:
      hurry: asks for a heartbeat soon.
    """

    def __init__(self, desk: Desk, hurry: Callable[[], None]) -> None:
        self._desk = desk
        self._hurry = hurry
        self._streams: dict[str, SnapshotStream] = {}

    @property
    def progress(self) -> tuple[m.SnapshotTaskProgress, ...]:
        return tuple(stream.progress for stream in self._streams.values())

    def match(self, tasks: tuple[m.SnapshotTaskDef, ...]) -> None:
        """Begins and drops streams, so that they are those that the dispatcher says."""
        wanted = {task.base_path: task for task in tasks}
        for path, stream in tuple(self._streams.items()):
            if wanted.get(path) != stream.task:
                stream.close()
                del self._streams[path]
        for path, task in wanted.items():
            if path not in self._streams:
                self._streams[path] = SnapshotStream(self._desk, task, self._hurry)

    def produced(self, producer: int, production: Production) -> bool:
        """Whether a run was of one of the streams' pipelines."""
        for stream in self._streams.values():
            if stream.producer is not None and stream.producer.id == producer:
                stream.produced(production)
                return True
        return False

    def deadline(self) -> Instant:
        return min(stream.deadline() for stream in self._streams.values()) if self._streams else NEVER

    def wake(self) -> None:
        for stream in tuple(self._streams.values()):
            stream.wake()

    def close(self) -> None:
        self.match(())
