"""The desk: what the parts of a cluster's server share — settings, calls, luck, time, and the words of a step."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from tfsvc.errors import RpcError
from tfsvc.protocol.calls import Calls
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.contract import Word
from tfsvc.protocol.ids import NEVER, SECOND, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.messages.cluster import SessionConfig
from tfsvc.record import record

Answer = Response | RpcError
Then = Callable[[Answer], None]
"""What to do with an answer."""


@record
class TaskSettings:
    """Who a server is, who its peers are, and how it treats them.

    Attributes:
      task: which member of the cluster it is.
      addresses: of all members, itself among them.
      defaults: of the sessions' configurations.
      call_timeout_ns: after how long an unanswered call to a peer is made again; 10 s.
      grace_ns: how long a call to a peer that cannot be reached is tried again where nothing waits for it; 10 s.
      orphan_ns: how long what nobody waits for any more goes on, in case its asker lost only the connection and asks
        again; 3 s.
      remembered: how many finished steps' answers a session keeps for a client that asks again; 64.
    """

    task: Task
    addresses: tuple[tuple[Task, str], ...]
    defaults: SessionConfig = SessionConfig()
    call_timeout_ns: int = 10 * SECOND
    grace_ns: int = 10 * SECOND
    orphan_ns: int = 3 * SECOND
    remembered: int = 64


@dataclass(slots=True)
class Desk:
    settings: TaskSettings
    incarnation: int
    luck: Luck
    calls: Calls[Then]
    local: Callable[[Request, Then], None]
    """Asks the worker of this very task, without a call."""
    now: Instant = 0
    words: list[Word] = field(default_factory=list)
    addresses: dict[Task, str] = field(default_factory=dict)
    _timers: list[tuple[Instant, int, Callable[[], None]]] = field(default_factory=list)
    _numbers: int = 0

    def say(self, word: Word) -> None:
        self.words.append(word)

    def ask(self, task: Task, request: Request, then: Then, timeout_ns: int | None = None) -> None:
        """Asks a task's worker, this one's among them."""
        if task == self.settings.task:
            self.local(request, then)
            return
        timeout_ns = self.settings.call_timeout_ns if timeout_ns is None else timeout_ns
        self.words.append(self.calls.make(self.addresses[task], request, then, timeout_ns))

    def at(self, when: Instant, do: Callable[[], None]) -> None:
        """Does something at or after ``when``, unless this life ends before."""
        self._numbers += 1
        heapq.heappush(self._timers, (when, self._numbers, do))

    def deadline(self) -> Instant:
        return self._timers[0][0] if self._timers else NEVER

    def wake(self) -> None:
        """Does what is due."""
        while self._timers and self._timers[0][0] <= self.now:
            heapq.heappop(self._timers)[2]()
