"""Where nodes go, and how a graph is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfsvc as tf
from tfsvc.compat import v1
from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.graph.planner import GraphPlanner
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.planning import Piece, Places, Signature
from tfsvc.wire import tfsvc_pb2 as pb

PS, WORKER = Task("ps", 0), Task("worker", 0)
PLACES = Places(WORKER, {PS: 2, WORKER: 1})


def plan(build: Callable[[], Any], *fetches: str, targets: tuple[str, ...] = (), feeds: tuple[str, ...] = ()) -> Any:
    with v1.Graph().as_default() as graph:
        build()
    planner = GraphPlanner()
    return planner.plan(planner.extend(None, graph.serialized()), Signature(feeds, fetches, targets), PLACES)


def nodes(piece: Piece) -> dict[str, pb.NodeDef]:
    return {node.name: node for node in pb.GraphDef.FromString(piece.graph).node}


def on_ps() -> Any:
    return v1.device("/job:ps/task:0")


def test_without_devices_all_is_the_masters():
    (piece,) = plan(lambda: v1.add(v1.constant(1), 2, name="sum"), "sum:0")
    assert piece.task == WORKER
    assert [port.name for port in piece.fetches] == ["sum:0"]


def test_only_what_is_needed_is_there():
    def build() -> None:
        v1.add(v1.constant(1, name="a"), 2, name="sum")
        v1.constant(5, name="other")

    (piece,) = plan(build, "sum:0")
    assert "other" not in nodes(piece)
    (piece,) = plan(build, "sum:0", feeds=("a:0",))
    assert "a" not in nodes(piece)
    assert [port.name for port in piece.feeds] == ["a:0"]


def test_an_edge_between_tasks_is_a_pair_of_send_and_receive_with_one_key():
    def build() -> None:
        with on_ps():
            a = v1.identity(v1.constant(1.0), name="a")
        v1.multiply(a, a, name="product")

    ps, worker = plan(build, "product:0")
    sends = [n for n in nodes(ps).values() if n.op == "_Send"]
    receives = [n for n in nodes(worker).values() if n.op == "_Recv"]
    assert len(sends) == len(receives) == 1, "one tensor, however often it is used there"
    assert sends[0].attr["tensor_name"].s == receives[0].attr["tensor_name"].s
    assert list(nodes(worker)["product"].input) == [receives[0].name] * 2
    assert all(node.device == PS.device for node in nodes(ps).values())


def test_a_control_edge_between_tasks_is_one_too():
    def build() -> None:
        with on_ps():
            before = v1.no_op("before")
        with v1.control_dependencies([before]):
            v1.constant(1, name="after")

    ps, worker = plan(build, "after:0")
    (receive,) = [n for n in nodes(worker).values() if n.op == "_Recv"]
    assert f"^{receive.name}" in nodes(worker)["after"].input
    assert any(n.op == "_Send" and "^before" in n.input for n in nodes(ps).values())


def test_what_takes_state_follows_it_whatever_its_device_says():
    def build() -> None:
        with on_ps():
            v = v1.Variable(1.0, name="v")
        graph, one = v1.get_default_graph(), v1.constant(1.0)
        with v1.device("/job:worker/task:0"):
            graph.add("AssignAddVariableOp", (v.handle, one), (), {}, "add")

    (piece,) = plan(build, targets=("add",))
    assert piece.task == PS


def test_constants_go_to_the_only_task_that_uses_them():
    def build() -> None:
        c = v1.constant(3.0, name="c")
        with on_ps():
            v1.square(c, name="nine")

    (piece,) = plan(build, "nine:0")
    assert piece.task == PS


def writers(delta_of: Callable[[Any], Any]) -> Callable[[], None]:
    def build() -> None:
        with on_ps():
            a, b = v1.Variable(np.float32(0), name="a"), v1.Variable(np.float32(0), name="b")
            value = a.value()
        delta = delta_of((a, value))
        with on_ps():
            v1.group(a.assign_add(delta), b.assign_add(1.0), name="both")

    return build


def adds(piece: Piece) -> list[pb.NodeDef]:
    return [n for n in nodes(piece).values() if n.op == "AssignAddVariableOp"]


def test_every_write_waits_for_what_comes_from_elsewhere():
    ps, _ = plan(writers(lambda state: v1.multiply(state[1], 2.0)), targets=("both",))
    (receive,) = [n.name for n in nodes(ps).values() if n.op == "_Recv"]
    assert len(adds(ps)) == 2
    assert all(f"^{receive}" in node.input for node in adds(ps))


def test_unless_that_waits_for_a_write_itself():
    def after_a_write(state: Any) -> Any:
        with v1.control_dependencies([state[0].assign(5.0)]):
            return v1.multiply(v1.constant(2.0), 2.0)

    ps, _ = plan(writers(after_a_write), targets=("both",))
    waiting = [node for node in adds(ps) if any(name.startswith("^_recv/Mul") for name in node.input)]
    assert not waiting, "a step must not wait for itself"


def training(servers: int, decay: bool) -> Callable[[], None]:
    """A step in which a worker gives each parameter server a gradient."""

    def build() -> None:
        updates, errors = [], []
        for index in range(servers):
            with v1.device(f"/job:ps/task:{index}"):
                w = v1.Variable(np.float32(0), name=f"w{index}")
                rate = v1.constant(np.float32(0.1))
            with v1.device("/job:worker/task:0"):
                errors.append(v1.square(w - 1.0))
                gradient = w * 2.0
            with v1.device(f"/job:ps/task:{index}"):
                updates.append(w.assign_sub(gradient * rate if decay else gradient))
        v1.add_n(errors, name="loss")
        v1.group(*updates, name="train")

    return build


@pytest.mark.parametrize(("decay", "values"), [(False, 8), (True, 12)])
def test_the_usual_step_of_parameter_servers_agrees_without_further_messages(decay, values):
    places = Places(WORKER, {Task("ps", 0): 2, Task("ps", 1): 3, WORKER: 1})
    with v1.Graph().as_default() as graph:
        training(2, decay)()
    planner = GraphPlanner()
    signature = Signature((), ("loss:0",), ("train",))
    pieces = planner.plan(planner.extend(None, graph.serialized()), signature, places)
    sends = [n.name for piece in pieces for n in nodes(piece).values() if n.op == "_Send"]
    carried = [name for name in sends if not name.startswith("_fetch")]
    # Two looks at each weight, a gradient and the word that it is applied. Only a server that computes with the
    # gradient has to say that it is ready, and to be told of the others.
    assert len(carried) == values, carried


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        ({}, InvalidArgumentError, "at least one target"),
        ({"fetches": ("none:0",)}, NotFoundError, "fetch none:0"),
        ({"targets": ("none",)}, NotFoundError, "target none"),
        ({"fetches": ("one:0",), "feeds": ("none:0",)}, NotFoundError, "feed none:0"),
        ({"fetches": ("idle:0",)}, InvalidArgumentError, "has no results"),
        ({"fetches": ("one:0",), "feeds": ("one:0",)}, InvalidArgumentError, "both fed and fetched"),
    ],
)
def test_what_cannot_be_asked_for(asked, error, text):
    def build() -> None:
        v1.constant(1, name="one")
        v1.no_op("idle")

    with pytest.raises(error, match=text):
        plan(build, *asked.get("fetches", ()), targets=asked.get("targets", ()), feeds=asked.get("feeds", ()))


def test_devices_that_are_not_there_and_bonds_that_cannot_be():
    def elsewhere() -> None:
        with v1.device("/job:ps/task:3"):
            v1.constant(1, name="one")

    with pytest.raises(InvalidArgumentError, match="explicitly assigned to /job:ps/task:3 but available devices"):
        plan(elsewhere, "one:0")

    def torn() -> None:
        with on_ps():
            a = v1.constant(1.0, name="a")
        with v1.device("/job:worker"):
            b = v1.square(a, name="b")
        b.op.node_def.attr["_class"].list.s.append(b"loc:@a")

    with pytest.raises(InvalidArgumentError, match="Cannot colocate"):
        plan(torn, "b:0")


def test_graphs_that_are_none():
    planner = GraphPlanner()
    two = pb.GraphDef(node=[pb.NodeDef(name="a", op="NoOp"), pb.NodeDef(name="a", op="NoOp")])
    with pytest.raises(InvalidArgumentError, match="defined twice"):
        planner.extend(None, two.SerializeToString())
    dangling = pb.GraphDef(node=[pb.NodeDef(name="a", op="Identity", input=["b"])])
    with pytest.raises(InvalidArgumentError, match="Unknown input node 'b'"):
        planner.extend(None, dangling.SerializeToString())
    ring = pb.GraphDef(
        node=[pb.NodeDef(name="a", op="NoOp", input=["^b"]), pb.NodeDef(name="b", op="NoOp", input=["^a"])]
    )
    with pytest.raises(InvalidArgumentError, match="in a circle"):
        planner.extend(None, ring.SerializeToString())
    with pytest.raises(tf.errors.DataLossError):
        planner.extend(None, b"\xff\xff")
