"""A node owes its machine what the contract says: one outcome for each call, wakes, and a clean death."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tfsvc.errors import Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import NOTHING, Answered, Asked, Call, Event, Failed, Reply, Step, Synced, Woke
from tfsvc.protocol.ids import MILLISECOND, NEVER, SECOND, Address, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.updates import LoseWorker
from tfsvc_sim.kernel.disk import Disk
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.kernel.network import Network
from tfsvc_sim.kernel.rules import Duplication, Loss
from tfsvc_sim.kernel.trace import Trace
from tfsvc_sim.nodes.node import Node, Surroundings

TIMEOUT_NS = 100 * MILLISECOND


class Echo:
    """Answers what it is asked, after an update of its own; asks ``peer`` whenever it is woken."""

    def __init__(self, name: str, life: int, peer: str | None, answers: bool, heard: list[Event]) -> None:
        self._name = name
        self._life = life
        self._peer = peer
        self._answers = answers
        self._heard = heard
        self._due: Instant = 0 if peer else NEVER

    def handle(self, event: Event, now: Instant) -> Step:
        self._heard.append(event)
        match event:
            case Asked(call) if self._answers:
                return Step((LoseWorker("w"),), (Reply(call, m.GetVersionResponse(9, self._life)),))
            case Woke() if self._peer and self._due <= now:
                self._due = NEVER
                call = CallId(self._name, self._life, 1)
                return Step(words=(Call(call, Address(self._peer), m.GetVersionRequest(), TIMEOUT_NS),))
        return NOTHING

    def deadline(self) -> Instant:
        return self._due

    def view(self) -> Echo:
        return self


class Pair:
    """``a`` asks ``b`` once, at its birth."""

    def __init__(self) -> None:
        self.engine = HeapEngine()
        self.network = Network(self.engine, Luck(0, "network"))
        self.heard: dict[str, list[Event]] = {"a": [], "b": []}
        world = Surroundings(self.engine, self.network, Trace(), Luck(0))
        self.disk = Disk(self.engine, Luck(0, "disk"))
        self.a = Node(world, "a", lambda life, luck, _: Echo("a", life, "b", False, self.heard["a"]))
        self.answers = True
        self.b = Node(
            world, "b", lambda life, luck, _: Echo("b", life, None, self.answers, self.heard["b"]), disk=self.disk
        )

    def outcomes(self) -> list[Answered | Failed]:
        return [event for event in self.heard["a"] if isinstance(event, Answered | Failed)]

    def outcome(self) -> Answered | Failed:
        (found,) = self.outcomes()
        return found

    def run(self, ns: int = SECOND) -> None:
        self.engine.run(self.engine.now + ns)

    def until(self, heard: Callable[[], bool]) -> None:
        while not heard():
            self.run(MILLISECOND // 10)


@pytest.fixture
def pair() -> Pair:
    return Pair()


def error_of(outcome: Answered | Failed) -> RpcError:
    assert isinstance(outcome, Failed)
    return outcome.error


def test_a_call_is_answered_once_though_packets_are_doubled(pair: Pair) -> None:
    pair.network.rule(Duplication(1.0, MILLISECOND))
    pair.b.start()
    pair.a.start()
    pair.run()
    assert isinstance(pair.outcome(), Answered)


def test_a_call_to_a_dead_node_surely_failed(pair: Pair) -> None:
    pair.a.start()
    pair.run()
    assert error_of(pair.outcome()).outcome is Outcome.UNREACHED


def test_a_lost_packet_leaves_the_outcome_unknown_at_the_timeout(pair: Pair) -> None:
    pair.b.start()
    with pair.network.rule(Loss(1.0)):
        pair.a.start()
        pair.run(TIMEOUT_NS - 1)
        assert not pair.outcomes()
        pair.run()
    assert error_of(pair.outcome()).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("silent", [False, True])
def test_a_crash_of_the_callee_is_told_by_a_reset_or_by_silence(pair: Pair, silent: bool) -> None:
    pair.answers = False
    pair.b.start()
    pair.a.start()
    pair.until(lambda: any(isinstance(event, Asked) for event in pair.heard["b"]))
    pair.b.crash(silent)
    pair.run(TIMEOUT_NS // 2)
    assert bool(pair.outcomes()) is not silent
    pair.run()
    assert error_of(pair.outcome()).outcome is Outcome.UNKNOWN


def test_an_answer_to_an_earlier_life_is_dropped(pair: Pair) -> None:
    pair.b.start()
    pair.a.start()
    pair.until(lambda: any(isinstance(event, Asked) for event in pair.heard["b"]))
    pair.a.crash()
    pair.heard["a"].clear()
    pair.a.start()
    pair.run()
    answer = pair.outcome()
    assert answer.call.incarnation == 2


def test_an_update_that_was_not_synced_dies_with_its_answer(pair: Pair) -> None:
    pair.b.start()
    pair.a.start()
    pair.until(lambda: bool(pair.disk.records))
    pair.b.crash()
    kept = len(pair.disk.records)
    pair.b.start()
    pair.run()
    assert isinstance(pair.outcome(), Failed)
    assert len(pair.disk.records) == kept
    assert Synced(1) not in pair.heard["b"], "the gate keeps it from the role"


def test_a_paused_node_hears_everything_when_it_goes_on(pair: Pair) -> None:
    pair.b.start()
    pair.b.pause()
    pair.a.start()
    pair.run(TIMEOUT_NS // 2)
    assert not pair.heard["b"]
    pair.b.resume()
    pair.run()
    assert isinstance(pair.outcome(), Answered)


def test_a_machine_that_never_sleeps_is_caught(pair: Pair) -> None:
    class Sleepless(Echo):
        def deadline(self) -> Instant:
            return 0

    world = Surroundings(pair.engine, pair.network, Trace(), Luck(0))
    Node(world, "s", lambda life, luck, _: Sleepless("s", life, None, False, [])).start()
    with pytest.raises(AssertionError, match="again and again"):
        pair.run()
