"""Engines: what is due happens in order, ties by seed, and both engines agree."""

from __future__ import annotations

import pytest

from tfsvc_sim.kernel.engine import Engine, SimPyEngine
from tfsvc_sim.kernel.heap import HeapEngine


@pytest.fixture(params=[SimPyEngine, HeapEngine])
def engine(request: pytest.FixtureRequest) -> Engine:
    made: Engine = request.param(7)
    return made


def test_things_happen_when_they_are_due(engine: Engine) -> None:
    seen: list[tuple[int, str]] = []
    for at, what in ((30, "c"), (10, "a"), (20, "b")):
        engine.call_at(at, lambda what=what: seen.append((engine.now, what)))
    engine.run(25)
    assert seen == [(10, "a"), (20, "b")]
    assert engine.now == 25
    engine.run(31)
    assert seen[-1] == (30, "c")


def test_what_is_due_at_the_limit_waits(engine: Engine) -> None:
    seen: list[int] = []
    engine.call_at(10, seen.append, 1)
    engine.run(10)
    assert not seen
    engine.run(11)
    assert seen == [1]


def test_something_may_be_planned_for_now(engine: Engine) -> None:
    seen: list[int] = []
    engine.call_at(5, lambda: engine.call_at(engine.now, seen.append, engine.now))
    engine.run(6)
    assert seen == [5]


def test_the_past_is_refused(engine: Engine) -> None:
    engine.run(10)
    with pytest.raises(ValueError, match=r"\d"):
        engine.call_at(9, print)


def order_of_ties(engine: Engine) -> list[int]:
    seen: list[int] = []
    for i in range(20):
        engine.call_at(5, seen.append, i)
    engine.run(6)
    return seen


def test_ties_are_broken_by_the_seed_alone() -> None:
    assert order_of_ties(SimPyEngine(1)) == order_of_ties(HeapEngine(1))
    assert order_of_ties(SimPyEngine(1)) != order_of_ties(SimPyEngine(2))
    assert sorted(order_of_ties(HeapEngine(3))) == list(range(20))
