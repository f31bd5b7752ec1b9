"""A retried call runs once, whatever happens to the server and the network; and what shows that this is a proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tfsvc.protocol.messages import FetchItemsRequest, FetchItemsResponse, Refusal
from tfsvc.protocol.rpc import outgoing, server, sessions, streams
from tfsvc_sim.faults.menu import usual
from tfsvc_sim.kernel.engine import SimPyEngine
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.rpc.swarm import KINDS, NAMES, SLOTS, draw, play
from tfsvc_sim.rpc.world import CallPlan, RpcScenario, RpcWorld

SEEDS = 600
PLANTED_SEEDS = 1500

calls = st.builds(
    CallPlan,
    slot=st.integers(0, SLOTS),
    method=st.sampled_from(NAMES),
    timeout_ms=st.sampled_from([0, 0, 30, 400]),
    cancel_ms=st.sampled_from([0, 0, 0, 20, 60]),
)
faults = st.builds(
    usual,
    slot=st.integers(0, SLOTS),
    kind=st.sampled_from(KINDS),
    target=st.integers(0, 2),
    span=st.integers(1, 12),
)
scenarios = st.builds(
    RpcScenario,
    clients=st.lists(st.lists(calls, min_size=1, max_size=10).map(tuple), min_size=1, max_size=3).map(tuple),
    faults=st.lists(faults, max_size=5).map(tuple),
    answers_max=st.sampled_from([4096, 2]),
    seed=st.integers(0, 1000),
)


@given(scenarios)
def test_a_call_runs_once_and_ends(scenario: RpcScenario) -> None:
    note(repr(scenario))
    problems = play(scenario, codec=True)
    assert not problems, "\n".join(problems)


def test_a_call_runs_once_in_every_run_of_the_swarm() -> None:
    for seed in range(SEEDS):
        problems = play(draw(seed))
        assert not problems, f"seed {seed}: {problems}"


def test_the_swarm_meets_what_it_is_for() -> None:
    """Calls that were answered, failed, refused, cancelled, late and given up; streams that ended; restarts."""
    ends: dict[str, int] = {}
    restarted = 0
    for seed in range(150):
        scenario = draw(seed)
        world = RpcWorld(scenario, HeapEngine(seed))
        world.run()
        restarted += world.restarted
        for called in world.calls:
            end = getattr(getattr(called.result, "code", None), "name", type(called.result).__name__)
            ends[end] = ends.get(end, 0) + 1
    wanted = "Said EndOfData INVALID_ARGUMENT RESOURCE_EXHAUSTED CANCELLED DEADLINE_EXCEEDED ABORTED UNAVAILABLE"
    assert all(end in ends for end in wanted.split()), f"{ends}"
    assert restarted > 30


@pytest.mark.parametrize("seed", range(3))
def test_one_seed_is_one_run(seed: int) -> None:
    digests = set()
    for engine in (HeapEngine, HeapEngine, SimPyEngine):
        world = RpcWorld(draw(seed), engine(seed))
        world.run()
        digests.add(world.trace.digest())
    assert len(digests) == 1


# --- planted bugs ---


def caught() -> int | None:
    """The first seed in which something is wrong."""
    for seed in range(PLANTED_SEEDS):
        try:
            if play(draw(seed)):
                return seed
        except AssertionError:
            return seed
    return None


def calls_are_not_remembered(patch: pytest.MonkeyPatch) -> None:
    """Every repetition is a call of its own."""
    patch.setattr(sessions.Session, "add", lambda *_: None)


def forgotten_calls_begin_again(patch: pytest.MonkeyPatch) -> None:
    """A call that comes late, after its caller has done with it, begins."""
    patch.setattr(sessions.Session, "begins", lambda *_: True)


def unsure_calls_move_to_another_session(patch: pytest.MonkeyPatch) -> None:
    """A call that may have run in a life of the server is made again in the next one."""
    original = outgoing.Outgoing.leave

    def leave(call: outgoing.Outgoing) -> bool:
        original(call)
        return True

    patch.setattr(outgoing.Outgoing, "leave", leave)


def sessions_are_opened_by_whoever_names_one(patch: pytest.MonkeyPatch) -> None:
    """A restarted server takes the sessions of its former life for its own."""
    original = sessions.Sessions.find

    def find(known: sessions.Sessions, number: int, now: int) -> Any:
        known._known.setdefault(number, sessions.Session(known._settings, now))
        return original(known, number, now)

    patch.setattr(sessions.Sessions, "find", find)


def refusals_are_not_remembered(patch: pytest.MonkeyPatch) -> None:
    """A call that was turned away runs when its request comes a second time."""
    original = server.RpcServer._call

    def call(machine: server.RpcServer, name: Any, request: Any, now: int) -> None:
        original(machine, name, request, now)
        session = machine._sessions.find(request.session, now)
        if session is not None and machine._objection(request) is not None:
            session.calls.pop(request.seq, None)

    patch.setattr(server.RpcServer, "_call", call)


def answers_are_numbered_anew(patch: pytest.MonkeyPatch) -> None:
    """A repeated call has another number than before."""
    original = outgoing.Outgoing.request

    def request(call: outgoing.Outgoing, session: Any, now: int) -> Any:
        if call.session is not None:
            call.seq = call.session.number()
        return original(call, session, now)

    patch.setattr(outgoing.Outgoing, "request", request)


def sent_items_are_dropped(patch: pytest.MonkeyPatch) -> None:
    """A stream forgets items once it has sent them, and not when its reader has them."""
    original = streams.Stream._answer

    def answer(stream: streams.Stream, request: FetchItemsRequest, waited: bool) -> Any:
        found = original(stream, request, waited)
        if isinstance(found, FetchItemsResponse) and found.refusal is Refusal.NONE:
            for _ in found.items:
                stream._items.popleft()
                stream._first += 1
        return found

    patch.setattr(streams.Stream, "_answer", answer)


PLANTED: list[Callable[[pytest.MonkeyPatch], None]] = [
    calls_are_not_remembered,
    forgotten_calls_begin_again,
    unsure_calls_move_to_another_session,
    sessions_are_opened_by_whoever_names_one,
    refusals_are_not_remembered,
    answers_are_numbered_anew,
    sent_items_are_dropped,
]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_caught(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert caught() is not None
