"""The worker's desk: what its parts share — settings, calls, luck, the time, and the words of this step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfsvc.errors import RpcError
from tfsvc.protocol.calls import Calls
from tfsvc.protocol.contract import Reply, Word
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.settings import WorkerSettings
from tfsvc.protocol.worker.alarms import Alarms
from tfsvc.record import record

if TYPE_CHECKING:
    from tfsvc.protocol.worker.producer import Producer

Then = Callable[[Response | RpcError], None]
"""What to do with the answer to a call."""


@record
class CacheTally:
    """What trainers' caches came to: elements that were there, that were made for a read, that no read came for."""

    hits: int = 0
    misses: int = 0
    evicted_unread: int = 0


@dataclass(slots=True)
class Desk:
    settings: WorkerSettings
    incarnation: int
    luck: Luck
    calls: Calls[Then]
    now: Instant = 0
    words: list[Word] = field(default_factory=list)
    alarms: Alarms = field(default_factory=Alarms)
    running: dict[int, Producer] = field(default_factory=dict)
    """The pipelines whose output is still waited for."""
    producers: int = 0
    """How many pipelines this life has started."""
    cache: CacheTally = CacheTally()

    def say(self, word: Word) -> None:
        self.words.append(word)

    def reply(self, call: CallId, answer: Response | RpcError) -> None:
        self.words.append(Reply(call, answer))

    def ask_dispatcher(self, request: Request, then: Then, timeout_ns: int | None = None) -> None:
        settings = self.settings
        timeout_ns = settings.call_timeout_ns if timeout_ns is None else timeout_ns
        self.words.append(self.calls.make(settings.dispatcher, request, then, timeout_ns))

    def new_producer(self) -> int:
        self.producers += 1
        return self.producers
