"""Questions to other tasks that are asked until they are answered."""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.protocol.calls import QUIET_NS, Backoff
from tfsvc.protocol.cluster.desk import Answer, Desk, Then
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.contract import Note
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.messages import Request


class Errand:
    """One question to one task, asked again after every failure that may pass.

    Args:
      give_up: when the last failure becomes the answer.
    """

    def __init__(self, desk: Desk, task: Task, request: Request, then: Then, give_up: Instant = NEVER) -> None:
        self._desk = desk
        self._task = task
        self._request = request
        self._then = then
        self._give_up = give_up
        self._began = desk.now
        self._told = False
        self._over = False
        self._backoff = Backoff(desk.luck.stream(f"errand/{desk.luck.bits()}"))
        self._ask()

    def drop(self) -> None:
        """The answer is not wanted any more."""
        self._over = True

    def _ask(self) -> None:
        if not self._over:
            self._desk.ask(self._task, self._request, self._answered)

    def _answered(self, answer: Answer) -> None:
        if self._over:
            return
        now = self._desk.now
        if isinstance(answer, RpcError) and answer.retriable and now < self._give_up:
            if not self._told and now >= self._began + QUIET_NS:
                self._told = True
                self._desk.say(Note("warning", f"{self._task} does not answer; still trying. {answer.message}"))
            self._desk.at(self._backoff.next(now), self._ask)
            return
        self._over = True
        self._then(answer)
