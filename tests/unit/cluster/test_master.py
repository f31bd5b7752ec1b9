"""The master half: sessions, steps, repeated requests, deadlines."""

from __future__ import annotations

from typing import Any

from tests.unit.cluster.conftest import PS, WORKER, Bench
from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.computing import Value
from tfsvc.protocol.contract import Compute, Discard, Woke
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import cluster as c

LOST = RpcError(Code.DEADLINE_EXCEEDED, "no answer", Outcome.UNKNOWN)
REFUSED = RpcError(Code.UNAVAILABLE, "refused")


def fetched(name: str, tensor: bytes = b"t") -> Value:
    device = WORKER.device if name.startswith("worker") else PS.device
    return Value(f"{device};{1:016x};{device};{name};0:0", tensor)


def run(bench: Bench, handle: str, *fetches: str, request_id: int = 0, timeout_ms: int = 0) -> Any:
    options = c.RunOptions(timeout_ms)
    return bench.ask(c.RunStepRequest(handle, (), fetches, options=options, request_id=request_id))


def test_a_session_waits_for_every_task(bench):
    call = bench.ask(c.CreateSessionRequest(b"graph"))
    bench.reply(bench.calls(c.GetStatusRequest)[0], REFUSED)
    assert bench.answer(call) is None
    bench.now = bench.server.deadline()
    bench.handle(Woke())
    bench.reply(bench.calls(c.GetStatusRequest)[0], c.GetStatusResponse((c.DeviceAttributes(incarnation=9),)))
    assert bench.answer(call) is None
    bench.reply(bench.calls(c.CreateWorkerSessionRequest)[0], c.CreateWorkerSessionResponse())
    assert isinstance(bench.answer(call), c.CreateSessionResponse)


def test_the_operation_timeout_bounds_the_wait_for_tasks(bench):
    call = bench.ask(c.CreateSessionRequest(b"graph", c.SessionConfig(operation_timeout_in_ms=300)))
    bench.now = 300 * MILLISECOND
    bench.handle(Woke())
    assert bench.answer(call).code is Code.DEADLINE_EXCEEDED
    assert "/job:ps" in bench.answer(call).message


def test_filtered_tasks_are_not_asked(bench):
    call = bench.ask(c.CreateSessionRequest(b"graph", c.SessionConfig(device_filters=("/job:worker",))))
    assert isinstance(bench.answer(call), c.CreateSessionResponse)
    assert not bench.calls(c.GetStatusRequest)


def test_bad_graphs_and_filters_are_refused_at_once(bench):
    assert bench.answer(bench.ask(c.CreateSessionRequest(b"bad"))).code is Code.INVALID_ARGUMENT
    call = bench.ask(c.CreateSessionRequest(b"", c.SessionConfig(device_filters=("ps",))))
    assert "Malformed device" in bench.answer(call).message


def test_a_step_on_the_masters_own_task_needs_no_call(bench):
    handle = bench.open_session()
    call = run(bench, handle, "worker:0")
    bench.finish(fetched("worker:0", b"value"))
    assert bench.answer(call) == c.RunStepResponse((c.NamedTensor("worker:0", b"value"),))
    assert not bench.calls(c.RunGraphRequest)


def test_a_step_ends_when_all_its_pieces_have(bench):
    handle = bench.open_session()
    call = run(bench, handle, "ps:0", "worker:0")
    bench.reply(bench.calls(c.RegisterGraphRequest)[0], c.RegisterGraphResponse("1"))
    bench.finish(fetched("worker:0"))
    assert bench.answer(call) is None
    named = c.NamedTensor(fetched("ps:0").key, b"far")
    bench.reply(bench.calls(c.RunGraphRequest)[0], c.RunGraphResponse((named,)))
    assert {t.name: t.tensor for t in bench.answer(call).tensor} == {"ps:0": b"far", "worker:0": b"t"}
    assert bench.calls(c.CleanupGraphRequest)


def test_a_piece_is_registered_once_for_all_steps_of_a_kind_and_a_failure_is_not_remembered(bench):
    handle = bench.open_session()
    first = run(bench, handle, "ps:0")
    bench.reply(bench.calls(c.RegisterGraphRequest)[0], REFUSED)
    assert bench.answer(first).code is Code.UNAVAILABLE
    run(bench, handle, "ps:0")
    run(bench, handle, "ps:0")
    (register,) = bench.calls(c.RegisterGraphRequest)
    bench.reply(register, c.RegisterGraphResponse("1"))
    assert len(bench.calls(c.RunGraphRequest)) == 2


def test_an_unanswered_piece_is_asked_for_again_and_a_refused_one_ends_the_step(bench):
    handle = bench.open_session()
    call = run(bench, handle, "ps:0", "worker:0")
    bench.reply(bench.calls(c.RegisterGraphRequest)[0], c.RegisterGraphResponse("1"))
    lost = bench.calls(c.RunGraphRequest)[0]
    bench.reply(lost, LOST)
    (again,) = bench.calls(c.RunGraphRequest)
    assert again.request == lost.request, "the same request, so that the worker knows it"
    assert bench.answer(call) is None
    bench.reply(again, REFUSED)
    assert bench.answer(call).code is Code.UNAVAILABLE
    assert bench.answer(call).message.startswith("From /job:ps/replica:0/task:0:\n")
    assert bench.take(Discard), "its own piece is given up"


def test_a_repeated_request_runs_once_and_every_copy_is_answered(bench):
    handle = bench.open_session()
    first = run(bench, handle, "worker:0", request_id=5)
    second = run(bench, handle, "worker:0", request_id=5)
    bench.finish(fetched("worker:0"))
    third = run(bench, handle, "worker:0", request_id=5)
    answers = [bench.answer(call) for call in (first, second, third)]
    assert answers[0] == answers[1] == answers[2] != None  # noqa: E711
    assert not any(isinstance(word, Compute) for word in bench.words)


