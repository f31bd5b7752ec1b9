"""Oracles: each says what is wrong, and where it came from."""

from __future__ import annotations

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.judging.ledger import Taking
from tfsvc_sim.judging.oracles import between, each_once, in_order


def taking(value: int, ordinal: int, stream: int = 1, worker: str = "w0") -> Taking:
    return Taking(ordinal * MILLISECOND, "r0", "job", stream, ordinal, worker, (value,))


def test_everything_once_is_no_problem() -> None:
    assert each_once((0, 1), 0, [taking(1, 0), taking(0, 1)]) == []


def test_lost_values_are_named() -> None:
    assert each_once((0, 1, 2), 0, [taking(1, 0)]) == ["2 values were lost: 0, 2"]
    assert each_once((0, 1, 2), 0, [taking(1, 0)], complete=False) == []


def test_repeated_values_are_told_with_their_story() -> None:
    (problem,) = each_once((5,), 0, [taking(5, 0), taking(5, 3, stream=2, worker="w1")])
    assert problem.startswith("value 5 was taken 2 times, and the dataset holds 1")
    assert "element 3 of r0's stream 2, made by w1" in problem


def test_errors_of_user_code_are_counted() -> None:
    failed = Taking(0, "r0", "job", 1, 0, "w0", (), "ValueError")
    assert each_once((), 1, [failed]) == []
    assert each_once((), 1, []) == ["1 of 1 errors of user code were never told"]
    assert len(each_once((), 1, [failed, failed])) == 1


def test_bounds_hold_for_every_value() -> None:
    assert between((1, 1), 1, 2, [taking(1, 0), taking(1, 1), taking(1, 2)]) == []
    assert between((1,), 1, 2, []) == ["value 1 was taken 0 times, not 1 to 2"]
    assert between((), 0, 1, [taking(9, 0)]) == ["value 9 is not in the dataset"]


def test_a_stream_has_no_gaps_and_does_not_go_back() -> None:
    assert in_order([taking(1, 0), taking(7, 0, stream=2), taking(2, 1)], ascending=True) == []
    assert len(in_order([taking(1, 0), taking(2, 2)], ascending=True)) == 1
    assert len(in_order([taking(2, 0), taking(1, 1)], ascending=True)) == 1
    assert in_order([taking(2, 0), taking(1, 1)], ascending=False) == []
