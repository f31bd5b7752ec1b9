"""The network: packets arrive late, twice or not at all, as its rules say."""

from __future__ import annotations

import pytest

from tfsvc.errors import Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import MILLISECOND, SECOND, CallId
from tfsvc.protocol.luck import Luck
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.kernel.network import Network
from tfsvc_sim.kernel.rules import (
    DROP,
    Always,
    Bottleneck,
    Corruption,
    Duplication,
    Loss,
    Match,
    Only,
    Packet,
    Partition,
    Reordering,
)


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


def test_held_packets_wait_until_they_are_released(wire: Wire) -> None:
    with wire.network.hold(Match(target="b")) as held:
        for seq in range(3):
            wire.send("a", "b", seq)
        wire.send("b", "a", 9)
        assert wire.settle() == [("a", 9)]
        assert [packet.call.seq for packet in held.held] == [0, 1, 2]
        held.release(1)
        assert wire.settle() == [("b", 0)]
        held.held.pop(0)
    assert wire.settle() == [("b", 2)], "leaving the block releases what was not dropped"


def test_a_guard_lets_a_rule_see_some_packets_only(wire: Wire) -> None:
    with wire.network.rule(Only(Match(source="a", method="GetVersion"), Loss(1.0))):
        wire.send("a", "b", 1)
        wire.send("b", "a", 2)
        assert wire.settle() == [("a", 2)]
    with wire.network.rule(Only(Match(method="GetFrames"), Always(DROP))):
        wire.send("a", "b", 3)
        assert wire.settle() == [("b", 3)]


def test_a_garbled_request_resets_the_connection(wire: Wire) -> None:
    with wire.network.rule(Corruption(1.0)):
        wire.send("a", "b")
        wire.engine.run(wire.engine.now + 5 * MILLISECOND)
    assert wire.settle() == [("a", 1)]
    (error,) = wire.errors
    assert error.outcome is Outcome.UNKNOWN


def test_a_bottleneck_carries_one_packet_behind_the_other_and_drops_what_finds_no_room(wire: Wire) -> None:
    packet_bytes = 64
    with wire.network.rule(Bottleneck("b", bytes_per_s=64 * packet_bytes, queue_bytes=4 * packet_bytes)):
        for seq in range(10):
            wire.send("a", "b", seq)
        times: list[int] = []
        wire.network.listen("b", lambda packet: times.append(wire.engine.now))
        wire.settle()
    assert len(times) == 5
    spread = max(times) - min(times)
    assert 3.5 < spread / (SECOND / 64) < 4.5


def test_who_watches_sees_requests_arrive_and_may_have_them_wait(wire: Wire) -> None:
    seen: list[int] = []

    def watch(packet: Packet) -> bool:
        seen.append(wire.engine.now)
        return True

    times: list[int] = []
    wire.network.watch(watch)
    wire.network.listen("b", lambda packet: times.append(wire.engine.now))
    wire.send("a", "b")
    wire.settle()
    assert times == [seen[0] + 1]
