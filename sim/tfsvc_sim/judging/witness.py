"""The witness: an oracle beside every machine that nothing is said before it is durable."""

from __future__ import annotations

from collections import deque

from tfsvc.protocol.contract import Event, Role, Snapshot, Step, Word
from tfsvc.protocol.ids import Instant


class NotDurableError(AssertionError):
    """A word left a node while an update from before it could still be lost."""


class Witness:
    """Stands between a role and its gate, and remembers which updates each word depends on.

    Args:
      recovered: how many updates the role was folded from.
    """

    def __init__(self, role: Role, recovered: int) -> None:
        self._role = role
        self._updates = recovered
        self._said: deque[tuple[Word, int]] = deque()

    def handle(self, event: Event, now: Instant) -> Step:
        step = self._role.handle(event, now)
        self._updates += len(step.updates)
        for word in step.words:
            self._said.append((word, self._updates))
        return step

    def deadline(self) -> Instant:
        return self._role.deadline()

    def view(self) -> Snapshot:
        return self._role.view()

    def hears(self, word: Word, durable: int) -> None:
        """A word leaves the node while ``durable`` updates are safe.

        Raises:
          NotDurableError: if that is too few, or the word came out of turn.
        """
        expected, needs = self._said.popleft()
        if word is not expected:
            raise NotDurableError(f"{word!r} was said before {expected!r}")
        if durable < needs:
            raise NotDurableError(f"only {durable} of {needs} updates are durable, yet it says {word!r}")
