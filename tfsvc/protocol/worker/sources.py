"""Split sources: leases in groups for our own readers, single splits for TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff
from tfsvc.protocol.dealing import deal
from tfsvc.protocol.ids import MILLISECOND, NEVER, Instant
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPlan, SplitPosition
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.producer import Producer

FIRST_GROUP: Final = 16
"""How many splits a lane asks for at first."""
GROUP_MAX: Final = 1 << 16
SHORT_NS: Final = 100 * MILLISECOND
LONG_NS: Final = 500 * MILLISECOND
"""A group that was read in less than SHORT is followed by a larger one, one that took LONG by a smaller."""


class _Retries:
    """Requests to make again, one per provider, with one backoff for all."""

    def __init__(self, desk: Desk, producer: Producer, request: Callable[[int, SplitPosition], None]) -> None:
        self._desk = desk
        self._producer = producer
        self._request = request
        self._backoff = Backoff(desk.luck.stream("splits"))
        self._due: dict[int, tuple[Instant, SplitPosition]] = {}
        self._since: Instant | None = None

    def succeeded(self) -> None:
        self._backoff.reset()
        self._since = None

    def failed(self, provider: int, at: SplitPosition) -> bool:
        """Plans another try; false when the dispatcher has been silent for too long."""
        now = self._desk.now
        self._since = now if self._since is None else self._since
        if now - self._since >= self._desk.settings.dispatcher_timeout_ns:
            return False
        self._due[provider] = self._backoff.next(now), at
        self._desk.alarms.set(self._producer)
        return True

    def waiting(self, provider: int) -> bool:
        return provider in self._due

    def deadline(self) -> Instant:
        return min((due for due, _ in self._due.values()), default=NEVER)

    def wake(self) -> None:
        for provider, (due, at) in tuple(self._due.items()):
            if due <= self._desk.now:
                del self._due[provider]
                self._request(provider, at)


class LaneSource:
    """Leases a lane's splits in groups, the next group before the last one is used up.

    A group holds what the pipeline reads in some tenths of a second, so that what other workers could
    have done is never far more than that.

    Args:
      refused: called when the lane has moved on without this worker.
      ahead: whether more is leased than the pipeline waits for.
    """

    def __init__(
        self,
        desk: Desk,
        lane_id: int,
        attempt: int,
        producer: Producer,
        refused: Callable[[RpcError], None],
        ahead: bool = True,
    ) -> None:
        self._ahead = ahead
        self._desk = desk
        self._lane_id = lane_id
        self._attempt = attempt
        self._producer = producer
        self._refused = refused
        self._end: dict[tuple[int, int], int] = {}
        self._ended: dict[tuple[int, int], None] = {}
        self._asking: dict[int, SplitPosition] = {}
        self._wanted: dict[int, int] = {}
        self._granted: dict[int, int] = {}
        self._asked_at: dict[int, Instant] = {}
        self._reported = 0
        self._retries = _Retries(desk, producer, self._ask)

    def start(self, leases: tuple[Lease, ...]) -> None:
        """Takes the leases that came with the lane."""
        for lease in leases:
            self._asked_at[lease.provider] = self._desk.now
            self._note(lease)
        self._producer.feed(*leases)

    def want(self, provider: int, at: SplitPosition) -> None:
        if self._end.get((provider, at.repetition), 0) <= at.offset:
            self._request(provider, at)

    def watch(self, positions: tuple[SplitPosition, ...]) -> None:
        for provider, (repetition, offset) in enumerate(positions):
            end = self._end.get((provider, repetition))
            if self._ahead and end is not None and end - offset <= self._group(provider) // 2:
                self._request(provider, SplitPosition(repetition, end))

    def deadline(self) -> Instant:
        return self._retries.deadline()

    def wake(self) -> None:
        self._retries.wake()

    def _group(self, provider: int) -> int:
        """How many splits come at a time: fewer than are wanted where the dispatcher has to share the last of them."""
        return min(self._wanted.get(provider, FIRST_GROUP), self._granted.get(provider, FIRST_GROUP))

    def _request(self, provider: int, at: SplitPosition) -> None:
        if provider in self._asking or self._retries.waiting(provider) or (provider, at.repetition) in self._ended:
            return
        self._resize(provider)
        self._ask(provider, at)

    def _resize(self, provider: int) -> None:
        now = self._desk.now
        wanted = self._wanted.get(provider, FIRST_GROUP)
        # Where fewer came than were wanted, all would have taken as much longer.
        granted = self._granted.get(provider) or wanted
        took = (now - self._asked_at.get(provider, now)) * wanted // granted
        if not self._ahead:
            wanted = 1
        elif took < SHORT_NS:
            wanted = min(wanted * 4, GROUP_MAX)
        elif took > LONG_NS:
            wanted = max(wanted // 2, 1)
        self._wanted[provider] = wanted
        self._asked_at[provider] = now

    def _ask(self, provider: int, at: SplitPosition) -> None:
        self._asking[provider] = at
        checkpoint = self._producer.checkpoint
        news = checkpoint if checkpoint is not None and checkpoint.ordinal > self._reported else None
        wanted = self._wanted.get(provider, FIRST_GROUP)
        request = m.LeaseSplitsRequest(self._lane_id, self._attempt, provider, at, wanted, news)
        self._desk.ask_dispatcher(request, lambda answer: self._answered(provider, at, news, answer))

    def _answered(
        self, provider: int, at: SplitPosition, news: Checkpoint | None, answer: m.Response | RpcError
    ) -> None:
        del self._asking[provider]
        match answer:
            case m.LeaseSplitsResponse(lease):
                self._retries.succeeded()
                if news is not None:
                    self._reported = max(self._reported, news.ordinal)
                self._take(lease)
            case RpcError(code=Code.FAILED_PRECONDITION) as error:
                self._refused(error)
            case RpcError() as error if error.retriable:
                if not self._retries.failed(provider, at):
                    self._producer.fail(error.prefixed("The dispatcher gave no splits"))
            case RpcError() as error:
                self._producer.fail(error)
            case _:
                raise AssertionError(answer)

    def _take(self, lease: Lease) -> None:
        if lease.spans or lease.ended:
            self._note(lease)
            self._producer.feed(lease)
        else:
            self._retries.failed(lease.provider, lease.at)

    def _note(self, lease: Lease) -> None:
        """How far the lane's splits reach now."""
        key = lease.provider, lease.at.repetition
        self._granted[lease.provider] = lease.size
        self._end[key] = lease.end
        if lease.ended:
            self._ended[key] = None


