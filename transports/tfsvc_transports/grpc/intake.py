"""Taking calls in: none too many, too large or too slow.

gRPC would wait for the message of a call for as long as its peer likes. Here the wait has an end, and one machine can
have only so many messages under way, each of which takes memory. Calls that are made together have messages that come
together, so one that is too many waits a moment for its turn before it is refused.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import grpc

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND, Instant
from tfsvc.protocol.messages import cluster as c
from tfsvc.service.security import Limits
from tfsvc_transports import timers
from tfsvc_transports.grpc.threadless import Came

BULK: Final[frozenset[type]] = frozenset(
    {
        m.CallRequest,
        m.GetOrRegisterDatasetRequest,
        m.ProcessTaskRequest,
        m.SnapshotRequest,
        c.CreateSessionRequest,
        c.ExtendSessionRequest,
        c.RegisterGraphRequest,
        c.RunGraphRequest,
        c.RunStepRequest,
        c.MakeCallableRequest,
        c.RunCallableRequest,
    }
)
"""Requests that hold datasets, graphs or tensors."""
SMALL_BYTES_MAX: Final = 16 << 20
"""Of any other request; read as numbers, its bytes may take many times the memory."""
WAITS_MAX: Final = 64
"""How many messages of one machine may be under way at once."""
TURN_NS: Final = 1 * SECOND
"""How long a further call of that machine waits for one of them to come."""
MACHINES_MAX: Final = 4096
"""How many machines' paces are remembered: those that asked last."""
SWEEP_NS: Final = 1 * SECOND

_TOO_MANY: Final = (
    "{what} of this machine, which is as much as this server takes; the call did not run. Call again later, or raise "
    "Limits.calls_per_second of the server."
)


class Pace:
    """Token buckets: each key may go at ``rate`` a second, and after a rest be a second's worth ahead.

    Args:
      rate: a second; 0 for no limit.
      clock: nanoseconds that only grow.
    """

    def __init__(self, rate: int, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._each = SECOND // rate if rate else 0
        self._clock = clock
        self._used: OrderedDict[str, Instant] = OrderedDict()
        """Until when each key has used up its share, a second ago at the earliest."""

    def allows(self, key: str) -> bool:
        """Whether ``key`` may go now, which then counts."""
        if not self._each:
            return True
        now = self._clock()
        used = max(self._used.get(key, 0), now - SECOND) + self._each
        if used > now:
            return False
        self._used[key] = used
        self._used.move_to_end(key)
        if len(self._used) > MACHINES_MAX:
            self._used.popitem(last=False)
        return True


@dataclass(frozen=True, slots=True)
class Later:
    """A call that did not run, and may be made again later; ``text`` says why."""

    text: str


Received = bytes | RpcError | Later | None
"""The message of a call; or why there is none: it is wrong, it is one too many, or its call has ended."""

Receive = Callable[[grpc.ServicerContext, Iterator[bytes], Came], None]
"""Has the message of a call brought to a function; see ``threadless.receive``."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A call that comes in."""

    kind: type
    machine: str
    context: grpc.ServicerContext
    messages: Iterator[bytes]
    take: Callable[[Received], None]


class Intake:
    """Receives the messages of a server's calls. Any thread may use it, and none waits in it."""

    def __init__(self, limits: Limits, receive: Receive) -> None:
        self._limits = limits
        self._receive = receive
        self._lock = threading.Lock()
        self._pace = Pace(limits.calls_per_second)
        self._waits: Counter[str] = Counter()
        self._turns: dict[str, dict[_Call, None]] = {}
        """Calls of each machine that wait for their turn, the first first."""
        self._since: dict[_Call, Instant] = {}
        self._watching = False

    def receive(
        self,
        kind: type,
        peer: str,
        context: grpc.ServicerContext,
        messages: Iterator[bytes],
        take: Callable[[Received], None],
    ) -> None:
        """Has ``take`` called once the message of a call of ``peer`` is there, or will not be."""
        call = _Call(kind, peer.rpartition(":")[0], context, messages, take)
        with self._lock:
            if self._waits[call.machine] >= WAITS_MAX:
                self._turns.setdefault(call.machine, {})[call] = None
                timers.at(time.monotonic_ns() + TURN_NS, partial(self._give_up, call))
                return
            let_in = self._let_in(call)
        self._begin(call, let_in)

    def _let_in(self, call: _Call) -> bool:
        """Whether a machine does not go too fast; the message of its call is awaited then."""
        if not self._pace.allows(call.machine):
            return False
        self._waits[call.machine] += 1
        self._since[call] = time.monotonic_ns()
        if not self._watching:
            self._watch()
        return True

    def _begin(self, call: _Call, let_in: bool) -> None:
        if let_in:
            self._receive(call.context, call.messages, partial(self._came, call))
        else:
            call.take(Later(_TOO_MANY.format(what=f"{self._limits.calls_per_second} calls came within a second")))

    def _came(self, call: _Call, data: bytes | RpcError | None) -> None:
        with self._lock:
            del self._since[call]
            self._waits[call.machine] -= 1
            following = self._next_turns(call.machine)
            if not self._waits[call.machine]:
                del self._waits[call.machine]
        for other, let_in in following:
            self._begin(other, let_in)
        if isinstance(data, bytes) and call.kind not in BULK and len(data) > SMALL_BYTES_MAX:
            text = f"a {call.kind.__name__} has {SMALL_BYTES_MAX} bytes at the most, and this one {len(data)}"
            data = RpcError(Code.RESOURCE_EXHAUSTED, text)
        call.take(data)

    def _next_turns(self, machine: str) -> list[tuple[_Call, bool]]:
        """Whose turn it is now, and whether they are let in."""
        turns, found = self._turns.get(machine), []
        while turns and self._waits[machine] < WAITS_MAX:
            call = next(iter(turns))
            del turns[call]
            found.append((call, self._let_in(call)))
        if turns is not None and not turns:
            del self._turns[machine]
        return found

    def _give_up(self, call: _Call) -> None:
        """Refuses a call whose turn has not come."""
        with self._lock:
            turns = self._turns.get(call.machine, {})
            if call not in turns:
                return
            del turns[call]
            if not turns:
                del self._turns[call.machine]
        call.take(Later(_TOO_MANY.format(what=f"the messages of {WAITS_MAX} calls are awaited")))

    def _watch(self) -> None:
        self._watching = True
        timers.at(time.monotonic_ns() + SWEEP_NS, self._sweep)

    def _sweep(self) -> None:
        """Ends calls whose messages have not come in time."""
        oldest = time.monotonic_ns() - self._limits.message_s * SECOND
        with self._lock:
            late = [call.context for call, since in self._since.items() if since <= oldest]
            self._watching = False
            if len(self._since) > len(late):
                self._watch()
        for context in late:
            context.cancel()  # type: ignore[no-untyped-call]
