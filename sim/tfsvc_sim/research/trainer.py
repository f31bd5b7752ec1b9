"""A trainer: takes batches, steps, and notes how long it had to wait for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tfsvc.errors import RpcError
from tfsvc.protocol.client.machine import Client
from tfsvc.protocol.contract import Stopped, Wanted
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import Instant
from tfsvc.protocol.reading import Batch, Delivery, EndOfData, Taken
from tfsvc.protocol.splits import Span
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.nodes.node import Node
from tfsvc_sim.research.book import Book
from tfsvc_sim.research.costs import Pipe
from tfsvc_sim.research.pipeline import Ballast

StepNs = Callable[[int, list[Span]], int]
"""What a step takes, by its number and its elements."""


class Trainer:
    """Steps through its data, with one batch fetched ahead of the step that is running.

    Args:
      card: the network card that its data comes through.
      step_ns: what each step takes.
      batch: elements of a step.
      steps_max: after how many it leaves; ``None`` at the end of the data.
    """

    def __init__(
        self, engine: Engine, book: Book, card: Pipe, step_ns: StepNs, batch: int, steps_max: int | None
    ) -> None:
        self.node: Node | None = None
        self.began_at: Instant = 0
        self.left_at: Instant | None = None
        self.steps = 0
        self.taken = 0
        self.waits_ns: list[int] = []
        """How long each step was waited for."""
        self.waited_ns = 0
        self.stepped_ns = 0
        self.error: RpcError | None = None
        self.together: Together | None = None
        self._engine = engine
        self._book = book
        self._card = card
        self._step_ns = step_ns
        self._batch = batch
        self._steps_max = steps_max
        self._token = 0
        self._asking = False
        self._stepping = False
        self._ended = False
        self._closing = False
        self._idle_since: Instant = 0
        self._at_hand: list[Span] = []
        self._count = 0
        self._news: dict[int, int] = {}

    @property
    def done(self) -> bool:
        """Whether it has left, or its node is dead."""
        dead = self.node is not None and self.node.incarnation > 0 and not self.node.alive
        return self.left_at is not None or dead

    @property
    def buffered(self) -> int:
        """Bytes that its client has fetched ahead."""
        client = self._client
        return 0 if client is None or self.done else client.view().buffered

    @property
    def skipped(self) -> int:
        """Elements that had left the trainers' cache before it came to them."""
        client = self._client
        return 0 if client is None else client.view().missed

    @property
    def _client(self) -> Client | None:
        began = self.node is not None and self.node.incarnation > 0
        return self.node.role if began and self.node is not None and isinstance(self.node.role, Client) else None

    def start(self) -> None:
        self.began_at = self._idle_since = self._engine.now
        self._ask()

    def finished(self, token: int, result: Delivery | RpcError | None) -> None:
        """Takes what its client hands over."""
        if self._closing:
            if result is None:
                self.left_at = self._engine.now
            return
        match result:
            case Batch():
                arrives = self._card.passes(self._engine.now, len(result.frame.body))
                self._engine.call_at(arrives, self._arrived, result)
            case EndOfData():
                self._ended = True
                self._engine.call_at(self._engine.now, self._go_on)
            case RpcError():
                self.error = result
                self._engine.call_at(self._engine.now, self._close)
            case _:
                raise AssertionError(result)

    def _arrived(self, batch: Batch) -> None:
        self._asking = False  # only now, so that the next wish reports these elements and gives their room back
        for span in elements_of(batch.frame, batch.skip, batch.count):
            self._book.take(span)
            self._at_hand.append(span)
        self._count += batch.count
        self.taken += batch.count
        self._news[batch.stream] = batch.first + batch.count
        self._go_on()

    def _go_on(self) -> None:
        """Begins a step if there is what it needs, and asks for more if there is not."""
        if self._closing or self.done:
            return
        if not self._stepping and (self._count >= self._batch or (self._ended and self._count)):
            if self.together is None or self.together.may_step(self):
                self._step()
        elif not self._stepping and self._ended:
            self._close()
        if self._count < self._batch and not self._ended and not self._closing:
            self._ask()

    def _step(self) -> None:
        self._stepping = True
        waited = self._engine.now - self._idle_since
        self.waits_ns.append(waited)
        self.waited_ns += waited
        taken = self._take(min(self._batch, self._count))
        takes = self._step_ns(self.steps, taken)
        self.stepped_ns += takes
        self._engine.call_at(self._engine.now + takes, self._stepped)

    def _take(self, count: int) -> list[Span]:
        found: list[Span] = []
        self._count -= count
        while count:
            lo, hi = self._at_hand[0]
            if hi - lo <= count:
                found.append(self._at_hand.pop(0))
                count -= hi - lo
            else:
                found.append(Span(lo, lo + count))
                self._at_hand[0] = Span(lo + count, hi)
                count = 0
        return found

    def _stepped(self) -> None:
        self._stepping = False
        self.steps += 1
        self._idle_since = self._engine.now
        if self.together is not None:
            self.together.stepped()
        if self._steps_max is not None and self.steps >= self._steps_max:
            self._close()
        else:
            self._go_on()

    def go_on(self) -> None:
        """Others have stepped."""
        if not self._stepping:
            self._go_on()

    def _ask(self) -> None:
        if self._asking or self._closing or self.done:
            return
        assert self.node is not None
        self._asking = True
        self._token += 1
        self.node.handle(Wanted(self._token, self._report()), f"trainer wants {self._token}")

    def _close(self) -> None:
        if self._closing or self.done:
            return
        assert self.node is not None
        self._closing = True
        self._token += 1
        self.node.handle(Stopped(self._token, self._report()), f"trainer leaves after {self.taken}")

    def _report(self) -> tuple[Taken, ...]:
        news, self._news = self._news, {}
        return tuple(Taken(stream, ordinal) for stream, ordinal in news.items())


class Together:
    """Trainers of one model: a step begins when all have what it needs, and lasts as long as the longest."""

    def __init__(self) -> None:
        self.members: list[Trainer] = []

    def may_step(self, trainer: Trainer) -> bool:
        """Whether nobody would be ahead of somebody else."""
        return all(other.done or other.steps >= trainer.steps for other in self.members)

    def stepped(self) -> None:
        for member in self.members:
            member.go_on()


def elements_of(frame: Frame, skip: int, count: int) -> Iterator[Span]:
    """The elements of a frame without its first ``skip``, ``count`` of them."""
    assert isinstance(frame.body, Ballast), f"not a frame of counted elements: {frame!r}"
    for lo, hi in frame.body.parts():
        gone = min(skip, hi - lo)
        skip -= gone
        more = min(count, hi - lo - gone)
        count -= more
        if more:
            yield Span(lo + gone, lo + gone + more)
