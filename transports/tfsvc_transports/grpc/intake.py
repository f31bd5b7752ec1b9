"""Taking calls in: none too many, too large or too slow.

gRPC would wait for the message of a call on a thread, for as long as its peer likes. Here the wait has an end, and one
machine can have only so many threads wait for it. Calls that are made together have messages that come together, so
one that is too many waits a moment for its turn before it is refused.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import grpc

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND, Instant
from tfsvc.protocol.messages import cluster as c
from tfsvc.service.security import Limits
from tfsvc_transports import timers

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
TURN_S: Final = 1.0
"""How long a further call of that machine waits for one of them to come."""
TURNS_MAX: Final = 48
"""How many do; each takes a thread of the server's."""
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


class Intake:
    """Receives the messages of a server's calls. Any thread may use it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._came = threading.Condition(self._lock)
        self._pace = Pace(limits.calls_per_second)
        self._waits: Counter[str] = Counter()
        self._turns: Counter[str] = Counter()
        self._since: dict[grpc.ServicerContext, Instant] = {}
        self._watching = False

    def receive(
        self, kind: type, context: grpc.ServicerContext, messages: Iterator[bytes]
    ) -> bytes | RpcError | Later | None:
        """The message of a call; or why there is none: it is wrong, it is one too many, or its call has ended."""
        machine = context.peer().rpartition(":")[0]
        with self._lock:
            refusal = self._refusal(machine)
            if refusal is not None:
                return Later(refusal)
            self._waits[machine] += 1
            self._since[context] = time.monotonic_ns()
            if not self._watching:
                self._watch()
        try:
            data = next(messages)
        except StopIteration:
            return RpcError(Code.INVALID_ARGUMENT, "the call has no message")
        except grpc.RpcError:
            return None
        finally:
            with self._lock:
                del self._since[context]
                self._waits[machine] -= 1
                if not self._waits[machine]:
                    del self._waits[machine]
                if self._turns[machine]:
                    self._came.notify_all()
        if kind not in BULK and len(data) > SMALL_BYTES_MAX:
            return RpcError(
                Code.RESOURCE_EXHAUSTED,
                f"a {kind.__name__} has {SMALL_BYTES_MAX} bytes at the most, and this one {len(data)}",
            )
        return data

    def _refusal(self, machine: str) -> str | None:
        if not self._gets_turn(machine):
            return _TOO_MANY.format(what=f"the messages of {WAITS_MAX} calls are awaited")
        if not self._pace.allows(machine):
            return _TOO_MANY.format(what=f"{self._limits.calls_per_second} calls came within a second")
        return None

    def _gets_turn(self, machine: str) -> bool:
        """Whether fewer messages of a machine are awaited than may be, within a moment."""
        if self._waits[machine] < WAITS_MAX:
            return True
        if self._turns[machine] >= TURNS_MAX:
            return False
        self._turns[machine] += 1
        try:
            return self._came.wait_for(lambda: self._waits[machine] < WAITS_MAX, TURN_S)
        finally:
            self._turns[machine] -= 1
            if not self._turns[machine]:
                del self._turns[machine]

    def _watch(self) -> None:
        self._watching = True
        timers.at(time.monotonic_ns() + SWEEP_NS, self._sweep)

    def _sweep(self) -> None:
        """Ends calls whose messages have not come in time."""
        oldest = time.monotonic_ns() - self._limits.message_s * SECOND
        with self._lock:
            late = [context for context, since in self._since.items() if since <= oldest]
            self._watching = False
            if len(self._since) > len(late):
                self._watch()
        for context in late:
            context.cancel()  # type: ignore[no-untyped-call]
