"""The driver alone: what it hands in, what it carries out, and in which order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from tfsvc.errors import Code, ResourceExhaustedError, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Append, Asked, Call, Command, Event, Finish, Produce, Stopped, Wanted, Woke
from tfsvc.protocol.ids import NEVER, Address, CallId, Instant
from tfsvc.protocol.messages import Request
from tfsvc.protocol.reading import EndOfData
from tfsvc.protocol.updates import LoseWorker, Update
from tfsvc_transports.driver import Driver
from tfsvc_transports.journal import Broke, Synced
from tfsvc_transports.nodes import ServerNode
from tfsvc_transports.pool import Done
from tfsvc_transports.transport import Answer, Handler


@dataclass
class World:
    """A transport, a journal and a pool that only remember what they were told."""

    told: list[object] = field(default_factory=list)
    handler: Handler | None = None
    closed: int = 0

    def serve(self, host: str, port: int, handler: Handler) -> int:
        self.handler = handler
        return 1

    def call(self, peer: Address, request: Request, timeout_ns: int, done: Answer) -> None:
        self.told.append(request)

    def recover(self) -> Sequence[Update]:
        return ()

    def open(self, synced: Synced, broke: Broke) -> None:
        pass

    def append(self, number: int, update: Update) -> None:
        self.told.append(update)

    def produce(self, command: Produce, done: Done) -> None:
        self.told.append(command)

    def discard(self, producer: int) -> None:
        self.told.append(producer)

    def close(self) -> None:
        self.closed += 1


class Scripted:
    """A machine that answers each event by a function."""

    def __init__(self, on: Callable[[Event], Sequence[Command]]) -> None:
        self.on = on
        self.inside = 0

    def handle(self, event: Event, now: Instant) -> Sequence[Command]:
        self.inside += 1
        assert self.inside == 1, "two threads are in the machine"
        try:
            return self.on(event)
        finally:
            self.inside -= 1

    def deadline(self) -> Instant:
        return NEVER

    def view(self) -> None:
        return None


def driver_of(world: World, on: Callable[[Event], Sequence[Command]]) -> Driver:
    driver = Driver("node", world, world, world)
    driver.listen("localhost", 0)
    driver.start(Scripted(on))
    return driver


def finish(event: Event) -> Sequence[Command]:
    return (Finish(event.token, EndOfData()),) if isinstance(event, Wanted | Stopped) else ()


def want(token: int) -> Wanted:
    return Wanted(token, ())


def test_commands_are_carried_out_in_order() -> None:
    update, request = LoseWorker("w"), m.GetVersionRequest()
    produce = Produce(7, None, (), 1, 1)
    commands = (Append(1, update), Call(CallId("n", 1, 1), Address("p"), request, 1), produce, Append(2, update))
    world = World()
    driver = driver_of(world, lambda event: (*commands, *finish(event)) if isinstance(event, Wanted) else ())
    driver.request(want).wait(5)
    assert world.told == [update, request, produce, update]


def test_one_thread_at_a_time_and_no_event_lost() -> None:
    seen: list[Event] = []
    world = World()

    def on(event: Event) -> Sequence[Command]:
        seen.append(event)
        time.sleep(0)
        return finish(event)

    driver = driver_of(world, on)
    handler = world.handler
    assert handler is not None

    def ask() -> None:
        for _ in range(500):
            handler(Address("peer"), m.GetVersionRequest(), lambda _: None)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    driver.request(want).wait(5)
    calls = [event.call for event in seen if isinstance(event, Asked)]
    assert len(calls) == len(set(calls)) == 2000


def test_what_is_asked_before_the_start_waits() -> None:
    world = World()
    driver = Driver("node", world)
    driver.listen("localhost", 0)
    assert world.handler is not None
    world.handler(Address("peer"), m.GetVersionRequest(), lambda _: None)
    seen: list[type[Event]] = []

    def on(event: Event) -> Sequence[Command]:
        seen.append(type(event))
        return finish(event)

    driver.start(Scripted(on))
    driver.request(want).wait(5)
    assert seen == [Asked, Woke, Wanted]


def test_a_machine_with_an_error_ends_its_node(caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: Event) -> Sequence[Command]:
        if isinstance(event, Wanted):
            raise AssertionError("broken")
        return ()

    world = World()
    driver = driver_of(world, fail)
    result = driver.request(want).wait(5)
    assert isinstance(result, RpcError)
    assert result.code is Code.INTERNAL
    assert world.closed
    assert "broken" in caplog.text


def test_the_end_is_bounded() -> None:
    world = World()
    driver = driver_of(world, lambda _: ())
    started = time.monotonic()
    driver.end(Stopped, 0.05)
    assert 0.04 < time.monotonic() - started < 1
    assert world.closed


def test_nothing_waits_after_the_end() -> None:
    world = World()
    driver = driver_of(world, lambda _: ())
    waiting = driver.request(want)
    driver.crash()
    for pending in (waiting, driver.request(want)):
        result = pending.wait(1)
        assert isinstance(result, RpcError)
        assert result.code is Code.CANCELLED


def test_an_end_that_nobody_waits_for() -> None:
    world = World()
    driver = driver_of(world, finish)
    driver.end(Stopped, 5, wait=False)
    give_up = time.monotonic() + 5
    while not world.closed:
        assert time.monotonic() < give_up
        time.sleep(0.005)


def test_a_journal_that_breaks_ends_the_node_and_whoever_waits_is_told_why() -> None:
    """Neither what it was about to say nor a wrong reason is heard."""

    class Full(World):
        def open(self, synced: Synced, broke: Broke) -> None:
            self.broke = broke

        def append(self, number: int, update: Update) -> None:
            self.broke(RpcError(Code.RESOURCE_EXHAUSTED, "the disk is full"))

    world = Full()
    driver = driver_of(world, lambda event: (Append(1, LoseWorker("w")), *finish(event)))
    assert driver.request(want).wait(5) == RpcError(Code.RESOURCE_EXHAUSTED, "node has failed: the disk is full")
    assert world.closed
    node = ServerNode(driver, 1)
    with pytest.raises(ResourceExhaustedError, match="the disk is full"):
        node.join(5)
    node.stop()
