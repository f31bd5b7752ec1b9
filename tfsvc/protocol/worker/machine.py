"""The worker as a machine: events to its parts, one deadline for all."""

from __future__ import annotations

from typing import assert_never

from tfsvc.errors import DISTRUST, Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Calls
from tfsvc.protocol.contract import (
    NOTHING,
    Answered,
    Asked,
    Cancelled,
    Computed,
    Event,
    Executed,
    Failed,
    Invoked,
    Posed,
    Produced,
    Pulled,
    Step,
    Stopped,
    Stored,
    Synced,
    Wanted,
    Woke,
)
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.settings import WorkerSettings
from tfsvc.protocol.worker.desk import CacheTally, Desk, Then
from tfsvc.protocol.worker.ending import Ending
from tfsvc.protocol.worker.registration import Registration
from tfsvc.protocol.worker.snapshots import SnapshotStreams
from tfsvc.protocol.worker.tasks import Tasks
from tfsvc.record import record


@record
class WorkerView:
    """A picture of a worker.

    Attributes:
      registered: whether the dispatcher knows it.
      tasks: those it holds.
      refused: why the dispatcher does not take it, if so.
      reported: whether a first report was answered, or failed.
      draining: whether it ends as soon as nothing is lost by that.
      buffered: bytes that it keeps for readers.
      cache: what its trainers' caches came to.
    """

    registered: bool
    tasks: tuple[int, ...]
    refused: RpcError | None = None
    reported: bool = False
    draining: bool = False
    buffered: int = 0
    cache: CacheTally = CacheTally()


class Worker:
    """A role of the machine contract.

    Args:
      settings: how it presents itself and how much it holds.
      incarnation: which life this is; later lives at one address have higher numbers, none is 0.
      luck: its random streams.
    """

    def __init__(self, settings: WorkerSettings, incarnation: int, luck: Luck) -> None:
        assert incarnation > 0, "0 stands for TensorFlow's workers"
        calls: Calls[Then] = Calls(settings.address, incarnation)
        self._desk = Desk(settings, incarnation, luck, calls)
        self._snapshots = SnapshotStreams(self._desk, lambda: self._registration.hurry())
        self._registration = Registration(self._desk, self._snapshots, lambda *said: self._ending.told(*said))
        self._tasks = Tasks(self._desk, self._registration.completed)
        self._ending = Ending(self._desk, self._registration, self._tasks, self._snapshots)

    def handle(self, event: Event, now: Instant) -> Step:
        self._desk.now = now
        match event:
            case Asked():
                self._asked(event.call, event.request)
            case Answered():
                self._answered(event.call, event.response)
            case Failed():
                self._answered(event.call, event.error)
            case Produced():
                if not self._snapshots.produced(event.producer, event.production):
                    self._tasks.produced(event.producer, event.production)
            case Woke():
                self._registration.wake(self._tasks)
                self._desk.alarms.wake(now)
                self._snapshots.wake()
                self._ending.wake()
            case Stopped(token, _, grace_ns):
                self._ending.ask(token, grace_ns)
            case (
                Synced() | Stored() | Executed() | Pulled() | Invoked() | Wanted() | Computed() | Posed() | Cancelled()
            ):
                return NOTHING
            case _:
                assert_never(event)
        if not self._desk.words:
            return NOTHING
        words, self._desk.words = self._desk.words, []
        return Step(words=tuple(words))

    def deadline(self) -> Instant:
        return min(
            self._registration.deadline(),
            self._desk.alarms.deadline(),
            self._snapshots.deadline(),
            self._ending.deadline(),
        )

    def view(self) -> WorkerView:
        registration = self._registration
        return WorkerView(
            registration.registered,
            self._tasks.current,
            registration.refused,
            registration.reported,
            registration.draining or registration.leaving,
            self._tasks.held,
            self._desk.cache,
        )

    def _answered(self, call: CallId, answer: m.Response | RpcError) -> None:
        made = self._desk.calls.close(call)
        if made is None:
            return
        # A dispatcher that came back with other credentials may be given the right ones: its workers wait.
        waits = self._registration.registered and not isinstance(made.request, m.WorkerHeartbeatRequest)
        if waits and isinstance(answer, RpcError) and answer.code in DISTRUST:
            answer = RpcError(Code.UNAVAILABLE, answer.message)
        made.about(answer)

    def _asked(self, call: CallId, request: m.Request) -> None:
        match request:
            case m.GetFramesRequest():
                if not self._tasks.get_frames(call, request):
                    self._unknown(call, request.task_id)
            case m.ProcessTaskRequest(task):
                self._tasks.add(task)
                self._desk.reply(call, m.ProcessTaskResponse())
            case m.GetElementRequest():
                if not self._tasks.get_element(call, request):
                    self._unknown(call, request.task_id)
            case m.GetWorkerTasksRequest():
                self._desk.reply(call, m.GetWorkerTasksResponse(self._tasks.describe()))
            case m.GetSnapshotTaskProgressesRequest():
                self._desk.reply(call, m.GetSnapshotTaskProgressesResponse(self._snapshots.progress))
            case _:
                self._desk.reply(call, RpcError(Code.UNIMPLEMENTED, "This is a worker; ask the dispatcher."))

    def _unknown(self, call: CallId, task_id: int) -> None:
        """A reader may be faster than the word of its task: it is told to ask again."""
        self._registration.hurry()
        self._desk.reply(call, RpcError(Code.UNAVAILABLE, f"Task {task_id} not found"))
