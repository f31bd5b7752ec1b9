"""A worker that ends in good order: the dispatcher knows at once, and others take over."""

from __future__ import annotations

import pytest

from tests.unit.protocol.conftest import Desk, servers
from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Call, Failed, Finish, Stopped, Woke
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.settings import WorkerSettings
from tfsvc.protocol.worker.machine import Worker


def test_lanes_of_a_worker_that_leaves_move_at_once(desk: Desk) -> None:
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), m.ShardingPolicy.DYNAMIC)
    desk.beat(reader)
    desk.ask(m.WorkerHeartbeatRequest("w1", servers("w1"), incarnation=1, leaving=True))
    assert [lane.worker_address for lane in desk.beat(reader).lanes] == ["w2", "w2"]


def test_a_worker_that_is_not_known_may_leave(desk: Desk) -> None:
    desk.ask(m.WorkerHeartbeatRequest("w1", servers("w1"), incarnation=1, leaving=True))
    assert desk.ask(m.GetWorkersRequest()) == m.GetWorkersResponse()


def test_a_worker_may_leave_a_dispatcher_that_has_not_heard_of_it_since_its_restart(desk: Desk) -> None:
    desk.worker("w1")
    again = Desk(records=desk.records)
    again.ask(m.WorkerHeartbeatRequest("w1", servers("w1"), incarnation=1, leaving=True))
    again.now += 11 * SECOND
    again.records.extend(again.machine.handle(Woke(), again.now).updates)
    assert "w1" not in again.machine.state.workers
    again.worker("w1", incarnation=2)
    assert "w1" in again.machine.state.workers


@pytest.mark.parametrize("reached", [True, False])
def test_a_worker_ends_when_the_dispatcher_knows_or_cannot_be_reached(reached: bool) -> None:
    worker = Worker(WorkerSettings("w", "d"), 1, Luck(0, "w"))
    (first,) = worker.handle(Woke(), 0).words
    assert isinstance(first, Call)
    worker.handle(Answered(first.call, m.WorkerHeartbeatResponse()), 1)
    (second,) = worker.handle(Woke(), worker.deadline()).words
    assert isinstance(second, Call)
    assert worker.handle(Stopped(7), 2 * SECOND).words == (), "one heartbeat is on its way"
    (last,) = worker.handle(Answered(second.call, m.WorkerHeartbeatResponse()), 2 * SECOND).words
    assert isinstance(last, Call)
    assert isinstance(last.request, m.WorkerHeartbeatRequest)
    assert last.request.leaving
    refused = Failed(last.call, RpcError(Code.UNAVAILABLE, "connection refused"))
    answer = Answered(last.call, m.WorkerHeartbeatResponse()) if reached else refused
    assert worker.handle(answer, 3 * SECOND).words == (Finish(7, None),)
    assert worker.handle(Woke(), 3600 * SECOND).words == ()


@pytest.mark.parametrize(
    ("answer", "known"),
    [
        (None, True),
        (RpcError(Code.DEADLINE_EXCEEDED, "no answer", Outcome.UNKNOWN), True),
        (RpcError(Code.UNAVAILABLE, "connection refused"), False),
    ],
    ids=["registered", "perhaps", "surely-not"],
)
def test_a_worker_that_ends_while_it_registers_takes_leave_if_it_may_be_known(
    answer: RpcError | None, known: bool
) -> None:
    worker = Worker(WorkerSettings("w", "d"), 1, Luck(0, "w"))
    (first,) = worker.handle(Woke(), 0).words
    assert isinstance(first, Call)
    assert worker.handle(Stopped(7), 1).words == ()
    event = Answered(first.call, m.WorkerHeartbeatResponse()) if answer is None else Failed(first.call, answer)
    (word,) = worker.handle(event, 2).words
    assert (isinstance(word, Call) and word.request.leaving) if known else word == Finish(7, None)  # type: ignore[union-attr]


def test_a_worker_that_hears_nothing_gives_its_work_away_and_comes_back_when_it_is_answered() -> None:
    worker = Worker(WorkerSettings("w1", "d", deaf_ns=60 * SECOND), 1, Luck(0, "worker"))
    now, said = 0, []
    while now < 100 * SECOND:
        for word in worker.handle(Woke(), now).words:
            if isinstance(word, Call):
                said.append((now // SECOND, word.request.leaving))
                worker.handle(Failed(word.call, RpcError(Code.UNAVAILABLE, "lost", Outcome.UNKNOWN)), now)
        now = max(now + 1, worker.deadline())
    assert [leaving for at, leaving in said if at < 60] == [False] * sum(at < 60 for at, _ in said)
    assert all(leaving for at, leaving in said if at > 60)
    (beat,) = [word for word in worker.handle(Woke(), now).words if isinstance(word, Call)]
    worker.handle(Answered(beat.call, m.WorkerHeartbeatResponse()), now)
    (beat,) = [word for word in worker.handle(Woke(), worker.deadline()).words if isinstance(word, Call)]
    assert not beat.request.leaving
