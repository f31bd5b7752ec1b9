"""How a piece runs: in which order, in which runs, and what a failure leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfsvc.errors import Code
from tfsvc.graph.execution import Execution, encode_tensor
from tfsvc.graph.program import compile_graph
from tfsvc.graph.resources import Resources
from tfsvc.graph.runner import GraphRunner
from tfsvc.graph.values import Handle
from tfsvc.protocol.computing import Failure, Finished, Program, Value, Waiting
from tfsvc.protocol.contract import Compute, Wipe
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import parse
from tfsvc.wire.tensors import from_proto, to_proto

V = Handle("var", "job", "v")


def node(name: str, op: str, *inputs: str, **attrs: Any) -> pb.NodeDef:
    made = pb.NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        if isinstance(value, str):
            made.attr[key].s = value.encode()
        elif isinstance(value, int):
            made.attr[key].type = value  # type: ignore[assignment]
        else:
            made.attr[key].tensor.CopyFrom(to_proto(value))
    return made


def graph(*nodes: pb.NodeDef) -> bytes:
    return pb.GraphDef(node=nodes).SerializeToString()


def execution(state: Resources, *nodes: pb.NodeDef) -> Execution:
    return Execution(compile_graph(graph(*nodes), "job", lambda: 1), state)


def value(key: str, number: float) -> Value:
    return Value(key, encode_tensor(np.float32(number)))


def numbers(sent: tuple[Value, ...]) -> dict[str, float]:
    return {v.key: float(from_proto(parse(pb.TensorProto, v.tensor))) for v in sent if not v.dead}


ONE = node("one", "Const", value=np.float32(1))
HANDLE = node("v", "VarHandleOp")


def test_a_piece_runs_as_far_as_its_values_go():
    piece = execution(
        Resources(),
        ONE,
        node("in", "_Recv", tensor_name="a"),
        node("sum", "AddV2", "in", "one"),
        node("early", "_Send", "one", tensor_name="e"),
        node("out", "_Send", "sum", tensor_name="o"),
    )
    first = piece.run(())
    assert (numbers(first.sent), first.status) == ({"e": 1}, Waiting(("a",)))
    second = piece.run((value("a", 4),))
    assert (numbers(second.sent), second.status) == ({"o": 5}, Finished())


def test_reads_come_before_writes_and_a_write_before_what_waits_for_it():
    state = Resources()
    state.write(V, np.float32(10))
    piece = execution(
        state,
        ONE,
        HANDLE,
        node("add", "AssignAddVariableOp", "v", "one"),
        node("before", "ReadVariableOp", "v"),
        node("after", "ReadVariableOp", "v", "^add"),
        node("b", "_Send", "before", tensor_name="b"),
        node("a", "_Send", "after", tensor_name="a"),
    )
    assert numbers(piece.run(()).sent) == {"b": 10, "a": 11}


def test_a_failure_takes_back_what_the_run_has_written():
    state = Resources()
    state.write(V, np.float32(10))
    state.keep()
    piece = execution(
        state,
        ONE,
        HANDLE,
        node("add", "AssignAddVariableOp", "v", "one"),
        node("wrong", "Const", "^add", value=np.zeros(3, np.float32)),
        node("bad", "AssignAddVariableOp", "v", "wrong"),
    )
    status = piece.run(()).status
    assert isinstance(status, Failure)
    assert status.error.code is Code.INVALID_ARGUMENT
    assert status.error.message.endswith("[[{{node bad}}]]")
    assert state.read(V) == 10


def test_what_was_read_stays_what_it_was():
    state = Resources()
    state.write(V, np.zeros(3, np.float32))
    before = state.read(V)
    execution(
        state,
        ONE,
        HANDLE,
        node("fill", "Const", value=np.ones(3, np.float32)),
        node("add", "AssignAddVariableOp", "v", "fill"),
    ).run(())
    assert before.tolist() == [0, 0, 0]
    assert state.read(V).tolist() == [1, 1, 1]


def branches(taken: bool) -> list[pb.NodeDef]:
    return [
        ONE,
        node("p", "Const", value=np.bool_(taken)),
        node("s", "Switch", "one", "p"),
        node("twice", "AddV2", "s:1", "s:1"),
        node("less", "Neg", "s"),
        node("dead_out", "_Send", "twice", tensor_name="t"),
        node("m", "Merge", "less", "twice"),
        node("out", "_Send", "m", tensor_name="o"),
        node("which", "_Send", "m:1", tensor_name="w"),
    ]


@pytest.mark.parametrize(("taken", "out"), [(True, 2), (False, -1)])
def test_only_the_branch_that_is_taken_runs(taken, out):
    sent = execution(Resources(), *branches(taken)).run(()).sent
    assert numbers(sent)["o"] == out
    assert numbers(sent)["w"] == taken
    assert next(v.dead for v in sent if v.key == "t") is not taken


def test_a_value_of_a_branch_not_taken_makes_its_users_dead_elsewhere_too():
    piece = execution(
        Resources(),
        node("in", "_Recv", tensor_name="a"),
        node("n", "Neg", "in"),
        node("o", "_Send", "n", tensor_name="o"),
    )
    piece.run(())
    (sent,) = piece.run((Value("a", encode_tensor(np.float32(0)), dead=True),)).sent
    assert sent.dead


QUEUE = node("q", "FIFOQueueV2", shared_name="q")


def test_a_dequeue_waits_until_another_piece_has_put_something_in():
    state = Resources()
    take = execution(state, QUEUE, node("d", "QueueDequeueV2", "q"), node("o", "_Send", "d", tensor_name="o"))
    assert take.run(()).status == Waiting((), stalled=True)
    put = execution(state, QUEUE, ONE, node("e", "QueueEnqueueV2", "q", "one"))
    assert put.run(()).stirred
    assert numbers(take.run(()).sent) == {"o": 1}


def test_a_failure_puts_back_what_was_taken_from_a_queue():
    state = Resources()
    execution(state, QUEUE, ONE, node("e", "QueueEnqueueV2", "q", "one")).run(())
    failing = execution(
        state,
        QUEUE,
        node("d", "QueueDequeueV2", "q"),
        node("f", "Const", "^d", value=np.bool_(False)),
        node("a", "Assert", "f"),
    )
    assert isinstance(failing.run(()).status, Failure)
    assert len(state.queue(Handle("queue", "job", "q")).rows) == 1


def test_an_operator_that_is_not_known_fails_when_it_is_run_and_not_before():
    piece = execution(Resources(), *branches(True), node("odd", "Strange", "less"))
    assert piece.run(()).status == Finished(), "it lies on the branch that is not taken"
    status = execution(Resources(), node("odd", "Strange")).run(()).status
    assert isinstance(status, Failure)
    assert (status.error.code, "'Strange' of node 'odd'" in status.error.message) == (Code.UNIMPLEMENTED, True)


def test_a_runner_keeps_state_by_container_and_by_session():
    runner = GraphRunner()
    write = graph(ONE, HANDLE, node("w", "AssignVariableOp", "v", "one"))
    read = graph(HANDLE, node("r", "ReadVariableOp", "v"))

    def run(piece: int, program: bytes, scope: str = "") -> Any:
        return runner.run(Compute(piece, Program(program, "session", scope, "job", "task"), ())).status

    assert run(1, write) == Finished()
    assert run(2, read) == Finished()
    assert isinstance(run(3, read, "session"), Failure)
    runner.wipe(Wipe(("other",)))
    assert run(4, read) == Finished()
    runner.wipe(Wipe(("job",)))
    status = run(5, read)
    assert isinstance(status, Failure)
    assert status.error.code is Code.FAILED_PRECONDITION


def test_a_piece_that_was_given_up_says_so():
    runner = GraphRunner()
    status = runner.run(Compute(1, None, ())).status
    assert isinstance(status, Failure)
    assert status.error.code is Code.CANCELLED
    bad = runner.run(Compute(2, Program(b"\xff", "", "", "job", "task"), ())).status
    assert isinstance(bad, Failure)
