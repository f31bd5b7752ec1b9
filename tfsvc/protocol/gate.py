"""Durable before visible: the gate says nothing that a crash could make untrue."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tfsvc.protocol.contract import Append, Command, Event, Role, Snapshot, Synced, Word
from tfsvc.protocol.ids import Instant


class Gate:
    """Wraps a role: numbers its updates and holds every word until all updates so far are durable.

    A word waits for updates that came *before* it as well as its own, since a role answers from
    memory: a repeated request must not be told of a fact that is still on its way to the disk.
    Roles without updates (worker, client) pass through unchanged.

    Args:
      role: the machine to guard.
      recovered: how many updates the role was folded from; numbering goes on from there.
    """

    def __init__(self, role: Role, recovered: int = 0) -> None:
        self._role = role
        self._appended = recovered
        self._durable = recovered
        self._held: deque[tuple[int, Word]] = deque()

    @property
    def durable(self) -> int:
        return self._durable

    def handle(self, event: Event, now: Instant) -> Sequence[Command]:
        if isinstance(event, Synced):
            assert event.upto <= self._appended, "more was synced than was appended"
            if event.upto > self._durable:
                self._durable = event.upto
            return self._release([])
        step = self._role.handle(event, now)
        if not step.updates and self._durable == self._appended and not self._held:
            return step.words
        commands: list[Command] = []
        for update in step.updates:
            self._appended += 1
            commands.append(Append(self._appended, update))
        for word in step.words:
            self._held.append((self._appended, word))
        return self._release(commands)

    def deadline(self) -> Instant:
        return self._role.deadline()

    def view(self) -> Snapshot:
        return self._role.view()

    def _release(self, commands: list[Command]) -> list[Command]:
        while self._held and self._held[0][0] <= self._durable:
            commands.append(self._held.popleft()[1])
        return commands
