"""A graph gives the same on one task and on several, in whatever order their pieces run; and a step that fails while
it computes has written nothing, on any task.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfsvc.compat import v1
from tfsvc.compat.v1.graph import Graph
from tfsvc.graph import agreement, cutting
from tfsvc.graph.execution import Execution
from tfsvc.graph.planner import GraphPlanner
from tfsvc.graph.program import compile_graph
from tfsvc.graph.resources import Resources
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.planning import Piece, Places, Signature
from tfsvc.protocol.computing import Failure, Finished, Value, Waiting
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import parse
from tfsvc.wire.tensors import from_proto

TASKS = tuple(Task("task", index) for index in range(3))
VARIABLES = 4


@dataclass(frozen=True)
class Deed:
    """One operator of a graph in the making.

    Attributes:
      kind: what it does.
      task: where; deeds with a variable are done where that lives.
      takes: two earlier results, counted modulo how many there are.
      after: an earlier deed that it waits for, if any.
    """

    kind: str
    task: int
    takes: tuple[int, int]
    after: int | None


deeds = st.builds(
    Deed,
    kind=st.sampled_from(["add", "add", "multiply", "read", "update", "update"]),
    task=st.integers(0, 2),
    takes=st.tuples(st.integers(0, 30), st.integers(0, 30)),
    after=st.none() | st.integers(0, 30),
)
graphs = st.lists(deeds, min_size=1, max_size=14)


@dataclass
class Built:
    graph: Graph
    results: list[str] = field(default_factory=list)
    updates: list[str] = field(default_factory=list)


def build(plan: Sequence[Deed], spread: bool, failing: int | None = None) -> Built:
    """The graph of a plan.

    Args:
      spread: whether it has several tasks.
      failing: on which task an integer is divided by zero, if so.
    """
    graph = Graph()
    built = Built(graph)

    def on(index: int) -> Any:
        return v1.device(f"/job:task/task:{index % 3 if spread else 0}")

    with graph.as_default():
        variables = []
        for index in range(VARIABLES):
            with on(index):
                variables.append(v1.Variable(np.int64(index), name=f"v{index}"))
        results: list[Any] = []
        done: list[Any] = []
        for index in range(3):
            with on(index):
                results.append(v1.identity(v1.constant(np.int64(index + 2))))
        for deed in plan:
            one, other = (results[take % len(results)] for take in deed.takes)
            variable = variables[deed.takes[0] % VARIABLES]
            before = [] if deed.after is None or not done else [done[deed.after % len(done)]]
            with on(deed.task), v1.control_dependencies(before):
                match deed.kind:
                    case "add":
                        results.append(v1.add(one, other))
                    case "multiply":
                        results.append(v1.mod(v1.multiply(one, other), np.int64(1009)))
                    case "read":
                        results.append(variable.value())
                    case _:
                        done.append(variable.assign_add(v1.mod(other, np.int64(1009))))
                        built.updates.append(done[-1].op.name)
                        continue
            done.append(results[-1])
        if failing is not None:
            with on(failing):
                zero = v1.mod(v1.identity(v1.constant(np.int64(1))), v1.constant(np.int64(0)))
            built.results.append(zero.name)
        v1.group(*(each.initializer for each in variables), name="init")
    built.results += [result.name for result in results]
    return built


class Cluster:
    """Pieces and state without servers; what runs next is drawn."""

    def __init__(self, built: Built, seed: int) -> None:
        self._planner = GraphPlanner()
        self._graph = self._planner.extend(None, built.graph.serialized())
        self._luck = random.Random(seed)
        self.state = {task: Resources() for task in TASKS}
        self.step((), ("init",))

    def step(
        self, fetches: Sequence[str], targets: Sequence[str], missing: Task | None = None
    ) -> dict[str, int] | None:
        """Runs a step to its end and gives what was fetched; ``None`` if it failed.

        Args:
          missing: a task that is not there, whose piece never runs.
        """
        places = Places(TASKS[0], {task: task.index + 1 for task in TASKS})
        pieces = self._planner.plan(self._graph, Signature((), tuple(fetches), tuple(targets)), places)
        runs = {piece.task: self._execution(piece) for piece in pieces if piece.task != missing}
        left: dict[str, Value] = {}
        waiting: dict[Task, tuple[str, ...]] = dict.fromkeys(runs, ())
        failed = len(runs) < len(pieces)
        while waiting:
            ready = [task for task, keys in waiting.items() if not keys or any(key in left for key in keys)]
            if not ready:
                assert failed, f"the pieces wait for each other: {waiting}"
                return None
            task = self._luck.choice(ready)
            outcome = runs[task].run([left[key] for key in waiting.pop(task) if key in left])
            left |= {value.key: value for value in outcome.sent}
            match outcome.status:
                case Failure():
                    failed = True
                case Waiting(keys):
                    waiting[task] = keys
                case Finished():
                    pass
        if failed:
            return None
        ports = [port for piece in pieces for port in piece.fetches]
        return {port.name: int(from_proto(parse(pb.TensorProto, left[port.key].tensor))) for port in ports}

    def variables(self) -> list[int]:
        found = {h.name: int(v.value) for state in self.state.values() for h, v in state._found.items()}
        return [found[f"v{index}"] for index in range(VARIABLES)]

    def _execution(self, piece: Piece) -> Execution:
        return Execution(compile_graph(piece.graph, "job", lambda: 1), self.state[piece.task])


def plain(plan: Sequence[Deed]) -> list[Deed]:
    """The plan without what depends on the order in which a variable is read and written."""
    return [deed for deed in plan if deed.kind != "read"]


@given(graphs, st.integers(0, 1000))
def test_a_graph_gives_the_same_on_several_tasks(plan, seed):
    found = []
    for spread in (False, True):
        built = build(plain(plan), spread)
        cluster = Cluster(built, seed)
        found.append((cluster.step(built.results, built.updates), cluster.variables()))
    assert found[0][0] is not None
    assert found[0] == found[1]


@given(graphs, st.integers(0, 1000))
def test_pieces_never_wait_for_each_other(plan, seed):
    built = build(plan, spread=True)
    assert Cluster(built, seed).step(built.results, built.updates) is not None


def half_done(plan: Sequence[Deed], seed: int, place: int, missing: bool) -> bool:
    """Whether a step has written something that fails on a task while it computes, or finds the task missing."""
    built = build(plan, spread=True, failing=None if missing else place)
    cluster = Cluster(built, seed)
    before = cluster.variables()
    assert cluster.step(built.results, built.updates, TASKS[place] if missing else None) is None
    return cluster.variables() != before


@given(graphs, st.integers(0, 1000), st.integers(0, 2), st.booleans())
def test_a_step_that_cannot_be_computed_writes_nothing_anywhere(plan, seed, place, missing):
    assert not half_done(plan, seed, place, missing)


PLAN = [Deed("update", index, (index, 0), None) for index in range(3)]


PLANTED = {
    "pieces write when they please": lambda patch: patch.setattr(cutting, "agree", lambda *_: None),
    "nobody says that he is ready": lambda patch: patch.setattr(agreement, "_told", lambda *_: True),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug, monkeypatch):
    PLANTED[bug](monkeypatch)
    assert any(half_done(PLAN, seed, 1, missing) for seed in range(20) for missing in (True, False))


def test_a_message_that_lets_others_become_ready_is_not_held_back(monkeypatch):
    """What ``_messenger`` looks at is needed: a value that is computed with must not wait for everybody."""
    monkeypatch.setattr(agreement, "_computed", lambda part, late: [])
    plan = [Deed("add", 1, (0, 0), None), Deed("add", 0, (3, 3), None), Deed("update", 1, (1, 4), None)]
    built = build(plan, spread=True)
    with pytest.raises(AssertionError, match="wait for each other"):
        Cluster(built, 0).step(built.results, built.updates)
