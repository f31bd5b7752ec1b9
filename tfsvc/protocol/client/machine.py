"""The client as a machine: opens an iteration, fetches ahead from all workers, feeds one application."""

from __future__ import annotations

from typing import assert_never

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff, Calls
from tfsvc.protocol.client.heartbeats import Heartbeats
from tfsvc.protocol.client.intake import Intake
from tfsvc.protocol.client.meter import Meter
from tfsvc.protocol.client.notices import Notices
from tfsvc.protocol.client.quota import Quota
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.client.rounds import Rounds, Slot
from tfsvc.protocol.client.streams import ELEMENT_TIMEOUT_NS, Stream
from tfsvc.protocol.contract import (
    NOTHING,
    Answered,
    Asked,
    Cancelled,
    Computed,
    Event,
    Executed,
    Failed,
    Finish,
    Invoked,
    Posed,
    Produced,
    Pulled,
    Reply,
    Step,
    Stopped,
    Stored,
    Synced,
    Wanted,
    Woke,
    Word,
)
from tfsvc.protocol.ids import NEVER, SECOND, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.reading import Batch, Delivery, EndOfData, Taken
from tfsvc.protocol.settings import ClientSettings
from tfsvc.record import record

RELEASE_TIMEOUT_NS = SECOND
"""How long a reader that leaves tries to say so; then it is missed only by its silence."""

STAKE_TIMEOUT_NS = 10 * SECOND
"""How long it tries where others would else get again what it has taken."""


@record
class ClientView:
    """A picture of a reader.

    Attributes:
      client_id: its name with the dispatcher, 0 before it has one.
      buffered: bytes fetched ahead.
      taken: per lane, how many elements the application has consumed.
      missed: how many elements had left the trainers' cache before it came to them.
      repeated: how many came again, since work had moved or a read was repeated, and were passed over.
      consumption: what the application took, and how long it waited.
    """

    client_id: int
    buffered: int
    taken: dict[int, int]
    missed: int = 0
    repeated: int = 0
    consumption: m.Consumption = m.Consumption()


About = Stream | Slot | str


