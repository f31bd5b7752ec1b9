"""The application: reads from one client at its own pace, and says exactly what it took."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

from tfsvc.errors import RpcError
from tfsvc.execution.encoding import decode_body
from tfsvc.protocol.contract import Stopped, Wanted
from tfsvc.protocol.ids import MILLISECOND, Instant
from tfsvc.protocol.messages import LanePlace
from tfsvc.protocol.reading import Batch, Delivery, EndOfData, MakeUp, Taken
from tfsvc_sim.judging.ledger import Ledger, Taking
from tfsvc_sim.judging.sequence import flat
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.nodes.node import Node


@dataclass(frozen=True, slots=True)
class Habits:
    """How an application reads.

    Attributes:
      think_ns: how long it is busy with each element.
      leave_after: how many elements it takes before it closes; ``None`` for all there are.
      ahead: whether it asks for the next batch while it is busy with the last one.
    """

    think_ns: int = 2 * MILLISECOND
    leave_after: int | None = None
    ahead: bool = False


class Together:
    """Applications that step together, as the trainers of one model do: nobody is more than one step ahead."""

    def __init__(self) -> None:
        self.members: list[Application] = []

    def room(self, member: Application) -> int:
        """How many steps the member may take now."""
        return min(other.steps for other in self.members) + 1 - member.steps

    def stepped(self) -> None:
        """Somebody took a step: others may go on."""
        for member in self.members:
            member.go_on()


Elements = list[tuple[tuple[int, ...], str]]
"""Each element's values, or its error."""


class Application:
    """Takes elements one by one; its node must hand it what the client finishes."""

    def __init__(
        self, engine: Engine, ledger: Ledger, job: str, habits: Habits, together: Together | None = None
    ) -> None:
        self.node: Node | None = None
        self.job = job
        self.began_at: Instant = 0
        self.taken = 0
        self.made_up = 0
        """Elements that it was given beyond its own."""
        self.passed_over = 0
        """Elements that came again and were not taken again."""
        self.error: RpcError | None = None
        self.warning = ""
        self.ended_at: Instant | None = None
        """When it was told of the end of the data."""
        self.left_at: Instant | None = None
        """When its client let it go."""
        self.unheard = False
        """Whether its client could not tell the dispatcher what it took last."""
        self._engine = engine
        self._ledger = ledger
        self._habits = habits
        self._token = 0
        self._asking = False
        self._busy = False
        self._closing = False
        self.places: dict[int, LanePlace] = {}
        """Where each ordered lane would go on, as a resume token says it."""
        self._queue: deque[tuple[Batch | MakeUp, Elements]] = deque()
        self._together = together
        if together is not None:
            together.members.append(self)
        self._news: dict[int, int] = {}

    @property
    def done(self) -> bool:
        """Whether it left, or its node is dead."""
        return self.left_at is not None or self.died

    @property
    def died(self) -> bool:
        """Whether its node is dead; nodes of readers never restart."""
        return self.node is not None and self.node.incarnation > 0 and not self.node.alive

    @property
    def steps(self) -> int:
        return self.taken + self.made_up

    @property
    def leaves_early(self) -> bool:
        return self._habits.leave_after is not None

    def start(self) -> None:
        """Asks for the first batch."""
        self.began_at = self._engine.now
        self._ask()

    def finished(self, token: int, result: Delivery | RpcError | None) -> None:
        """Takes what its client hands over."""
        if self._closing:
            if token == self._token:
                self.left_at = self._engine.now
                self.unheard = isinstance(result, RpcError)
            return
        self._asking = False
        match result:
            case Batch():
                self.passed_over += result.skip
                self._queue.append((result, _elements(result)))
                self._take()
            case MakeUp(_, count):
                self._queue.append((result, [((), "")] * count))
                self._take()
            case EndOfData(warning):
                self.warning = warning
                self.ended_at = self._engine.now
                self._later(self._close_when_idle)
            case RpcError():
                self.error = result
                self._later(self._close)
            case _:
                raise AssertionError(result)

    def _close_when_idle(self) -> None:
        if not self._busy and not self._queue:
            self._close()

    def _take(self) -> None:
        if self._busy or not self._queue or self.died:
            return
        batch, elements = self._queue.popleft()
        if self._together is not None:
            room = self._together.room(self)
            if room < len(elements):
                self._queue.appendleft(_split(batch, elements, room))
                if not room:
                    return
                elements = elements[:room]
        self._busy = True
        if self._habits.leave_after is not None:
            elements = elements[: self._habits.leave_after - self.taken]
        spent = self._habits.think_ns * len(elements)
        self._engine.call_at(self._engine.now + spent, self._took, self._engine.now, batch, elements)
        if self._habits.ahead and self.ended_at is None:
            self._later(self._ask)

    def go_on(self) -> None:
        """Others have stepped."""
        if not self._closing:
            self._later(self._take)

    def _took(self, began: Instant, batch: Batch | MakeUp, elements: Elements) -> None:
        if self.died:
            return
        self._busy = False
        if isinstance(batch, MakeUp):
            self.made_up += len(elements)
        else:
            self._note(began, batch, elements)
        if self._together is not None:
            self._together.stepped()
        if self._habits.leave_after is not None and self.taken >= self._habits.leave_after:
            self._close()
        elif self.ended_at is None:
            if self._together is None or not self._queue:
                self._ask()
            self._take()
        else:
            self._take()
            self._close_when_idle()

    def _note(self, began: Instant, batch: Batch, elements: Elements) -> None:
        assert self.node is not None
        reader, stream, worker, at = self.node.address, batch.stream, batch.worker, began
        for ordinal, (values, error) in enumerate(elements, batch.first):
            at += self._habits.think_ns
            self._ledger.add(Taking(at, reader, self.job, stream, ordinal, worker, values, error))
        self.taken += len(elements)
        self._news[batch.stream] = batch.first + len(elements)
        place = batch.place
        self.places[place.index] = LanePlace(place.index, batch.first + len(elements), place.checkpoint)

    def _ask(self) -> None:
        """Asks for a batch; while it waits for one, asking again under the same token tells what it took."""
        if self._closing or self.died or self.ended_at is not None or (self._asking and not self._news):
            return
        assert self.node is not None
        if not self._asking:
            self._token += 1
            self._asking = True
        self.node.handle(Wanted(self._token, self._report()), f"application wants {self._token}, took {self.taken}")

    def _close(self) -> None:
        if self._closing or self.died:
            return
        assert self.node is not None
        self._closing = True
        self._token += 1
        self.node.handle(Stopped(self._token, self._report()), f"application leaves, took {self.taken}")

    def _report(self) -> tuple[Taken, ...]:
        news, self._news = self._news, {}
        return tuple([Taken(stream, ordinal) for stream, ordinal in news.items()])

    def _later(self, do: Callable[[], None]) -> None:
        """What would call the client while the client is still speaking waits until it has ended."""
        self._engine.call_at(self._engine.now, do)


def _split(batch: Batch | MakeUp, elements: Elements, count: int) -> tuple[Batch | MakeUp, Elements]:
    """What remains of a batch behind its first ``count`` elements."""
    rest = batch if isinstance(batch, MakeUp) else replace(batch, skip=batch.skip + count)
    return rest, elements[count:]


def _elements(batch: Batch) -> Elements:
    frame = batch.frame
    if frame.error is not None:
        return [((), frame.error.message.splitlines()[0])]
    columns = decode_body(frame.body, batch.encoding, 0)
    return [(flat(element), "") for element in islice(columns.elements(batch.skip), batch.count)]
