"""What every driver owes a machine, one clause of the contract a test, on each driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.arms import ARMS, Arm, Store
from tests.conformance.probe import Probe, call
from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Asked, Cancelled, Failed
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages.cluster import RunStepRequest, RunStepResponse
from tfsvc.protocol.updates import LoseWorker

MIB = 1 << 20
LONG_TEXT = "Größe passt nicht: " + "x" * 20_000


@pytest.fixture(params=ARMS)
def arm(request: pytest.FixtureRequest) -> Iterator[Arm]:
    made = ARMS[request.param]()
    yield made
    made.close()


def echo(request: m.Request) -> m.Response | RpcError | None:
    """The number in a request for a split."""
    assert isinstance(request, m.GetSplitRequest)
    return m.GetSplitResponse(split=request.repetition)


def test_every_call_is_answered_once(arm: Arm) -> None:
    server = arm.node(Probe(answer=echo).at)
    calls = [call(i, server.address, m.GetSplitRequest(repetition=i)) for i in range(200)]
    probe = Probe(plan=[(0, calls)])
    arm.node(probe.at)
    arm.until(lambda: len(probe.answers) >= 200)
    arm.rest(0.05)
    given = {a.call.seq: a.response for a in probe.answers if isinstance(a, Answered)}
    assert len(probe.answers) == 200
    assert given == {i: m.GetSplitResponse(split=i) for i in range(200)}


def test_a_call_that_takes_too_long_is_unknown(arm: Arm) -> None:
    server = Probe()
    address = arm.node(server.at).address
    probe = Probe(plan=[(0, [call(1, address, m.GetVersionRequest(), 100 * MILLISECOND)])])
    arm.node(probe.at)
    arm.until(lambda: bool(probe.answers))
    (failed,) = probe.answers
    assert isinstance(failed, Failed)
    assert (failed.error.code, failed.error.outcome) == (Code.DEADLINE_EXCEEDED, Outcome.UNKNOWN)
    assert len(server.asked) == 1


def test_a_late_answer_is_dropped(arm: Arm) -> None:
    server = arm.node(Probe(answer=echo, delay_ns=150 * MILLISECOND).at)
    probe = Probe(plan=[(0, [call(1, server.address, m.GetSplitRequest(), 50 * MILLISECOND)])])
    arm.node(probe.at)
    arm.until(lambda: bool(probe.answers))
    arm.rest(0.3)
    assert len(probe.answers) == 1


def test_a_peer_that_is_not_there_surely_did_nothing(arm: Arm) -> None:
    probe = Probe(plan=[(0, [call(1, arm.nowhere(), m.GetVersionRequest())])])
    arm.node(probe.at)
    arm.until(lambda: bool(probe.answers))
    (failed,) = probe.answers
    assert isinstance(failed, Failed)
    assert (failed.error.code, failed.error.outcome) == (Code.UNAVAILABLE, Outcome.UNREACHED)


def test_a_peer_that_dies_with_the_question_leaves_it_unknown(arm: Arm) -> None:
    server = Probe()
    node = arm.node(server.at)
    probe = Probe(plan=[(0, [call(1, node.address, m.GetVersionRequest())])])
    arm.node(probe.at)
    arm.until(lambda: bool(server.asked))
    node.crash()
    arm.until(lambda: bool(probe.answers))
    (failed,) = probe.answers
    assert isinstance(failed, Failed)
    assert failed.error.outcome is Outcome.UNKNOWN
    assert failed.error.retriable


def test_large_messages_pass_both_ways(arm: Arm) -> None:
    body = bytes(range(256)) * (20 * MIB // 256)
    server = Probe(answer=lambda _: m.GetFramesResponse((Frame(0, 1, body),)))
    address = arm.node(server.at).address
    question = m.GetOrRegisterDatasetRequest(m.DatasetDef(program=body))
    probe = Probe(plan=[(0, [call(1, address, m.GetFramesRequest()), call(2, address, question)])])
    arm.node(probe.at)
    arm.until(lambda: len(probe.answers) == 2)
    assert question in server.asked
    answers = {answer.call.seq: answer for answer in probe.answers}
    found = answers[1]
    assert isinstance(found, Answered)
    assert found.response == m.GetFramesResponse((Frame(0, 1, body),))


@pytest.mark.parametrize("code", [code for code in Code if code is not Code.OK])
def test_errors_keep_code_and_text(arm: Arm, code: Code) -> None:
    server = arm.node(Probe(answer=lambda _: RpcError(code, LONG_TEXT)).at)
    probe = Probe(plan=[(0, [call(1, server.address, m.GetVersionRequest())])])
    arm.node(probe.at)
    arm.until(lambda: bool(probe.answers))
    assert [a.error for a in probe.answers if isinstance(a, Failed)] == [RpcError(code, LONG_TEXT)]


def cancelled(server: Probe) -> list[object]:
    """The numbers of the calls of which a server was told that nobody waits for them."""
    asked = {event.call: event.request for event, _ in server.events if isinstance(event, Asked)}
    return [asked[event.call] for event, _ in server.events if isinstance(event, Cancelled)]


@pytest.mark.parametrize("dies", [True, False])
def test_a_server_learns_that_nobody_waits_any_more(arm: Arm, dies: bool) -> None:
    server = Probe(answer=lambda request: None if request.fetch else RunStepResponse())  # type: ignore[union-attr]
    address = arm.node(server.at).address
    held, quick = RunStepRequest("s", fetch=("held",)), RunStepRequest("s")
    timeout_ns = (10_000 if dies else 100) * MILLISECOND
    probe = Probe(plan=[(0, [call(1, address, quick), call(2, address, held, timeout_ns)])])
    node = arm.node(probe.at)
    arm.until(lambda: bool(probe.answers) and len(server.asked) == 2)
    if dies:
        node.crash()
    arm.until(lambda: bool(cancelled(server)))
    arm.rest(0.05)
    assert cancelled(server) == [held], "and of nothing that it has answered"


def test_a_machine_is_woken_at_or_after_its_deadline(arm: Arm) -> None:
    delays = [0, 20 * MILLISECOND, 60 * MILLISECOND]
    server = arm.node(Probe(answer=echo).at)
    probe = Probe(plan=[(d, [call(i, server.address, m.GetSplitRequest())]) for i, d in enumerate(delays)])
    arm.node(probe.at)
    arm.until(lambda: len(probe.answers) == 3)
    woken = probe.woken()
    assert all(any(now >= woken[0] + delay for now in woken) for delay in delays)
    assert len(woken) < 20, "a machine is not woken for nothing"


def test_what_is_said_is_durable(arm: Arm) -> None:
    store = Store()
    seen: list[int] = []

    class Watching(Probe):
        """Counts what is durable at the moment an answer comes."""

        def handle(self, event, now):  # type: ignore[no-untyped-def]
            if isinstance(event, Answered):
                seen.append(len(store.durable))
            return super().handle(event, now)

    server = arm.node(Probe(answer=echo, updates=(LoseWorker("a"), LoseWorker("b"))).at, store)
    probe = Watching(plan=[(0, [call(i, server.address, m.GetSplitRequest()) for i in range(3)])])
    arm.node(probe.at)
    arm.until(lambda: len(seen) == 3)
    assert all(durable >= 2 * (order + 1) for order, durable in enumerate(seen))


def test_a_crashed_node_says_nothing_more(arm: Arm) -> None:
    listener = Probe(answer=echo)
    address = arm.node(listener.at).address
    talker = Probe(plan=[(i * 10 * MILLISECOND, [call(i, address, m.GetSplitRequest())]) for i in range(100)])
    node = arm.node(talker.at)
    arm.until(lambda: len(listener.asked) >= 3)
    node.crash()
    arm.rest(0.05)
    heard, told = len(listener.asked), len(talker.events)
    arm.rest(0.1)
    assert (len(listener.asked), len(talker.events)) == (heard, told)
