"""The network: packets arrive late, twice or not at all, as its rules say."""

from __future__ import annotations

import pytest

from tfsvc.errors import Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import MILLISECOND, SECOND, CallId
from tfsvc.protocol.luck import Luck
from tfsvc_sim.heap import HeapEngine
from tfsvc_sim.network import Network
from tfsvc_sim.rules import Duplication, Loss, Packet, Partition, Reordering


class Wire:
    """Two addresses, ``a`` and ``b``, and what each heard."""

    def __init__(self) -> None:
        self.engine = HeapEngine()
        self.network = Network(self.engine, Luck(0, "network"))
        self.heard: list[tuple[str, int]] = []
        self.errors: list[RpcError] = []
        for address in ("a", "b"):
            self.network.listen(address, self._hear)

    def _hear(self, packet: Packet) -> None:
        self.heard.append((packet.target, packet.call.seq))
        if isinstance(packet.body, RpcError):
            self.errors.append(packet.body)

    def send(self, source: str, target: str, seq: int = 1) -> None:
        call = CallId(source, 1, seq)
        self.network.send(Packet(source, target, call, m.GetVersionRequest(), True, 0))

    def settle(self) -> list[tuple[str, int]]:
        self.engine.run(self.engine.now + SECOND)
        heard, self.heard = self.heard, []
        return heard


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_a_packet_arrives_once_after_some_time(wire: Wire) -> None:
    wire.send("a", "b")
    assert wire.heard == []
    assert wire.settle() == [("b", 1)]


def test_a_partition_stops_both_ways_until_it_is_removed(wire: Wire) -> None:
    with wire.network.rule(Partition(frozenset("a"), frozenset("b"))):
        wire.send("a", "b")
        wire.send("b", "a")
        assert wire.settle() == []
    wire.send("a", "b", 2)
    assert wire.settle() == [("b", 2)]


def test_a_oneway_partition_lets_the_other_way_pass(wire: Wire) -> None:
    with wire.network.rule(Partition(frozenset("a"), frozenset("b"), oneway=True)):
        wire.send("a", "b")
        wire.send("b", "a")
        assert wire.settle() == [("a", 1)]


def test_packets_are_lost_and_repeated_in_the_share_that_was_asked(wire: Wire) -> None:
    with wire.network.rule(Loss(1.0)):
        wire.send("a", "b")
        assert wire.settle() == []
    with wire.network.rule(Duplication(1.0, MILLISECOND)):
        wire.send("a", "b")
        assert wire.settle() == [("b", 1), ("b", 1)]
    with wire.network.rule(Loss(0.5)):
        for seq in range(200):
            wire.send("a", "b", seq)
        assert 70 < len(wire.settle()) < 130


def test_reordered_packets_all_arrive_in_another_order(wire: Wire) -> None:
    with wire.network.rule(Reordering(0.5, 100 * MILLISECOND)):
        for seq in range(20):
            wire.send("a", "b", seq)
        order = [seq for _, seq in wire.settle()]
    assert sorted(order) == list(range(20))
    assert order != sorted(order)


def test_the_first_rule_that_has_an_opinion_decides(wire: Wire) -> None:
    wire.network.rule(Duplication(1.0, MILLISECOND))
    wire.network.rule(Loss(1.0))
    wire.send("a", "b")
    assert len(wire.settle()) == 2


def test_a_request_to_nobody_is_refused_for_certain(wire: Wire) -> None:
    wire.network.deafen("b")
    wire.send("a", "b")
    assert wire.settle() == [("a", 1)]
    (error,) = wire.errors
    assert error.outcome is Outcome.UNREACHED


def test_a_rule_shifts_no_luck_of_the_links() -> None:
    def arrivals(with_rule: bool) -> list[int]:
        wire = Wire()
        times: list[int] = []
        wire.network.listen("b", lambda packet: times.append(wire.engine.now))
        if with_rule:
            wire.network.rule(Loss(0.0))
        for seq in range(5):
            wire.send("a", "b", seq)
        wire.settle()
        return times

    assert arrivals(False) == arrivals(True)
