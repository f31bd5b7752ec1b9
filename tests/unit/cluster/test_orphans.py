"""What becomes of requests that nobody waits for any more."""

from __future__ import annotations

from tests.unit.cluster.conftest import Bench
from tests.unit.cluster.test_master import fetched, run
from tfsvc.errors import Code
from tfsvc.protocol.contract import Compute, Discard
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.messages import cluster as c

GRACE_NS = 3 * SECOND


def test_a_step_that_nobody_waits_for_ends_after_a_while(bench):
    handle = bench.open_session()
    call = run(bench, handle, "worker:0", request_id=5)
    bench.leave(call)
    bench.sleep(GRACE_NS - 1)
    assert not any(isinstance(word, Discard) for word in bench.words)
    bench.sleep(1)
    assert bench.take(Discard)
    assert bench.answer(call) is None
    late = bench.answer(run(bench, handle, "worker:0", request_id=5))
    assert late.code is Code.CANCELLED, "it is not run again"


def test_it_goes_on_for_whoever_asks_again_or_still_waits(bench):
    handle = bench.open_session()
    first, second = (run(bench, handle, "worker:0", request_id=5) for _ in range(2))
    bench.leave(first)
    bench.sleep(2 * GRACE_NS)
    bench.leave(second)
    bench.sleep(GRACE_NS // 2)
    third = run(bench, handle, "worker:0", request_id=5)
    bench.sleep(2 * GRACE_NS)
    bench.finish(fetched("worker:0", b"v"))
    assert bench.answer(third) == c.RunStepResponse((c.NamedTensor("worker:0", b"v"),))
    assert bench.answer(first) is bench.answer(second) is None


def test_a_step_that_cannot_be_asked_for_again_ends_at_once(bench):
    handle = bench.open_session()
    bench.leave(run(bench, handle, "worker:0"))
    bench.sleep(0)
    assert bench.take(Discard)


def test_a_session_that_nobody_waits_for_is_not_opened(bench):
    call = bench.ask(c.CreateSessionRequest(b"graph"))
    bench.leave(call)
    assert bench.calls(c.DeleteWorkerSessionRequest), "the tasks forget it"
    device = c.DeviceAttributes(incarnation=9)
    bench.reply(bench.calls(c.GetStatusRequest)[0], c.GetStatusResponse((device,)))
    assert bench.server.view().sessions == ()


def test_a_piece_whose_master_is_gone_ends_after_a_while(bench):
    bench.ask(c.CreateWorkerSessionRequest("s", master_task="/job:ps/replica:0/task:0", master_incarnation=9))
    graph = bench.answer(bench.ask(c.RegisterGraphRequest("s", graph_def=b"g"))).graph_handle
    request = c.RunGraphRequest("s", graph_handle=graph, step_id=1)
    bench.leave(bench.ask(request))
    bench.sleep(GRACE_NS // 2)
    again = bench.ask(request)
    bench.sleep(2 * GRACE_NS)
    assert not any(isinstance(word, Discard) for word in bench.words), "its master has asked again"
    bench.leave(again)
    bench.sleep(GRACE_NS)
    assert bench.take(Discard)
    assert bench.take(Compute)
    assert bench.answer(bench.ask(request)).code is Code.ABORTED, "it does not run a second time"
    assert bench.server.view().steps == 0


def test_what_was_answered_cannot_be_left(bench: Bench):
    handle = bench.open_session()
    call = run(bench, handle, "worker:0", request_id=5)
    bench.finish(fetched("worker:0", b"v"))
    said = len(bench.words)
    bench.leave(call)
    bench.sleep(2 * GRACE_NS)
    assert len(bench.words) == said
