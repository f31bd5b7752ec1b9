"""The worker half: pieces, the values they wait for, and what comes late."""

from __future__ import annotations

import pytest

from tests.unit.cluster.conftest import PS, WORKER, Bench
from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.cluster.names import Key
from tfsvc.protocol.computing import Computation, Failure, Finished, Value, Waiting
from tfsvc.protocol.contract import Compute, Computed, Discard, Wipe
from tfsvc.protocol.messages import cluster as c

NEEDED = str(
    Key(
        PS.device,
        9,
        WORKER.device,
        "edge",
    )
)
GIVEN = str(Key(WORKER.device, 7, PS.device, "edge"))


@pytest.fixture
def graph(bench: Bench) -> str:
    """A registered graph of the session ``s``."""
    bench.ask(c.CreateWorkerSessionRequest("s", master_task="/job:ps/replica:0/task:0", master_incarnation=9))
    handle: str = bench.answer(bench.ask(c.RegisterGraphRequest("s", graph_def=b"g"))).graph_handle
    return handle


def run(graph: str, step_id: int = 1, **more: object) -> c.RunGraphRequest:
    return c.RunGraphRequest("s", graph_handle=graph, step_id=step_id, **more)  # type: ignore[arg-type]


def compute(
    bench: Bench, *sent: Value, waits: tuple[str, ...] = (), stalled: bool = False, stirred: bool = False
) -> int:
    """Lets the next run of a piece end: waiting, or finished where it waits for nothing."""
    piece = bench.take(Compute).piece
    status = Waiting(waits, stalled) if waits or stalled else Finished()
    bench.handle(Computed(piece, Computation(sent, status, stirred)))
    return piece


def test_status_says_which_device_it_is(bench):
    (device,) = bench.answer(bench.ask(c.GetStatusRequest())).device_attributes
    assert (device.name, device.incarnation) == (WORKER.device, 7)


def test_feeds_go_in_and_fetches_come_out(bench, graph):
    call = bench.ask(run(graph, send=(c.NamedTensor("in", b"a"),), recv_key=("k;0;k;out;0:0",)))
    assert bench.words[-1] == Compute(1, bench.words[-1].program, (Value("in", b"a"),))
    compute(bench, Value("k;0;k;out;0:0", b"b"))
    assert bench.answer(call) == c.RunGraphResponse((c.NamedTensor("k;0;k;out;0:0", b"b"),))


def test_a_piece_pulls_what_it_waits_for_and_goes_on(bench, graph):
    call = bench.ask(run(graph))
    compute(bench, waits=(NEEDED,))
    (pull,) = bench.calls(c.RecvTensorRequest)
    assert (pull.peer, pull.request.rendezvous_key) == ("ps:1", NEEDED)
    bench.reply(pull, c.RecvTensorResponse(b"v"))
    assert bench.words[-1] == Compute(1, None, (Value(NEEDED, b"v"),))
    compute(bench)
    assert bench.answer(call) == c.RunGraphResponse()


def test_a_lost_pull_is_made_again_and_a_refused_one_fails_the_piece(bench, graph):
    call = bench.ask(run(graph))
    compute(bench, waits=(NEEDED,))
    bench.reply(bench.calls(c.RecvTensorRequest)[0], RpcError(Code.DEADLINE_EXCEEDED, "", Outcome.UNKNOWN))
    bench.reply(bench.calls(c.RecvTensorRequest)[0], RpcError(Code.UNAVAILABLE, "refused"))
    assert bench.answer(call).code is Code.UNAVAILABLE


def test_a_value_is_given_whenever_it_is_asked_for_until_the_step_is_over(bench, graph):
    early = bench.ask(c.RecvTensorRequest(1, GIVEN))
    bench.ask(run(graph))
    assert bench.answer(early) is None
    compute(bench, Value(GIVEN, b"v"))
    again = bench.ask(c.RecvTensorRequest(1, GIVEN))
    assert bench.answer(early) == bench.answer(again) == c.RecvTensorResponse(b"v")
    bench.ask(c.CleanupGraphRequest(1))
    assert bench.answer(bench.ask(c.RecvTensorRequest(1, GIVEN))).code is Code.ABORTED
    assert bench.server.view().steps == 0


