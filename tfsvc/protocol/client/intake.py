"""The intake: a reader's streams — which there are, what to ask of each, and what to hand on next."""

from __future__ import annotations

import heapq
from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.streams import Stream, is_native
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.placement import reads
from tfsvc.protocol.production import Encoding
from tfsvc.protocol.reading import Batch, Taken
from tfsvc.protocol.settings import ClientSettings

LAST_TURN: Final = (1 << 62, 0)


class Intake:
    """Fetches ahead no more than the application needs.

    The window of each stream starts with one frame and doubles whenever the application had to wait. So
    readers that share a job share its elements fairly, and what a slow reader has not come to yet stays with
    the workers.

    A reader has a stream for every worker, and something happens to one of them at a time. So it keeps in mind which
    streams there is something to do for, and does not look at the others.

    Args:
      trainer_id: who reads of elements that several trainers share.
      target: which workers are read from.
      in_order: whether it reads ordered lanes, whose elements are handed on run by run, and in each run lane by lane.
    """

    def __init__(
        self,
        settings: ClientSettings,
        luck: Luck,
        in_order: bool = False,
        trainer_id: str = "",
        target: m.TargetWorkers = m.TargetWorkers.AUTO,
    ) -> None:
        self.streams: dict[int, Stream] = {}
        self.failing: dict[int, Stream] = {}
        """Those that could not be read lately."""
        self.done: dict[int, Stream] = {}
        """Lanes whose application has consumed everything."""
        self.moved: dict[int, Stream] = {}
        """Lanes in which something was received or consumed since ``moved`` was cleared last."""
        self._going_on: dict[int, Stream] = {}
        self._full: list[int] = []
        self._look: dict[int, Stream] = {}
        self._parked: list[tuple[int, int]] = []
        self._waiting_for_turn: dict[int, None] = {}
        self._fetching: dict[int, None] = {}
        self._room = 0
        self._told: tuple[tuple[m.LaneInfo, ...], tuple[m.TaskInfo, ...]] | None = None
        self._sorted: tuple[tuple[tuple[m.TaskInfo, ...], tuple[str, ...], bool], dict[int, m.TaskInfo]] | None = None
        self.nearby: tuple[str, ...] = ()
        """The workers in this process."""
        self._target = target
        self._passes_by = False
        self._in_order = in_order
        self._trainer_id = trainer_id
        self._repeated = 0
        self.missed = 0
        """Elements that had left the trainers' cache before it came to them."""
        self._settings = settings
        self._luck = luck
        self._made = 0
        self._asked = 0
        self._last_served = 0
        self._window = 1
        self._waiting = False

    @property
    def held(self) -> int:
        """Bytes fetched ahead."""
        return sum(s.bytes for s in self.streams.values())

    @property
    def repeated(self) -> int:
        """Elements that came again and were passed over."""
        return self._repeated + sum(s.repeated for s in self.streams.values())

    @property
    def came_too_late(self) -> bool:
        """Whether there never was a stream to read."""
        return self._made == 0

    @property
    def expecting(self) -> bool:
        """Whether an answer is on its way that may bring elements."""
        return any(s.busy and not s.ended for s in self.streams.values())

    def progress(self) -> tuple[m.LaneProgress, ...]:
        """What the application took of each lane."""
        return tuple(s.progress() for s in self.streams.values() if s.lane_id)

    def note(self, taken: tuple[Taken, ...]) -> None:
        """The application has consumed more."""
        for report in taken:
            stream = self.streams.get(report.stream)
            if stream is not None:
                stream.take(report.ordinal)
                self._touch(stream)

    def _touch(self, stream: Stream) -> None:
        """Something has changed about a stream: others are told, and perhaps it has something to ask."""
        self._look[stream.id] = stream
        if stream.ended:
            self._going_on.pop(stream.id, None)
        if stream.lane_id:
            self.moved[stream.id] = stream
            if stream.done:
                self.done[stream.id] = stream

    def _drop(self, stream: Stream) -> None:
        for known in (self.streams, self.failing, self.done, self.moved, self._going_on, self._look, self._fetching):
            known.pop(stream.id, None)
        if stream.frames:
            self._full.remove(stream.id)

    def clear(self) -> None:
        """Lets go of everything."""
        for stream in tuple(self.streams.values()):
            self._drop(stream)

    @property
    def dry(self) -> bool:
        """Whether nothing more comes of any stream unless the dispatcher says otherwise."""
        return not self._full and all(s.dry for s in self._going_on.values())

    def next_try(self, now: Instant) -> Instant:
        """When the next stream that failed is to be asked again."""
        if not self.failing:
            return NEVER
        return min((s.next_try for s in self.failing.values() if not s.busy and s.next_try > now), default=NEVER)

    @property
    def ended_alone(self) -> bool:
        """Whether all is received that is to be read, where that is not for the dispatcher to tell.

        It cannot where workers are passed by, and where each of several trainers reads to the end by itself.
        """
        return (self._passes_by or bool(self._trainer_id)) and bool(self.streams) and self.ended

    def reconcile(self, news: m.ClientHeartbeatResponse, has_lanes: bool) -> None:
        """Takes over the dispatcher's list of lanes and tasks; where there are lanes, our workers give nothing else."""
        told = news.lanes, news.task_info
        if self._told is not None and told[0] is self._told[0] and told[1] is self._told[1]:
            return
        self._told = told
        lanes = {info.lane_id: info for info in news.lanes}
        by_lane = {s.lane_id: s for s in self.streams.values() if s.lane_id}
        for lane_id, info in lanes.items():
            stream = by_lane.get(lane_id)
            if stream is None:
                stream = self._new(
                    Encoding.FRAMES, info.worker_address, info.task_id, lane_id, info.ordinal, info.index
                )
            elif info.again and info.attempt > stream.attempt:
                self._drop(stream)
                stream = self._new(Encoding.FRAMES, info.worker_address, info.task_id, lane_id, info.ordinal)
            if info.attempt > stream.attempt:
                stream.move(info.worker_address, info.task_id, info.attempt)
                self._fetching.pop(stream.id, None)
                self.failing.pop(stream.id, None)
                self._touch(stream)
        for lane_id, stream in by_lane.items():
            if lane_id not in lanes:
                self._repeated += stream.repeated
                self._drop(stream)
        self._reconcile_tasks(self._tasks_to_read(news.task_info, has_lanes))

    def _tasks_to_read(self, tasks: tuple[m.TaskInfo, ...], has_lanes: bool) -> dict[int, m.TaskInfo]:
        """The tasks that the reader reads as a whole. Lanes come and go more often, so what was found is kept."""
        of = tasks, self.nearby, has_lanes
        if self._sorted is None or self._sorted[0] != of:
            read = {t.task_id: t for t in tasks if reads(self._target, t.worker_address, t.worker_tags, self.nearby)}
            self._passes_by = not has_lanes and len(read) < len(tasks)
            self._sorted = of, {i: t for i, t in read.items() if not (has_lanes and is_native(t))}
        return self._sorted[1]

    def _reconcile_tasks(self, tasks: dict[int, m.TaskInfo]) -> None:
        known = {s.task_id: s for s in self.streams.values() if not s.lane_id}
        for task_id, info in tasks.items():
            stream = known.get(task_id)
            if stream is None and not info.finished:
                address = None if self._trainer_id else m.native_address(info.transfer_servers)
                if address is None:
                    single = self._new(Encoding.ELEMENTS, info.worker_address, task_id)
                    single.answers_again = is_native(info)
                else:
                    self._new(Encoding.FRAMES, address, task_id)
            elif stream is not None and info.finished and stream.failing_since is not None:
                stream.ended = True
                self._touch(stream)
        for task_id, stream in known.items():
            if task_id not in tasks:
                stream.ended = True
                self._touch(stream)

    def _new(
        self, encoding: Encoding, address: str, task_id: int, lane_id: int = 0, ordinal: int = 0, index: int = 0
    ) -> Stream:
        self._made += 1
        luck = self._luck.stream(f"stream/{self._made}")
        stream = Stream(self._made, encoding, address, task_id, luck, lane_id, ordinal, index)
        self.streams[stream.id] = self._going_on[stream.id] = stream
        self._touch(stream)
        return stream

    def requests(self, client_id: int, now: Instant) -> Iterator[tuple[Stream, m.Request]]:
        """What to ask now, of those streams first that were not asked for longest.

        Streams that may not fetch now still give back what was received, which must not wait: a worker
        takes a reader that is silent for one that is gone.
        """
        limit = self._settings.streams_max or len(self.streams)
        for stream in self._candidates(limit):
            if stream.busy or now < stream.next_try or not stream.address:
                continue
            room = min(self._room - stream.held, self._settings.read_bytes)
            if self._in_order and stream.frames and not stream.ended and 2 * room < self._room:
                continue
            if room > 0 and len(self._fetching) >= limit:
                self._park(stream)
                room = 0
            request = stream.request(client_id, room, self._trainer_id)
            if request is not None:
                stream.busy = True
                if stream.fetching:
                    self._fetching[stream.id] = None
                self._asked += 1
                stream.asked = self._asked
                yield stream, request

    def _park(self, stream: Stream) -> None:
        if stream.id not in self._waiting_for_turn:
            self._waiting_for_turn[stream.id] = None
            heapq.heappush(self._parked, (stream.asked, stream.id))

    def _candidates(self, limit: int) -> list[Stream]:
        """The streams that may have something to ask, those first that were not asked for longest."""
        room = min(self._settings.buffer_bytes // max(1, len(self.streams)), self._window)
        found = self._look
        if room > self._room:
            found = dict(self.streams)
        elif not (found or self.failing or self._parked):
            self._room = room
            return []
        self._room, self._look = room, {}
        found.update(self.failing)
        for _ in range(min(len(self._parked), limit - len(self._fetching))):
            _, stream_id = heapq.heappop(self._parked)
            self._waiting_for_turn.pop(stream_id, None)
            if stream_id in self.streams:
                found[stream_id] = self.streams[stream_id]
        return sorted(found.values(), key=lambda s: (s.asked, s.id)) if len(found) > 1 else list(found.values())

    def answered(
        self, stream: Stream, request: m.Request, answer: m.Response | RpcError, now: Instant
    ) -> RpcError | None:
        """Takes an answer; gives the error that ends it all, if it is one."""
        attempt = request.attempt if isinstance(request, m.GetFramesRequest) else 0
        if self.streams.get(stream.id) is not stream or attempt != stream.attempt:
            return None
        stream.busy = False
        self._fetching.pop(stream.id, None)
        self.failing.pop(stream.id, None)
        was_full = bool(stream.frames)
        if isinstance(answer, m.GetElementResponse):
            self.missed += answer.passed_over
        if isinstance(answer, RpcError):
            if not answer.retriable and answer.code not in (Code.FAILED_PRECONDITION, Code.NOT_FOUND):
                return answer
            stream.failed(answer, now)
        elif not stream.answered(request, answer):
            stream.failed(RpcError(Code.FAILED_PRECONDITION, "the worker no longer has what is next"), now)
        if stream.failing_since is not None:
            self.failing[stream.id] = stream
        if stream.frames and not was_full:
            insort(self._full, stream.id)
        self._touch(stream)
        return None

    def ready(self) -> int:
        """How many elements of ordered lanes could be handed on at once."""
        going_on = [s.frontier for s in self.streams.values() if not s.ended]
        turn = min(going_on, default=LAST_TURN)
        return sum(s.ready_before(turn) for s in self.streams.values())

    @property
    def ended(self) -> bool:
        """Whether all that there is was received."""
        return all(s.ended for s in self.streams.values())

    def next_batch(self, limit: int | None = None) -> Batch | None:
        """What the application gets next, from one stream after the other; ``None``: it has to wait.

        With a ``limit`` it gets no more elements than that.
        """
        for stream in self._next_in_order() if self._in_order else self._in_turn():
            got = stream.deliver(limit)
            if got is not None:
                frame, skip = got
                if not stream.frames:
                    self._full.remove(stream.id)
                self._look[stream.id] = stream
                self._last_served = stream.id
                self._waiting = False
                place = stream.place(frame.start + skip)
                stop = None if limit is None or frame.count - skip <= limit else skip + limit
                return Batch(stream.id, stream.address, frame, skip, stream.encoding, place, stop)
        if not self._waiting:
            self._waiting = True
            if self._window < self._settings.buffer_bytes:
                self._window = 2 * max(self._window, *(s.held for s in self.streams.values()), 0)
        return None

    def _next_in_order(self) -> list[Stream]:
        """The one stream whose turn it is, whether or not it has anything yet."""
        going_on = self._going_on | {i: self.streams[i] for i in self._full}
        return [min(going_on.values(), key=lambda s: s.turn)] if going_on else []

    def _in_turn(self) -> list[Stream]:
        """The next stream that has something, beginning behind the one that was served last."""
        if not self._full:
            return []
        at = bisect_right(self._full, self._last_served)
        return [self.streams[self._full[at if at < len(self._full) else 0]]]
