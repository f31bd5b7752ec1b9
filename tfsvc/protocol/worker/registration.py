"""Registration: heartbeats to the dispatcher, and word of the tasks that are done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfsvc.errors import DISTRUST, Code, Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import QUIET_NS, Backoff
from tfsvc.protocol.contract import Exit, Note
from tfsvc.protocol.ids import MILLISECOND, NEVER, SECOND, Instant
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.snapshots import SnapshotStreams
from tfsvc.protocol.worker.tasks import Tasks

SOON_NS: Final = 20 * MILLISECOND
"""The least time between two heartbeats that a reader's question for an unknown task brings about."""
DRAINING_NS: Final = 200 * MILLISECOND
"""The most time between two heartbeats of a worker that drains, which waits to hear that it may go."""
LEAVE_NS: Final = SECOND
"""How long a worker that ends waits for the dispatcher to know."""


class Registration:
    """Keeps the dispatcher informed, and the worker's tasks as the dispatcher says.

    Args:
      told: called with what the dispatcher says of the worker's end: whether the service ends, and whether the worker
        may go.
    """

    def __init__(self, desk: Desk, snapshots: SnapshotStreams, told: Callable[[bool, bool], None]) -> None:
        self._snapshots = snapshots
        self._told_end = told
        self.draining = False
        self.registered = False
        self.reported = False
        self.refused: RpcError | None = None
        self.leaving = False
        self._left: Callable[[], None] = lambda: None
        self._desk = desk
        self._beating = False
        self._interval_ns = desk.settings.heartbeat_ns
        self._next: Instant = 0
        self._sent: Instant = 0
        self._backoff = Backoff(desk.luck.stream("heartbeat"))
        self._updating = False
        self._done: dict[int, None] = {}
        self._silent_since: Instant | None = None
        self._update_at: Instant = NEVER
        self._update_backoff = Backoff(desk.luck.stream("update"))

    def completed(self, task_id: int) -> None:
        """A task has given all it had."""
        if task_id not in self._done:
            self._done[task_id] = None
            self._update()

    def hurry(self) -> None:
        """Asks for news before the next heartbeat is due."""
        self._next = min(self._next, max(self._desk.now, self._sent + SOON_NS))

    def drain(self) -> None:
        """From now on the worker waits to hear that it may go."""
        self.draining = True
        self.hurry()

    def deadline(self) -> Instant:
        return self._update_at if self._beating or self.refused or self.leaving else min(self._next, self._update_at)

    def wake(self, tasks: Tasks) -> None:
        if self._next <= self._desk.now and not (self._beating or self.refused or self.leaving):
            self.beat(tasks)
        if self._update_at <= self._desk.now:
            self._update()

    def beat(self, tasks: Tasks) -> None:
        self._beating = True
        self._sent = self._desk.now
        self._desk.ask_dispatcher(self._report(tasks), lambda answer: self._heard(tasks, answer))

    def leave(self, tasks: Tasks, then: Callable[[], None]) -> None:
        """Tells the dispatcher that the worker ends, so that its lanes move at once."""
        if not (self.registered or self._beating) or self.refused is not None:
            then()
            return
        self.leaving = True
        self._left = then
        if not self._beating:
            self._take_leave(tasks)

    def _take_leave(self, tasks: Tasks) -> None:
        # Not beside another heartbeat, which could arrive behind this one and bring the worker back.
        self._desk.ask_dispatcher(self._report(tasks), lambda _: self._left(), LEAVE_NS)

    def _report(self, tasks: Tasks) -> m.WorkerHeartbeatRequest:
        settings = self._desk.settings
        return m.WorkerHeartbeatRequest(
            worker_address=settings.address,
            transfer_servers=settings.transfer_servers,
            worker_tags=settings.tags,
            worker_uid=-1,
            current_tasks=tasks.current,
            active_tasks=tasks.active(),
            incarnation=self._desk.incarnation,
            interval_ns=self._interval_ns,
            leaving=self.leaving or self._deaf,
            draining=self.draining,
            snapshot_task_progress=self._snapshots.progress,
        )

    @property
    def _deaf(self) -> bool:
        """Whether the dispatcher has not been heard for so long that others should have this worker's work."""
        since = self._silent_since
        return since is not None and self._desk.now - since >= self._desk.settings.deaf_ns

    def _heard(self, tasks: Tasks, answer: m.Response | RpcError) -> None:
        self._beating = False
        self.reported = True
        if self.leaving:
            if self.registered or not isinstance(answer, RpcError) or answer.outcome is Outcome.UNKNOWN:
                self._take_leave(tasks)
            else:
                self._left()
            return
        now = self._desk.now
        match answer:
            case m.WorkerHeartbeatResponse(new_tasks, tasks_to_delete, snapshot_tasks, drained, stop, slower_ns):
                self._backoff.reset()
                self._silent_since = None
                self._interval_ns = max(self._desk.settings.heartbeat_ns, slower_ns)
                self._next = self._sent + (min(self._interval_ns, DRAINING_NS) if self.draining else self._interval_ns)
                self.registered = True
                self._snapshots.match(snapshot_tasks)
                for task_id in tasks_to_delete:
                    tasks.delete(task_id)
                    self._done.pop(task_id, None)
                for definition in new_tasks:
                    tasks.add(definition)
                self._told_end(stop, drained)
            case RpcError(code=code) as error if code is Code.FAILED_PRECONDITION or (
                code in DISTRUST and not self.registered
            ):
                self.refused = error
                self._desk.say(Note("error", f"the dispatcher does not take this worker: {error.message}"))
                self._desk.say(Exit(error.prefixed("the dispatcher does not take this worker")))
            case RpcError() as error:
                self._next = min(self._backoff.next(now), now + self._desk.settings.heartbeat_ns)
                self._silent_since = now if self._silent_since is None else self._silent_since
                distrusted = error.code in DISTRUST
                if distrusted or now - self._silent_since >= QUIET_NS:
                    what = "refuses this worker, which it took before" if distrusted else "does not answer"
                    address = self._desk.settings.dispatcher
                    text = f"the dispatcher at {address} {what}; still trying: {error.message}"
                    self._desk.say(Note("error" if distrusted else "warning", text))
            case _:
                raise AssertionError(answer)

    def _update(self) -> None:
        self._update_at = NEVER
        if self._updating or not self._done:
            return
        self._updating = True
        told = tuple(self._done)
        updates = tuple(m.TaskProgress(task_id, True) for task_id in told)
        request = m.WorkerUpdateRequest(self._desk.settings.address, updates)
        self._desk.ask_dispatcher(request, lambda answer: self._told(told, answer))

    def _told(self, told: tuple[int, ...], answer: m.Response | RpcError) -> None:
        self._updating = False
        if isinstance(answer, RpcError) and answer.code != Code.NOT_FOUND:
            self._update_at = self._update_backoff.next(self._desk.now)
            return
        self._update_backoff.reset()
        for task_id in told:
            self._done.pop(task_id, None)
        self._update()