def test_a_key_of_another_life_is_refused_and_so_is_one_that_is_none(bench):
    other = str(Key(WORKER.device, 8, PS.device, "edge"))
    refused = bench.answer(bench.ask(c.RecvTensorRequest(1, other)))
    assert refused.code is Code.ABORTED
    assert "incarnation" in refused.message
    assert bench.answer(bench.ask(c.RecvTensorRequest(1, "what"))).code is Code.INVALID_ARGUMENT


def test_a_piece_runs_once_however_often_it_is_asked_for(bench, graph):
    first, second = bench.ask(run(graph)), bench.ask(run(graph))
    compute(bench)
    third = bench.ask(run(graph))
    assert bench.answer(first) == bench.answer(second) == bench.answer(third) == c.RunGraphResponse()
    bench.ask(c.CleanupGraphRequest(1))
    late = bench.answer(bench.ask(run(graph)))
    assert (late.code, late.message) == (Code.ABORTED, "Step 1 is over.")
    assert not any(isinstance(word, Compute) for word in bench.words)


def test_a_failure_reaches_all_that_wait_for_values_of_the_step(bench, graph):
    call = bench.ask(run(graph))
    waiting = bench.ask(c.RecvTensorRequest(1, GIVEN))
    error = RpcError(Code.INVALID_ARGUMENT, "bad")
    bench.handle(Computed(bench.take(Compute).piece, Computation((), Failure(error))))
    assert bench.answer(call) == bench.answer(waiting) == error
    assert bench.answer(bench.ask(c.RecvTensorRequest(1, GIVEN))) == error


def test_a_stalled_piece_goes_on_when_another_has_changed_a_queue(bench, graph):
    waiting = bench.ask(run(graph, 1))
    compute(bench, stalled=True)
    bench.ask(run(graph, 2))
    compute(bench, stirred=True)
    assert bench.answer(waiting) is None
    compute(bench)
    assert bench.answer(waiting) == c.RunGraphResponse()


def test_cleaning_up_gives_up_what_still_runs(bench, graph):
    call = bench.ask(run(graph))
    bench.ask(c.CleanupGraphRequest(1))
    assert bench.answer(call).code is Code.CANCELLED
    assert bench.take(Discard)
    bench.handle(Computed(1, Computation((Value(GIVEN, b"v"),), Finished())))
    assert bench.server.view().steps == 0, "what comes after all is ignored"


def test_sessions_and_graphs_that_are_not_known(bench, graph):
    gone = bench.answer(bench.ask(c.RegisterGraphRequest("other")))
    assert gone.code is Code.ABORTED
    assert "just restarted" in gone.message
    assert bench.answer(bench.ask(run("ffff"))).message == "Graph handle is not found: ffff"
    assert bench.answer(bench.ask(c.DeregisterGraphRequest("s", graph_handle=graph))) == c.DeregisterGraphResponse()
    assert bench.answer(bench.ask(run(graph))).code is Code.ABORTED


def test_a_new_life_of_a_master_ends_the_sessions_of_its_former_one(bench, graph):
    call = bench.ask(run(graph))
    bench.ask(c.CreateWorkerSessionRequest("t", False, "/job:ps/replica:0/task:0", 10))
    assert bench.answer(call).code is Code.CANCELLED
    assert bench.server.view().worker_sessions == 1


def test_isolated_state_goes_with_its_session(bench):
    bench.ask(c.CreateWorkerSessionRequest("mine", isolate_session_state=True))
    bench.ask(c.DeleteWorkerSessionRequest("mine"))
    assert bench.take(Wipe) == Wipe((), "mine")
    bench.ask(c.CleanupAllRequest(("box",)))
    assert bench.take(Wipe) == Wipe(("box",))


def test_a_piece_that_stalled_while_another_changed_the_queue_is_not_left_waiting(bench, graph):
    waiting = bench.ask(run(graph, 1))
    first = bench.take(Compute).piece
    bench.ask(run(graph, 2))
    compute(bench, stirred=True)
    bench.handle(Computed(first, Computation((), Waiting((), stalled=True))))
    compute(bench)
    assert bench.answer(waiting) == c.RunGraphResponse()


def test_a_pull_that_was_given_up_for_a_fork_is_made_again(bench, graph):
    bench.ask(run(graph))
    compute(bench, waits=(NEEDED,))
    bench.reply(bench.calls(c.RecvTensorRequest)[0], RpcError(Code.CANCELLED, "", Outcome.UNKNOWN))
    assert bench.calls(c.RecvTensorRequest)
