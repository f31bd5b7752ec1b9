"""Coordinated reads: rounds in which each consumer gets one element of the same worker, at the same time.

As TensorFlow's round-robin runner, whose readers wait for ever; ours may say for how long, and their data may end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import MILLISECOND, NEVER, SECOND, CallId, Instant
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.producer import Producer
from tfsvc.protocol.worker.single import single_producer
from tfsvc.record import record

SKIP_NS: Final = 100 * MILLISECOND
"""How long a round waits for its elements before all of its consumers go on to another worker."""

Answer = m.GetElementResponse | RpcError


@record
class _Asking:
    call: CallId
    request: m.GetElementRequest
    since: Instant


class RoundStream:
    """The rounds of one task.

    Args:
      completed: called once, when all consumers were told of the end.
    """

    def __init__(self, desk: Desk, task: m.TaskDef, completed: Callable[[], None]) -> None:
        assert task.num_consumers is not None
        self._desk = desk
        self._completed = completed
        self._consumers = task.num_consumers
        self._rounds: dict[int, dict[int, _Asking]] = {}
        self._begun: int | None = None
        self._skip_at: Instant = NEVER
        self._last = -1
        self._gave_up: dict[int, dict[int, None]] = {}
        """Who asked for a round that has not begun, and waits no more."""
        self._foreign = False
        self._given: dict[tuple[int, int], m.GetElementResponse] = {}
        self._broken: RpcError | None = None
        self.producer: Producer = single_producer(desk, task, self._changed)
        self.producer.pump()

    def read(self, call: CallId, request: m.GetElementRequest) -> None:
        consumer, number = request.consumer_index, request.round_index
        self._foreign = self._foreign or not request.client_id
        if consumer is None or number is None or not 0 <= consumer < self._consumers or number < 0:
            self._desk.reply(call, _refused(f"consumer {consumer} of {self._consumers} asked for round {number}"))
        elif self._broken is not None:
            self._desk.reply(call, self._broken)
        elif number <= self._last:
            self._desk.reply(call, self._passed(request, consumer, number))
        else:
            asking = self._rounds.setdefault(number, {})
            since = asking[consumer].since if consumer in asking else self._desk.now
            asking[consumer] = _Asking(call, request, since)
            self._desk.alarms.set(self)
            self._begin(request.allow_skip)
            self._changed()

    def close(self, error: RpcError) -> None:
        """Consumers ask again in vain, until they have agreed with the dispatcher to go on without this worker."""
        self._broken = RpcError(Code.CANCELLED, "Worker is shutting down.")
        self._refuse_all(RpcError(Code.UNAVAILABLE, error.message))
        self.producer.discard()

    def end_early(self) -> None:
        """What has no end of its own ends with this round; TensorFlow's consumers would not take it for an end.

        What is there for later rounds is left out, since it may be a thousand rounds, and is nobody's in particular.
        """
        if not self._foreign:
            self.producer.finish(kept=self._consumers if self._begun is not None else 0)

    def deadline(self) -> Instant:
        late = (a.since + a.request.patience_ns for a in self._waiting() if a.request.patience_ns)
        return min(self._skip_at, min(late, default=NEVER))

    def wake(self) -> None:
        if self._begun is not None and self._skip_at <= self._desk.now:
            self._answer({consumer: m.GetElementResponse(skip_task=True) for consumer in range(self._consumers)})
        for number, asking in tuple(self._rounds.items()):
            if number != self._begun:
                self._give_up(number, asking)

    def _waiting(self) -> list[_Asking]:
        return [a for number, asking in self._rounds.items() if number != self._begun for a in asking.values()]

    def _begin(self, allow_skip: bool) -> None:
        """A round begins when its last consumer has asked for it."""
        if self._begun is not None:
            return
        for number, asking in self._rounds.items():
            if len(asking) == self._consumers:
                self._begun = number
                self._skip_at = self._desk.now + SKIP_NS if allow_skip else NEVER
                self._desk.alarms.set(self)
                return
        self._begin_in_part()

    def _begin_in_part(self) -> None:
        """In a task's first round, consumers that came one round later have done without it."""
        first = min(self._rounds)
        here, next_ = self._rounds[first], self._rounds.get(first + 1, {})
        if self._last >= 0 or not next_ or here.keys() & next_.keys() or len(here) + len(next_) < self._consumers:
            return
        self._begun = first
        if any(asking.request.skipped_previous_round for asking in next_.values()):
            self._answer({consumer: m.GetElementResponse(skip_task=True) for consumer in here})

    def _changed(self) -> None:
        """Serves the round that has begun, if its elements are there."""
        if self._begun is None or self._broken is not None:
            return
        frames = self.producer.frames
        failed = next((frame.error for frame in frames if frame.error is not None), None)
        if failed is not None:
            self._break(failed)
        elif len(frames) >= self._consumers:
            taken = [self.producer.take() for _ in range(self._consumers)]
            self.producer.pump()
            self._answer(
                {i: m.GetElementResponse(bytes(frame.body), frame.start) for i, frame in enumerate(taken) if frame}
            )
        elif self.producer.ended:
            self._end()

    def _end(self) -> None:
        """Fewer elements are left than there are consumers: nobody gets one."""
        assert self._begun is not None
        if all(asking.request.client_id for asking in self._rounds[self._begun].values()):
            self._answer({consumer: m.GetElementResponse(end_of_sequence=True) for consumer in range(self._consumers)})
            self._completed()
        else:
            self._break(
                _refused(
                    "Encountered end of sequence on a round-robin read iterator. Please ensure that "
                    "the dataset has infinite cardinality."
                )
            )

    def _answer(self, answers: dict[int, m.GetElementResponse]) -> None:
        assert self._begun is not None
        asking = self._rounds.pop(self._begun)
        for consumer, who in asking.items():
            self._desk.reply(who.call, answers[consumer])
        self._given = {
            (who.request.client_id, consumer): answers[consumer]
            for consumer, who in asking.items()
            if who.request.client_id
        }
        self._last, self._begun, self._skip_at = self._begun, None, NEVER
        self._gave_up = {number: known for number, known in self._gave_up.items() if number > self._last}
        for number in [number for number in self._rounds if number < self._last]:
            for who in self._rounds.pop(number).values():
                self._desk.reply(who.call, self._passed(who.request, -1, number))
        if self._rounds:
            newest = max(self._waiting(), key=lambda who: who.since)
            self._begin(newest.request.allow_skip)
            self._changed()

    def _passed(self, request: m.GetElementRequest, consumer: int, number: int) -> Answer:
        """What is said to one who asks for a round that is over."""
        given = self._given.get((request.client_id, consumer)) if number == self._last else None
        if given is not None:
            return given
        return _refused(
            f"Requested data for round {number}, but the current round has already reached {self._last}. This may "
            "indicate that the consumer was restarted with the same iteration name."
        )

    def _give_up(self, number: int, asking: dict[int, _Asking]) -> None:
        for consumer, who in tuple(asking.items()):
            waited = self._desk.now - who.since
            if who.request.patience_ns and waited >= who.request.patience_ns:
                known = self._gave_up.setdefault(number, {})
                missing = ", ".join(str(i) for i in range(self._consumers) if i not in asking and i not in known)
                text = f"Consumers {missing} of {self._consumers} have not asked for round {number}"
                text += f" for {waited // SECOND} s. Are they running?"
                self._desk.reply(who.call, RpcError(Code.DEADLINE_EXCEEDED, text))
                del asking[consumer]
                known[consumer] = None
        if not asking:
            del self._rounds[number]

    def _break(self, error: RpcError) -> None:
        """A failure is every consumer's, now and later, so that none runs ahead of the others."""
        self._broken = error
        self._refuse_all(error)

    def _refuse_all(self, error: RpcError) -> None:
        for asking in self._rounds.values():
            for who in asking.values():
                self._desk.reply(who.call, error)
        self._rounds.clear()
        self._begun, self._skip_at = None, NEVER


def _refused(text: str) -> RpcError:
    return RpcError(Code.FAILED_PRECONDITION, text)