def test_an_answer_that_is_not_remembered_any_more_is_refused_rather_than_made_again():
    bench = Bench(remembered=1)
    handle = bench.open_session()
    for request_id in (5, 6):
        run(bench, handle, "worker:0", request_id=request_id)
        bench.finish(fetched("worker:0"))
    assert "received twice" in bench.answer(run(bench, handle, "worker:0", request_id=5)).message


def test_the_id_zero_is_never_a_repetition(bench):
    handle = bench.open_session()
    for _ in range(2):
        run(bench, handle, "worker:0")
        bench.finish(fetched("worker:0"))


def test_a_deadline_ends_a_step(bench):
    handle = bench.open_session()
    call = run(bench, handle, "worker:0", timeout_ms=50)
    bench.now = 50 * MILLISECOND
    bench.handle(Woke())
    assert bench.answer(call).code is Code.DEADLINE_EXCEEDED
    assert bench.take(Discard)


def test_closing_cancels_steps_and_a_second_time_is_aborted(bench):
    handle = bench.open_session()
    step = run(bench, handle, "worker:0")
    close = bench.ask(c.CloseSessionRequest(handle))
    assert bench.answer(close) == c.CloseSessionResponse()
    assert bench.answer(step).code is Code.CANCELLED
    assert bench.calls(c.DeleteWorkerSessionRequest)
    assert "master has restarted" in bench.answer(bench.ask(c.CloseSessionRequest(handle))).message
    assert bench.answer(run(bench, handle, "worker:0")).code is Code.ABORTED


def test_extensions_count_versions_and_may_be_repeated(bench):
    handle = bench.open_session()
    extend = c.ExtendSessionRequest(handle, b"more", 0)
    assert bench.answer(bench.ask(extend)).new_graph_version == 1
    assert bench.answer(bench.ask(extend)).new_graph_version == 1
    wrong = bench.answer(bench.ask(c.ExtendSessionRequest(handle, b"other", 0)))
    assert (wrong.code, wrong.message) == (Code.ABORTED, "Current version is 1 but caller expected 0.")
    assert bench.answer(bench.ask(c.ExtendSessionRequest(handle, b"bad", 1))).code is Code.INVALID_ARGUMENT


def test_errors_stand_in_the_response_where_the_asker_wishes_it(bench):
    call = bench.ask(c.RunStepRequest("none", fetch=("a:0",), store_errors_in_response_body=True))
    assert bench.answer(call).status_code == Code.ABORTED


def test_callables_and_devices(bench):
    handle = bench.open_session()
    options = c.CallableOptions(fetch=("worker:0",))
    made = bench.answer(bench.ask(c.MakeCallableRequest(handle, options))).handle
    call = bench.ask(c.RunCallableRequest(handle, made))
    bench.finish(fetched("worker:0", b"v"))
    assert bench.answer(call) == c.RunCallableResponse((b"v",))
    assert bench.answer(bench.ask(c.RunCallableRequest(handle, made, (b"x",)))).code is Code.INVALID_ARGUMENT
    bench.ask(c.ReleaseCallableRequest(handle, made))
    assert bench.answer(bench.ask(c.RunCallableRequest(handle, made))).code is Code.INVALID_ARGUMENT
    assert len(bench.answer(bench.ask(c.ListDevicesRequest(handle))).local_device) == 2
    assert bench.answer(bench.ask(c.PartialRunSetupRequest(handle))).code is Code.UNIMPLEMENTED


def test_a_reset_closes_all_sessions_and_waits_for_all_tasks(bench):
    handle = bench.open_session()
    call = bench.ask(c.ResetRequest(("box",)))
    assert bench.answer(call) is None
    bench.reply(bench.calls(c.CleanupAllRequest)[0], c.CleanupAllResponse())
    assert bench.answer(call) == c.ResetResponse()
    assert bench.answer(run(bench, handle, "worker:0")).code is Code.ABORTED


def test_words_of_old_timers_change_nothing(bench):
    handle = bench.open_session()
    run(bench, handle, "worker:0", timeout_ms=50)
    bench.finish(fetched("worker:0"))
    said = len(bench.words)
    bench.now = 10 * SECOND
    bench.handle(Woke())
    assert len(bench.words) == said


def test_large_answers_are_not_kept(bench):
    handle = bench.open_session()
    run(bench, handle, "worker:0", request_id=5)
    bench.finish(fetched("worker:0", bytes(20 << 20)))
    assert "received twice" in bench.answer(run(bench, handle, "worker:0", request_id=5)).message


def test_a_reset_gives_up_on_a_task_that_stays_away(bench):
    call = bench.ask(c.ResetRequest())
    bench.reply(bench.calls(c.CleanupAllRequest)[0], REFUSED)
    while bench.answer(call) is None:
        bench.now = bench.server.deadline()
        bench.handle(Woke())
        bench.reply(bench.calls(c.CleanupAllRequest)[0], REFUSED)
    assert bench.answer(call).code is Code.UNAVAILABLE
    assert "/job:ps/replica:0/task:0" in bench.answer(call).message
    assert 9 * SECOND < bench.now < 15 * SECOND


def test_clusters_that_clients_describe_are_not_supported(bench):
    config = c.SessionConfig(cluster_def=c.ClusterDef((c.JobDef("other"),)))
    assert bench.answer(bench.ask(c.CreateSessionRequest(b"", config))).code is Code.UNIMPLEMENTED
