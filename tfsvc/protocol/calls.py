"""Calls in flight: names for them, and when to ask again."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from tfsvc.protocol.contract import Call
from tfsvc.protocol.ids import MILLISECOND, Address, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request
from tfsvc.record import record

T = TypeVar("T")

BACKOFF_NS_MIN: Final = 10 * MILLISECOND
BACKOFF_NS_MAX: Final = 1000 * MILLISECOND
QUIET_NS: Final = 2000 * MILLISECOND
"""How long a peer may be silent before people are told that it is waited for."""


@record
class InFlight(Generic[T]):
    """A call that was made: what was asked, and what the caller meant by it."""

    peer: str
    request: Request
    about: T


class Calls(Generic[T]):
    """The calls of one life of a node; an answer to any other is ignored.

    Args:
      node: the node's name.
      incarnation: which life of it.
    """

    def __init__(self, node: str, incarnation: int) -> None:
        self._node = node
        self._incarnation = incarnation
        self._seq = 0
        self._open: dict[CallId, InFlight[T]] = {}

    def make(self, peer: str, request: Request, about: T, timeout_ns: int) -> Call:
        """A new call; ``about`` comes back with its answer."""
        self._seq += 1
        name = CallId(self._node, self._incarnation, self._seq)
        self._open[name] = InFlight(peer, request, about)
        return Call(name, Address(peer), request, timeout_ns)

    def close(self, name: CallId) -> InFlight[T] | None:
        """What an answered call was about; ``None`` for a call of another life or a second answer."""
        return self._open.pop(name, None)

    def __len__(self) -> int:
        return len(self._open)


class Backoff:
    """When to try again: a wait that doubles from 10 ms to 1 s, with up to 40 % taken off by luck."""

    def __init__(self, luck: Luck) -> None:
        self._luck = luck
        self.failures = 0

    def next(self, now: Instant) -> Instant:
        wait = min(BACKOFF_NS_MIN << min(self.failures, 10), BACKOFF_NS_MAX)
        self.failures += 1
        return now + int(wait * (0.6 + 0.4 * self._luck.unit()))

    def reset(self) -> None:
        self.failures = 0