class DealtSource:
    """Feeds an ordered lane the splits that it was dealt, a block whenever the pipeline is hungry.

    So what a pipeline gives between two blocks is a function of the blocks before, and never of time.
    """

    def __init__(self, plans: tuple[SplitPlan, ...], order: m.OrderDef, index: int, producer: Producer) -> None:
        self._plans = plans
        self._order = order
        self._index = index
        self._producer = producer

    def want(self, provider: int, at: SplitPosition) -> None:
        lease, begins = deal(self._plans[provider], self._order, self._index, provider, at)
        self._producer.run += begins
        self._producer.feed(lease)

    def watch(self, positions: tuple[SplitPosition, ...]) -> None:
        pass

    def deadline(self) -> Instant:
        return NEVER

    def wake(self) -> None:
        pass


class SingleSplits:
    """Fetches one split at a time with TensorFlow's ``GetSplit``."""

    def __init__(self, desk: Desk, iteration_id: int, plans: tuple[SplitPlan, ...], producer: Producer) -> None:
        self._desk = desk
        self._iteration_id = iteration_id
        self._plans = plans
        self._producer = producer
        self._retries = _Retries(desk, producer, self._ask)

    def want(self, provider: int, at: SplitPosition) -> None:
        self._ask(provider, at)

    def watch(self, positions: tuple[SplitPosition, ...]) -> None:
        pass

    def deadline(self) -> Instant:
        return self._retries.deadline()

    def wake(self) -> None:
        self._retries.wake()

    def _ask(self, provider: int, at: SplitPosition) -> None:
        request = m.GetSplitRequest(self._iteration_id, at.repetition, provider)
        self._desk.ask_dispatcher(request, lambda answer: self._answered(provider, at, answer))

    def _answered(self, provider: int, at: SplitPosition, answer: m.Response | RpcError) -> None:
        match answer:
            case m.GetSplitResponse(split=None):
                self._retries.succeeded()
                self._producer.feed(Lease(provider, at, (), True))
            case m.GetSplitResponse(split=int(value)):
                self._retries.succeeded()
                plan = self._plans[provider]
                position = (value - plan.start) // plan.step
                self._producer.feed(Lease(provider, at, (Span(position, position + 1),), False))
            case RpcError() as error:
                if not error.retriable or not self._retries.failed(provider, at):
                    self._producer.fail(error.prefixed("The dispatcher gave no splits"))
            case _:
                raise AssertionError(answer)