class Client:
    """A role of the machine contract.

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
        self._has_lanes = False
        self._intake = Intake(settings, luck, request.order.lanes > 0, request.trainer_id, request.target_workers)
        self._rounds = Rounds(settings, luck, request.consumer_index) if request.coordinated else None
        self._heartbeats = Heartbeats(settings, self._intake)
        self._quota = Quota(request.order.remainder, request.made_up, settings.consumers_timeout_ns)
        self._token: int | None = None
        self._stopping: int | None = None
        self._give_up: Instant = NEVER
        self._opening = False
        self._meter = Meter()
        self._notices = Notices(settings, request.job_name, request.repetition)
        self._error: RpcError | None = None
        self._now: Instant = 0
        self._words: list[Word] = []

    def handle(self, event: Event, now: Instant) -> Step:
        self._now = now
        match event:
            case Answered():
                self._answered(event.call, event.response)
            case Failed():
                self._answered(event.call, event.error)
            case Wanted():
                self._token = event.token
                self._meter.wanted(event.taken, now)
                if event.nearby != self._intake.nearby:
                    self._intake.nearby = event.nearby
                    self._heartbeats.hurry()
                self._intake.note(event.taken)
            case Stopped(token, taken):
                self._stop(token, taken)
            case Asked(call):
                self._words.append(Reply(call, RpcError(Code.UNIMPLEMENTED, "This is a reader; it serves nothing.")))
            case Woke(taken):
                self._meter.took(taken)
            case (
                Synced()
                | Produced()
                | Stored()
                | Executed()
                | Pulled()
                | Invoked()
                | Computed()
                | Posed()
                | Cancelled()
            ):
                return NOTHING
            case _:
                assert_never(event)
        self._advance()
        if not self._words:
            return NOTHING
        words, self._words = self._words, []
        return Step(words=tuple(words))

    def deadline(self) -> Instant:
        if self._phase == "reading":
            source = self._rounds or self._intake
            return min(self._heartbeats.deadline(), source.next_try(self._now))
        return self._phase_due

    def view(self) -> ClientView:
        return ClientView(
            self._client_id,
            (self._rounds or self._intake).held,
            {lane.lane_id: lane.ordinal for lane in self._intake.progress()},
            self._intake.missed,
            self._intake.repeated,
            self._consumption(),
        )

    def _advance(self) -> None:
        """Does whatever can be done now."""
        if self._phase == "reading":
            self._deliver()
            blocked = self._quota.blocked or (self._rounds is not None and self._rounds.blocked)
            due = self._heartbeats.next(self._now, self._token is not None, blocked)
            if due is not None:
                self._beat(*due)
            self._fetch()
        elif self._phase in ("job", "iteration") and self._now >= self._phase_due:
            self._open()
        elif self._phase == "stopping" and self._now >= self._phase_due:
            self._release()
        elif self._phase in ("failed", "stopped") and self._token is not None:
            self._finish(self._error or RpcError(Code.CANCELLED, "the iterator was closed"))

    def _beat(self, progress: tuple[m.LaneProgress, ...], complaints: tuple[m.LaneComplaint, ...]) -> None:
        """Tells the dispatcher how the reader gets on."""
        current, limit = (None, None) if self._rounds is None else self._rounds.news
        counted = self._quota.applies
        ready = self._quota.own + self._intake.ready() if counted else 0
        beat = m.ClientHeartbeatRequest(
            self._client_id,
            current_round=current,
            blocked_round=limit,
            target_processing_time_nsec=self._meter.element_ns,
            reads_lanes=True,
            progress=progress,
            complaints=complaints,
            nearby=self._intake.nearby,
            consumption=self._consumption(),
            ready=ready,
            total=ready if counted and self._quota.begun and self._intake.ended else None,
        )
        self._ask(self._settings.dispatcher, beat, "heartbeat")

    def _open(self) -> None:
        """Asks for the job, then for the iteration, until both are there."""
        self._phase_due = NEVER
        self._opening = True
        request: m.Request
        if self._phase == "job":
            request = self._request.job(f"{self._nonce}/job")
        else:
            request = self._request.iteration(self._job_id, f"{self._nonce}/iteration")
        self._ask(self._settings.dispatcher, request, self._phase)

    def _ask(self, peer: str, request: m.Request, about: About, timeout_ns: int | None = None) -> None:
        self._words.append(self._calls.make(peer, request, about, timeout_ns or self._settings.call_timeout_ns))

    def _answered(self, call: CallId, answer: m.Response | RpcError) -> None:
        made = self._calls.close(call)
        if made is None:
            return
        self._opening = self._opening and made.about not in ("job", "iteration")
        if isinstance(made.about, Slot):
            assert self._rounds is not None
            error = self._rounds.answered(made.about, answer, self._now)
            if error is not None:
                self._fail(error.prefixed(f"Failed to get element from worker {made.about.task.address}"))
            return
        if isinstance(made.about, Stream):
            error = self._intake.answered(made.about, made.request, answer, self._now)
            if error is not None:
                self._fail(error.prefixed(f"Failed to get element from worker {made.peer}"))
            elif not isinstance(answer, RpcError):
                self._heartbeats.progressed()
            return
        if not isinstance(answer, RpcError):
            self._notices.heard()
        match answer:
            case m.GetOrCreateIterationResponse(client_id) if self._phase == "stopping":
                self._client_id, self._phase_due = client_id, self._now
            case m.GetOrCreateJobResponse() | m.GetOrCreateIterationResponse() if made.about != self._phase:
                self._left_meanwhile()
            case m.GetOrCreateJobResponse(job_id, warning):
                self._words += self._notices.other_dataset(warning)
                self._job_id, self._phase, self._phase_due = job_id, "iteration", 0
                self._backoff.reset()
            case m.GetOrCreateIterationResponse(client_id, has_lanes):
                self._client_id, self._phase, self._phase_due = client_id, "reading", NEVER
                self._has_lanes = has_lanes
                if self._request.order.lanes and not has_lanes:
                    self._fail(RpcError(Code.UNIMPLEMENTED, "Only a dispatcher of tfsvc's keeps a fixed order."))
            case m.ClientHeartbeatResponse():
                self._heartbeats.answered(self._now, answer)
                self._tell(answer)
                if self._rounds is not None:
                    self._rounds.reconcile(answer)
                else:
                    self._intake.reconcile(answer, self._has_lanes)
                self._quota.take(answer.level)
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
                self._leave_unheard()
        elif about == "heartbeat":
            if error.retriable:
                self._heartbeats.failed(self._now)
            else:
                self._fail(error)
        elif about != self._phase:
            self._left_meanwhile()
        elif error.retriable:
            self._phase_due = self._backoff.next(self._now)
        else:
            self._fail(error)

    def _tell(self, news: m.ClientHeartbeatResponse) -> None:
        """Says aloud what would otherwise be a silent wait, or a silent end."""
        self._words += self._notices.alone(not news.task_info and self._token is not None, self._now)
        self._words += self._notices.missed(self._intake.missed)
        if news.iteration_finished and self._rounds is None and self._intake.came_too_late:
            self._words += self._notices.too_late()

    def _left_meanwhile(self) -> None:
        """An answer came to an opening that the application gave up; what waited for it need not wait longer."""
        if self._phase == "stopping":
            self._phase_due = self._now

    def _wait_longer(self, error: RpcError) -> bool:
        """Tells people that the dispatcher is silent; when it has been for too long, ends or fails."""
        notes, too_long = self._notices.silent(error, self._now)
        self._words += notes
        if too_long is None:
            return True
        # Who reads whole tasks sees for himself that they have ended; what lanes there are, the dispatcher alone knows.
        if self._intake.streams and self._intake.ended and not self._has_lanes:
            self._heartbeats.end(f"{too_long.message}; this is all that the known workers had")
        else:
            self._fail(too_long)
        return False

    def _fail(self, error: RpcError) -> None:
        """Nothing more can be read; the application is told each time it asks."""
        self._error = error
        if self._phase in ("job", "iteration"):
            self._phase = "reading" if self._client_id else "failed"
            self._phase_due = NEVER
        if self._token is not None:
            self._finish(error)

    def _finish(self, result: Delivery | RpcError) -> None:
        """Gives the application what it waits for."""
        assert self._token is not None
        self._words.append(Finish(self._token, result))
        self._token = None
        self._meter.handed(result if isinstance(result, Batch) else None, self._now)

    def _consumption(self) -> m.Consumption:
        return self._meter.consumption(self._intake.repeated, self._intake.missed, self._now)

    def _fetch(self) -> None:
        """Asks the workers for more, and gives back to them what was received."""
        if self._error is not None or self._heartbeats.finished:
            return
        if self._rounds is not None:
            for slot, peer, question, wait_ns in self._rounds.requests(self._client_id, self._now):
                self._ask(peer, question, slot, wait_ns)
            return
        for stream, request in self._intake.requests(self._client_id, self._now):
            timeout_ns = None if stream.answers_again else ELEMENT_TIMEOUT_NS
            self._ask(stream.address, request, stream, timeout_ns)

    def _deliver(self) -> None:
        """Hands the application what it waits for, if that is there."""
        if self._token is None:
            return
        room = self._quota.room()
        batch = None if self._error is not None or room == 0 else self._next_batch(room)
        result: RpcError | Delivery | None = self._error or batch
        if batch is not None:
            self._quota.hand(batch.count)
        elif self._error is None and self._quota.applies:
            result = self._quota.beyond(self._intake.ended and not self._intake.ready(), self._now)
        elif result is None and self._at_end:
            result = EndOfData(self._heartbeats.warning)
        if isinstance(result, EndOfData):
            self._words += self._notices.repeated(self._intake.repeated)
        if result is not None:
            self._finish(result)

    @property
    def _at_end(self) -> bool:
        """Whether nothing more can come: the dispatcher says so, or knows less than the reader."""
        if self._rounds is not None:
            return self._heartbeats.finished and not self._rounds.expecting
        return (self._heartbeats.finished and not self._intake.expecting) or self._intake.ended_alone

    def _next_batch(self, room: int | None) -> Batch | None:
        return self._intake.next_batch(room) if self._rounds is None else self._rounds.next_batch()

    def _stop(self, token: int, taken: tuple[Taken, ...]) -> None:
        self._intake.note(taken)
        self._meter.stopped(taken)
        self._words += self._notices.missed(self._intake.missed)
        self._stopping = token
        self._give_up = self._now + (STAKE_TIMEOUT_NS if self._at_stake() else RELEASE_TIMEOUT_NS)
        self._phase, self._phase_due = "stopping", self._now

    def _at_stake(self) -> int:
        """How many elements other readers would get again if the dispatcher heard nothing more."""
        alone = self._request.job_name is None or self._request.order.lanes > 0
        return 0 if alone else self._heartbeats.unreported()

    def _release(self) -> None:
        """Tells the dispatcher what was taken in all; the rest goes to others."""
        if not self._client_id and self._opening and self._now < self._give_up:
            self._phase_due = self._give_up
            return
        self._phase_due = NEVER
        if not self._client_id or self._now >= self._give_up:
            self._leave_unheard()
            return
        request = m.ReleaseIterationClientRequest(self._client_id, self._intake.progress(), self._consumption())
        self._ask(self._settings.dispatcher, request, "release", self._give_up - self._now)

    def _leave_unheard(self) -> None:
        """The dispatcher was not reached in time, or no longer knew the reader; says what may come of it."""
        notes = self._notices.unheard(self._at_stake())
        self._words += notes
        self._finish_stop(RpcError(Code.UNAVAILABLE, notes[0].text) if notes else None)

    def _finish_stop(self, error: RpcError | None = None) -> None:
        self._phase, self._phase_due = "stopped", NEVER
        self._intake.clear()
        if self._token is not None:
            self._finish(RpcError(Code.CANCELLED, "the iterator was closed"))
        if self._stopping is not None:
            self._words.append(Finish(self._stopping, error))
            self._stopping = None
