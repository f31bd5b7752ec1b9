"""The client as a machine: opens an iteration, fetches ahead from all workers, feeds one application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff, Calls
from tfsvc.protocol.client.heartbeats import Heartbeats
from tfsvc.protocol.client.streams import ELEMENT_TIMEOUT_NS, Stream
from tfsvc.protocol.contract import (
    NOTHING,
    Answered,
    Asked,
    Event,
    Failed,
    Finish,
    Note,
    Produced,
    Reply,
    Step,
    Stopped,
    Synced,
    Wanted,
    Woke,
    Word,
)
from tfsvc.protocol.ids import NEVER, SECOND, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Encoding
from tfsvc.protocol.reading import Batch, EndOfData, Taken
from tfsvc.protocol.settings import ClientSettings

QUIET_NS = 2 * SECOND
"""After failures for this long people are told that the dispatcher does not answer."""
RELEASE_TIMEOUT_NS = 2 * SECOND
"""How long a reader that leaves tries to say so; then it is missed only by its silence."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What to read.

    Attributes:
      job_name: readers with the same name share the elements; ``None`` for a job of one's own.
      repetition: which pass over the job; readers of the same pass share it.
    """

    dataset_id: str
    policy: m.ShardingPolicy
    job_name: str | None = None
    repetition: int = 0
    target_workers: m.TargetWorkers = m.TargetWorkers.AUTO


@dataclass(frozen=True, slots=True)
class ClientView:
    """A picture of a reader.

    Attributes:
      client_id: its name with the dispatcher, 0 before it has one.
      buffered: bytes fetched ahead.
      taken: per lane, how many elements the application has consumed.
    """

    client_id: int
    buffered: int
    taken: dict[int, int]


About = Stream | str


class Client:
    """A role of the machine contract.

    It fetches ahead no more than its application needs: the window of each stream starts with one frame and
    doubles whenever the application had to wait. So readers that share a job share its elements fairly, and
    what a slow reader has not come to yet stays with the workers.

    Args:
      request: what to read.
      settings: how.
      name: its name in call ids; unique among the readers of a dispatcher.
      incarnation: which life this is.
      luck: its random streams.
    """

    def __init__(self, request: ReadRequest, settings: ClientSettings, name: str, incarnation: int, luck: Luck) -> None:
        self._request = request
        self._settings = settings
        self._nonce = f"{name}/{incarnation}"
        self._luck = luck
        self._calls: Calls[About] = Calls(name, incarnation)
        self._backoff = Backoff(luck.stream("open"))
        self._phase = "job"
        self._phase_due: Instant = 0
        self._job_id = 0
        self._client_id = 0
        self._streams: dict[int, Stream] = {}
        self._last_served = 0
        self._asked = 0
        self._next_stream = 1
        self._heartbeats = Heartbeats(settings, self._streams)
        self._token: int | None = None
        self._stopping: int | None = None
        self._give_up: Instant = NEVER
        self._window = 1
        self._stalled = False
        self._silent_since: Instant | None = None
        self._error: RpcError | None = None
        self._now: Instant = 0
        self._words: list[Word] = []

    def handle(self, event: Event, now: Instant) -> Step:
        self._now = now
        match event:
            case Answered(call, response):
                self._answered(call, response)
            case Failed(call, error):
                self._answered(call, error)
            case Wanted(token, taken):
                self._token = token
                self._note(taken)
            case Stopped(token, taken):
                self._stop(token, taken)
            case Asked(call):
                self._words.append(Reply(call, RpcError(Code.UNIMPLEMENTED, "This is a reader; it serves nothing.")))
            case Woke():
                pass
            case Synced() | Produced():
                return NOTHING
            case _:
                assert_never(event)
        self._advance()
        words, self._words = self._words, []
        return Step(words=tuple(words))

    def deadline(self) -> Instant:
        if self._phase == "reading":
            tries = (s.next_try for s in self._streams.values() if not s.busy and s.next_try > self._now)
            return min(self._heartbeats.deadline(), min(tries, default=NEVER))
        return self._phase_due

    def view(self) -> ClientView:
        return ClientView(
            self._client_id,
            sum(s.bytes for s in self._streams.values()),
            {s.lane_id: s.taken for s in self._streams.values() if s.lane_id},
        )

    def _advance(self) -> None:
        """Does whatever can be done now."""
        if self._phase in ("job", "iteration") and self._now >= self._phase_due:
            self._open()
        elif self._phase == "stopping" and self._now >= self._phase_due:
            self._release()
        elif self._phase == "reading":
            self._deliver()
            waiting = self._token is not None
            beat = self._heartbeats.next(self._client_id, self._now, waiting)
            if beat is not None:
                self._ask(self._settings.dispatcher, beat, "heartbeat")
            self._fetch()
        elif self._phase in ("failed", "stopped") and self._token is not None:
            error = self._error or RpcError(Code.CANCELLED, "the iterator was closed")
            self._words.append(Finish(self._token, error))
            self._token = None

    def _open(self) -> None:
        """Asks for the job, then for the iteration, until both are there."""
        self._phase_due = NEVER
        request: m.Request
        if self._phase == "job":
            request = m.GetOrCreateJobRequest(
                dataset_id=self._request.dataset_id,
                processing_mode_def=m.ProcessingModeDef(self._request.policy),
                job_name=self._request.job_name,
                target_workers=self._request.target_workers,
                nonce=f"{self._nonce}/job",
            )
        else:
            request = m.GetOrCreateIterationRequest(self._job_id, self._request.repetition, f"{self._nonce}/iteration")
        self._ask(self._settings.dispatcher, request, self._phase)

    def _ask(self, peer: str, request: m.Request, about: About, timeout_ns: int | None = None) -> None:
        self._words.append(self._calls.make(peer, request, about, timeout_ns or self._settings.call_timeout_ns))

    def _answered(self, call: CallId, answer: m.Response | RpcError) -> None:
        made = self._calls.close(call)
        if made is None:
            return
        if isinstance(made.about, Stream):
            self._stream_answered(made.about, made.peer, made.request, answer)
            return
        if not isinstance(answer, RpcError):
            self._silent_since = None
        match answer:
            case m.GetOrCreateJobResponse() | m.GetOrCreateIterationResponse() if made.about != self._phase:
                pass  # the application left meanwhile
            case m.GetOrCreateJobResponse(job_id):
                self._job_id, self._phase, self._phase_due = job_id, "iteration", 0
                self._backoff.reset()
            case m.GetOrCreateIterationResponse(client_id):
                self._client_id, self._phase, self._phase_due = client_id, "reading", NEVER
            case m.ClientHeartbeatResponse():
                self._heartbeats.answered(self._now, answer)
                self._reconcile(answer)
            case m.ReleaseIterationClientResponse():
                self._finish_stop()
            case RpcError():
                self._refused(made.about, answer)
            case _:
                raise AssertionError(answer)

    def _refused(self, about: str, error: RpcError) -> None:
        if error.retriable and about != "release" and not self._wait_longer(error):
            return
        if about == "release":
            if error.retriable and self._now < self._give_up:
                self._phase_due = min(self._backoff.next(self._now), self._give_up)
            else:
                self._finish_stop()
        elif about == "heartbeat":
            if error.retriable:
                self._heartbeats.failed(self._now)
            else:
                self._fail(error)
        elif about != self._phase:
            pass  # the application left meanwhile
        elif error.retriable:
            self._phase_due = self._backoff.next(self._now)
        else:
            self._fail(error)

    def _wait_longer(self, error: RpcError) -> bool:
        """Tells people that the dispatcher is silent; fails when it has been for too long."""
        since = self._silent_since = self._now if self._silent_since is None else self._silent_since
        silent_ns, address = self._now - since, self._settings.dispatcher
        if silent_ns >= self._settings.dispatcher_timeout_ns:
            self._fail(error.prefixed(f"The dispatcher at {address} did not answer for {silent_ns // SECOND} s"))
            return False
        if silent_ns >= QUIET_NS:
            self._words.append(Note("warning", f"the dispatcher at {address} does not answer; still trying"))
        return True

    def _fail(self, error: RpcError) -> None:
        """Nothing more can be read; the application is told each time it asks."""
        self._error = error
        if self._phase in ("job", "iteration"):
            self._phase = "reading" if self._client_id else "failed"
            self._phase_due = NEVER
        if self._token is not None:
            self._words.append(Finish(self._token, error))
            self._token = None

    def _reconcile(self, news: m.ClientHeartbeatResponse) -> None:
        """Takes over the dispatcher's list of lanes and tasks."""
        lanes = {info.lane_id: info for info in news.lanes}
        by_lane = {s.lane_id: s for s in self._streams.values() if s.lane_id}
        for lane_id, info in lanes.items():
            stream = by_lane.get(lane_id)
            if stream is None:
                stream = self._new_stream(Encoding.FRAMES, info.worker_address, info.task_id, lane_id, info.ordinal)
            if info.attempt > stream.attempt:
                stream.move(info.worker_address, info.task_id, info.attempt)
        for lane_id, stream in by_lane.items():
            if lane_id not in lanes:
                del self._streams[stream.id]
        if self._request.policy == m.ShardingPolicy.DYNAMIC:
            self._reconcile_tasks([t for t in news.task_info if not _native(t)])
        else:
            self._reconcile_tasks(list(news.task_info))

    def _reconcile_tasks(self, tasks: list[m.TaskInfo]) -> None:
        known = {s.task_id: s for s in self._streams.values() if not s.lane_id}
        for info in tasks:
            stream = known.get(info.task_id)
            if stream is None and not info.finished:
                encoding = Encoding.FRAMES if _native(info) else Encoding.ELEMENTS
                self._new_stream(encoding, info.worker_address, info.task_id)
            elif stream is not None and info.finished and stream.failing_since is not None:
                stream.ended = True
        for task_id in known.keys() - {info.task_id for info in tasks}:
            known[task_id].ended = True

    def _new_stream(self, encoding: Encoding, address: str, task_id: int, lane_id: int = 0, ordinal: int = 0) -> Stream:
        luck = self._luck.stream(f"stream/{self._next_stream}")
        stream = Stream(self._next_stream, encoding, address, task_id, luck, lane_id, ordinal)
        self._streams[stream.id] = stream
        self._next_stream += 1
        return stream

    def _fetch(self) -> None:
        """Asks every stream that has room for more, those first that were not asked for longest.

        Streams that may not fetch now still give back what was received, which must not wait: a worker
        takes a reader that is silent for one that is gone.
        """
        if self._error is not None or self._heartbeats.finished:
            return
        fetching = sum(s.fetching for s in self._streams.values())
        limit = self._settings.streams_max or len(self._streams)
        share = self._settings.buffer_bytes // max(1, len(self._streams))
        for stream in sorted(self._streams.values(), key=lambda s: s.asked):
            if stream.busy or self._now < stream.next_try:
                continue
            room = min(share, self._window) - stream.held
            room = min(room, self._settings.read_bytes) if fetching < limit else 0
            request = stream.request(self._client_id, room)
            if request is not None:
                stream.busy = True
                fetching += stream.fetching
                self._asked += 1
                stream.asked = self._asked
                timeout = ELEMENT_TIMEOUT_NS if stream.encoding is Encoding.ELEMENTS else None
                self._ask(stream.address, request, stream, timeout)

    def _stream_answered(self, stream: Stream, peer: str, request: m.Request, answer: m.Response | RpcError) -> None:
        if self._streams.get(stream.id) is not stream or _attempt_of(request) != stream.attempt:
            return
        stream.busy = False
        if isinstance(answer, RpcError):
            if answer.retriable or answer.code in (Code.FAILED_PRECONDITION, Code.NOT_FOUND):
                stream.failed(answer, self._now)
            else:
                self._fail(answer.prefixed(f"Failed to get element from worker {peer}"))
        elif stream.answered(request, answer):
            self._heartbeats.progressed()
        else:
            stream.failed(RpcError(Code.FAILED_PRECONDITION, "the worker no longer has what is next"), self._now)

    def _in_turn(self) -> list[Stream]:
        """The streams, beginning behind the one that was served last."""
        streams = list(self._streams.values())
        cut = next((i for i, s in enumerate(streams) if s.id > self._last_served), 0)
        return streams[cut:] + streams[:cut]

    def _deliver(self) -> None:
        if self._token is None:
            return
        if self._error is not None:
            self._words.append(Finish(self._token, self._error))
            self._token = None
            return
        for stream in self._in_turn():
            got = stream.deliver()
            if got is not None:
                frame, skip = got
                self._last_served = stream.id
                batch = Batch(stream.id, stream.address, frame, skip, stream.encoding)
                self._words.append(Finish(self._token, batch))
                self._token = None
                self._stalled = False
                return
        if not self._stalled:
            self._stalled = True
            self._window = 2 * max(self._window, *(s.held for s in self._streams.values()), 0)
        if self._heartbeats.finished and not any(s.busy and not s.ended for s in self._streams.values()):
            self._words.append(Finish(self._token, EndOfData(self._heartbeats.warning)))
            self._token = None

    def _note(self, taken: tuple[Taken, ...]) -> None:
        for report in taken:
            stream = self._streams.get(report.stream)
            if stream is not None:
                stream.take(report.ordinal)

    def _stop(self, token: int, taken: tuple[Taken, ...]) -> None:
        self._note(taken)
        self._stopping = token
        self._give_up = self._now + RELEASE_TIMEOUT_NS
        self._phase, self._phase_due = "stopping", self._now

    def _release(self) -> None:
        """Tells the dispatcher what was taken in all; the rest goes to others."""
        self._phase_due = NEVER
        if not self._client_id or self._now >= self._give_up:
            self._finish_stop()
            return
        progress = tuple(m.LaneProgress(s.lane_id, s.taken, s.done) for s in self._streams.values() if s.lane_id)
        request = m.ReleaseIterationClientRequest(self._client_id, progress)
        self._ask(self._settings.dispatcher, request, "release", self._give_up - self._now)

    def _finish_stop(self) -> None:
        self._phase, self._phase_due = "stopped", NEVER
        self._streams.clear()
        if self._token is not None:
            self._words.append(Finish(self._token, RpcError(Code.CANCELLED, "the iterator was closed")))
            self._token = None
        if self._stopping is not None:
            self._words.append(Finish(self._stopping, None))
            self._stopping = None


def _native(info: m.TaskInfo) -> bool:
    return any(server.protocol == "tfsvc" for server in info.transfer_servers)


def _attempt_of(request: m.Request) -> int:
    return request.attempt if isinstance(request, m.GetFramesRequest) else 0
