"""How a worker ends: it drains, takes its leave, and answers for a little while to those who ask in vain.

It is asked to by its own process, told to by a dispatcher that ends the whole service or dismisses this worker, or
finds that it has had nothing to do for long enough. While it drains it serves what it has and takes nothing new; the
dispatcher says when nothing is lost by its end.
"""

from __future__ import annotations

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.contract import Exit, Finish, Note
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.registration import Registration
from tfsvc.protocol.worker.snapshots import SnapshotStreams
from tfsvc.protocol.worker.tasks import Tasks


class Ending:
    """Brings a worker to its end."""

    def __init__(self, desk: Desk, registration: Registration, tasks: Tasks, snapshots: SnapshotStreams) -> None:
        self._desk = desk
        self._registration = registration
        self._tasks = tasks
        self._snapshots = snapshots
        self._token: int | None = None
        self._exits = False
        self._give_up: Instant = NEVER
        self._too_late = False
        self._quiet_until: Instant = NEVER
        self._over = False
        self._idle_since: Instant | None = None

    def ask(self, token: int, grace_ns: int) -> None:
        """Its process wants it to end, at once or within ``grace_ns``."""
        self._token = token
        if self._over:
            self._finish()
        elif grace_ns > 0 and self._registration.registered:
            self._give_up = self._desk.now + grace_ns
            self._drain()
        else:
            self._leave()

    def told(self, stop: bool, drained: bool) -> None:
        """What the dispatcher said in its last answer."""
        if stop and not self._registration.draining:
            self._desk.say(Note("info", "the dispatcher wants this worker to drain and to end"))
            self._exits = True
            self._drain()
        if drained and self._registration.draining:
            self._leave()

    def deadline(self) -> Instant:
        until = min(self._give_up, self._quiet_until)
        return until if self._idle_since is None else min(until, self._idle_until)

    def wake(self) -> None:
        self._look_whether_idle()
        now = self._desk.now
        if now >= self._give_up:
            self._too_late = True
            self._leave()
        elif now >= self._idle_until:
            self._desk.say(Note("info", "nothing to do: the worker ends"))
            self._exits = True
            self._leave()
        elif now >= self._quiet_until:
            self._finish()

    @property
    def _idle_until(self) -> Instant:
        limit_ns = self._desk.settings.idle_ns
        if limit_ns is None or self._idle_since is None or self._registration.leaving:
            return NEVER
        return self._idle_since + limit_ns

    def _look_whether_idle(self) -> None:
        busy = self._tasks.current or self._snapshots.progress or not self._registration.registered
        if busy:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = self._desk.now

    def _drain(self) -> None:
        self._tasks.drain()
        self._registration.drain()

    def _leave(self) -> None:
        self._give_up = NEVER
        if not self._registration.leaving:
            self._registration.leave(self._tasks, self._left)
            self._tasks.close()
            self._snapshots.close()

    def _left(self) -> None:
        quiet_ns = self._desk.settings.quiet_ns
        if quiet_ns:
            self._quiet_until = self._desk.now + quiet_ns
        else:
            self._finish()

    def _finish(self) -> None:
        self._over, self._quiet_until = True, NEVER
        if self._token is not None:
            late = RpcError(
                Code.DEADLINE_EXCEEDED, "the worker's time to drain was over before its readers had all it has"
            )
            self._desk.say(Finish(self._token, late if self._too_late else None))
        if self._exits:
            self._desk.say(Exit())
