"""Coordinated reads: a worker's rounds, a dispatcher's agreements, and the cache that trainers share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.protocol.conftest import Desk
from tests.unit.protocol.test_worker import MS, Bench, task
from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.rounds import Rounds
from tfsvc.protocol.contract import Asked, Produce, Produced, Reply, Stopped, Woke
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import SECOND, Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Ended, Production, Ready
from tfsvc.protocol.settings import ClientSettings
from tfsvc.protocol.worker.desk import CacheTally

OFF = m.ProcessingModeDef(m.ShardingPolicy.OFF)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def ask(bench: Bench, consumer: int, number: int, **more: Any) -> None:
    more = {"client_id": 1 + consumer, "allow_skip": True, **more}
    bench.ask(m.GetElementRequest(4000, consumer, number, **more))


def give(bench: Bench, *bodies: bytes, start: int = 0, last: bool = False) -> None:
    """What the pipeline makes."""
    frames = tuple(Frame(start + i, 1, body) for i, body in enumerate(bodies))
    bench.tell(Produced(1, Production(frames, Ended() if last else Ready())))


def answers(bench: Bench) -> list[Any]:
    return [word.answer for word in bench.words if isinstance(word, Reply)]


def element(body: bytes, index: int) -> m.GetElementResponse:
    return m.GetElementResponse(body, index)


def test_a_round_begins_when_its_last_consumer_asks_and_gives_consecutive_elements(bench):
    bench.register(task(num_consumers=2))
    ask(bench, 1, 0)
    assert bench.the(Produce).producer == 1
    give(bench, b"a", b"b", b"c")
    assert answers(bench) == []
    ask(bench, 0, 0)
    assert answers(bench) == [element(b"b", 1), element(b"a", 0)]


def test_an_endless_task_of_a_draining_worker_ends_with_the_round_that_has_begun(bench):
    bench.register(task(num_consumers=2, endless=True))
    ask(bench, 1, 0)
    give(bench, b"a", b"b", *[b"c"] * 100)
    ask(bench, 0, 0)
    bench.tell(Stopped(7, grace_ns=60 * SECOND))
    ask(bench, 0, 1)
    ask(bench, 1, 1)
    end = m.GetElementResponse(end_of_sequence=True)
    assert answers(bench)[-2:] == [end, end]


def test_a_round_without_elements_in_time_is_skipped_and_takes_none(bench):
    bench.register(task(num_consumers=2))
    ask(bench, 0, 0)
    ask(bench, 1, 0)
    give(bench, b"a")
    bench.tell(Woke(), later_ns=200 * MS)
    assert answers(bench) == [m.GetElementResponse(skip_task=True)] * 2
    give(bench, b"b", start=1)
    ask(bench, 0, 1)
    ask(bench, 1, 1)
    assert answers(bench) == [element(b"a", 0), element(b"b", 1)]


def test_a_consumer_may_ask_for_its_last_round_again_and_others_may_not(bench):
    bench.register(task(num_consumers=1))
    ask(bench, 0, 3)
    give(bench, b"a")
    assert answers(bench) == [element(b"a", 0)]
    ask(bench, 0, 3)
    assert answers(bench) == [element(b"a", 0)]
    ask(bench, 0, 3, client_id=0)
    (refused,) = answers(bench)
    assert refused.code == Code.FAILED_PRECONDITION
    assert "already reached 3" in refused.message


def test_the_end_is_told_to_all_and_what_does_not_fill_a_round_is_nobody_s(bench):
    bench.register(task(num_consumers=2))
    ask(bench, 0, 0)
    ask(bench, 1, 0)
    give(bench, b"a", last=True)
    assert answers(bench) == [m.GetElementResponse(end_of_sequence=True)] * 2
    assert bench.asked(m.WorkerUpdateRequest).request.updates == (m.TaskProgress(4000, True),)


def test_tensorflow_s_readers_are_told_that_rounds_have_no_end(bench):
    bench.register(task(num_consumers=1))
    ask(bench, 0, 0, client_id=0)
    give(bench, last=True)
    (refused,) = answers(bench)
    assert refused.code == Code.FAILED_PRECONDITION
    assert "infinite cardinality" in refused.message


def test_a_consumer_that_waits_too_long_is_told_who_is_missing(bench):
    bench.register(task(num_consumers=3))
    ask(bench, 1, 0, patience_ns=500 * MS)
    bench.tell(Woke(), later_ns=600 * MS)
    (late,) = answers(bench)
    assert late.code == Code.DEADLINE_EXCEEDED
    assert "Consumers 0, 2 of 3 have not asked for round 0" in late.message


def test_in_a_first_round_those_who_came_one_later_are_done_without(bench):
    bench.register(task(num_consumers=3))
    ask(bench, 0, 4)
    give(bench, b"a", b"b", b"c")
    ask(bench, 1, 5, skipped_previous_round=True)
    assert answers(bench) == []
    ask(bench, 2, 5)
    assert answers(bench) == [m.GetElementResponse(skip_task=True)]
    ask(bench, 0, 5)
    assert answers(bench) == [element(b"b", 1), element(b"c", 2), element(b"a", 0)]


@pytest.mark.parametrize("where", [(-1, 0), (2, 0), (0, -1), (None, None)])
def test_a_consumer_that_cannot_be_is_refused(bench, where):
    bench.register(task(num_consumers=2))
    ask(bench, *where) if where[0] is not None else bench.ask(m.GetElementRequest(4000))
    assert answers(bench)[0].code == Code.FAILED_PRECONDITION


def test_trainers_read_the_same_elements_each_at_its_pace(bench):
    bench.register(task(use_cross_trainer_cache=True))
    read(bench, "a", 0)
    give(bench, b"1", b"2")
    assert answers(bench) == [element(b"1", 0)]
    read(bench, "a", 1)
    assert answers(bench) == [element(b"2", 1)]
    read(bench, "b", 0)
    assert answers(bench) == [element(b"1", 0)]
    read(bench, "a", 2)
    assert answers(bench) == []
    give(bench, b"3", start=2)
    assert answers(bench) == [element(b"3", 2)]
    read(bench, "b", 1)
    assert answers(bench) == [element(b"2", 1)]
    assert bench.worker.view().cache == CacheTally(hits=2, misses=3)


def test_what_was_answered_into_the_void_is_answered_again(bench):
    bench.register(task(use_cross_trainer_cache=True))
    read(bench, "a", 0)
    give(bench, b"1", b"2")
    assert answers(bench) == [element(b"1", 0)]
    read(bench, "a", 0)
    assert answers(bench) == [element(b"1", 0)]
    read(bench, "a", 1)
    assert answers(bench) == [element(b"2", 1)]
    read(bench, "a", 0)
    assert answers(bench) == [m.GetElementResponse(skip_task=True)], "an old question that comes late takes nothing"


def test_a_trainer_that_falls_behind_the_window_is_told_what_it_missed(bench):
    bench.worker._desk.settings = type(bench.worker._desk.settings)("w", "d", cache_bytes=2 * 65)
    bench.register(task(use_cross_trainer_cache=True))
    for i in range(4):
        read(bench, "fast", i)
        give(bench, b"%d" % i, start=i)
    read(bench, "slow", 0)
    assert answers(bench) == [m.GetElementResponse(b"2", 2, passed_over=2)]
    assert bench.worker.view().cache == CacheTally(hits=1, misses=4, evicted_unread=2)
    assert bench.worker.view().buffered == 0


def test_an_element_larger_than_the_cache_is_refused(bench):
    bench.worker._desk.settings = type(bench.worker._desk.settings)("w", "d", cache_bytes=70)
    bench.register(task(use_cross_trainer_cache=True))
    read(bench, "a", 0)
    give(bench, b"x" * 10)
    (refused,) = answers(bench)
    assert refused.code == Code.INVALID_ARGUMENT
    assert "cross_trainer_cache_size_bytes" in refused.message


def read(bench: Bench, trainer_id: str, had: int) -> None:
    """A trainer that has so many elements asks for the next one."""
    bench.ask(m.GetElementRequest(4000, trainer_id=trainer_id, client_id=ord(trainer_id[0]), ordinal=had))


# --- the dispatcher ---


def two(desk: Desk) -> tuple[int, int]:
    """Both readers of a coordinated job."""
    job = desk.ask(m.GetOrCreateJobRequest(desk.register(), OFF, "job", 2)).job_id
    one, other = (desk.ask(m.GetOrCreateIterationRequest(job)).iteration_client_id for _ in range(2))
    return one, other


def tasks(desk: Desk, client_id: int, **more: Any) -> list[tuple[int, int]]:
    """Each task and the round in which it starts."""
    return [(info.task_id, info.starting_round) for info in desk.beat(client_id, **more).task_info]


def test_a_worker_that_joins_later_begins_in_a_round_that_all_readers_have_agreed_on(desk):
    desk.worker("w1")
    one, other = two(desk)
    desk.worker("w2")
    assert desk.beat(one, current_round=0).block_round == 1
    assert desk.beat(other, current_round=3).block_round == 5
    assert tasks(desk, one, current_round=4) == [(4000, 0)]
    desk.beat(one, current_round=5, blocked_round=5)
    assert tasks(desk, other, current_round=4) == [(4000, 0)]
    assert desk.beat(one, current_round=5, blocked_round=5).block_round is not None
    target = desk.beat(one).block_round
    desk.beat(one, blocked_round=target)
    assert desk.beat(other, blocked_round=target).block_round is None
    assert tasks(desk, one) == [(4000, 0), (4001, target)]


def test_a_task_is_removed_when_all_readers_give_it_up_in_the_same_round(desk):
    desk.worker("w1")
    desk.worker("w2")
    one, other = two(desk)
    desk.beat(one)
    first = remove(desk, 0, 7)
    assert first == []
    assert remove(desk, 1, 7) == [m.MaybeRemoveTaskResponse(True)] * 2
    assert [task_id for task_id, _ in tasks(desk, other)] == [4001]
    assert remove(desk, 0, 7) == [m.MaybeRemoveTaskResponse(True)]


def test_readers_in_other_rounds_do_not_give_a_task_up(desk):
    desk.worker("w1")
    two(desk)
    remove(desk, 0, 7)
    assert remove(desk, 1, 8) == [m.MaybeRemoveTaskResponse(False)] * 2
    remove(desk, 0, 9)
    desk.now += 11_000_000_000
    step = desk.machine.handle(Woke(), desk.now)
    assert [w.answer for w in step.words if isinstance(w, Reply)] == [m.MaybeRemoveTaskResponse(False)]


def remove(desk: Desk, consumer: int, number: int, task_id: int = 4000) -> list[m.Response | RpcError]:
    """All that is answered when a reader asks to give a task up."""
    desk.now += 1_000_000
    call = CallId("reader", 1, desk.now)
    request = m.MaybeRemoveTaskRequest(task_id, consumer, number)
    step = desk.machine.handle(Asked(call, Address("reader"), request), desk.now)
    desk.records.extend(step.updates)
    return [word.answer for word in step.words if isinstance(word, Reply)]


def test_an_agreement_survives_the_dispatcher(desk):
    desk.worker("w1")
    one, other = two(desk)
    desk.worker("w2")
    desk.beat(one, current_round=0, blocked_round=1)
    desk.beat(other, current_round=0, blocked_round=1)
    again = Desk(records=desk.records)
    assert tasks(again, one) == [(4000, 0), (4001, 1)]


def test_a_lost_task_is_over_when_all_readers_have_given_it_up_and_no_other_takes_its_place(desk):
    desk.worker("w1")
    desk.worker("w2")
    one, other = two(desk)
    desk.ask(m.WorkerUpdateRequest("w2", (m.TaskProgress(4001, True),)))
    desk.worker("w1", incarnation=2)
    desk.ask(m.WorkerUpdateRequest("w1", (m.TaskProgress(4002, True),)))
    lost = desk.beat(one).task_info[0]
    assert (lost.task_id, lost.finished, lost.lost) == (4000, True, True)
    assert not desk.beat(other).iteration_finished
    remove(desk, 0, 3)
    assert remove(desk, 1, 3) == [m.MaybeRemoveTaskResponse(True)] * 2
    assert desk.beat(one).iteration_finished


def test_of_a_worker_that_is_gone_readers_still_learn_the_round_of_its_task(desk):
    desk.worker("w1")
    one, other = two(desk)
    desk.worker("w2")
    desk.beat(one, current_round=0, blocked_round=1)
    desk.beat(other, current_round=0, blocked_round=1)
    desk.worker("w2", leaving=True)
    desk.now += 11 * SECOND
    desk.machine.handle(Woke(), desk.now)
    gone = desk.beat(one).task_info[1]
    assert (gone.task_id, gone.starting_round, gone.lost, gone.transfer_servers) == (4001, 1, True, ())


# --- a consumer ---


def test_a_consumer_that_had_all_of_a_lost_task_gives_it_up_in_the_round_in_which_it_ended():
    rounds = Rounds(ClientSettings("d"), Luck(0, "r"), 1)
    info = m.TaskInfo("w", (m.DataTransferServerInfo("tfsvc", "w"),), task_id=4000)
    rounds.reconcile(m.ClientHeartbeatResponse((info,)))
    ((slot, _, question, _),) = rounds.requests(3000, 0)
    assert isinstance(question, m.GetElementRequest)
    rounds.answered(slot, m.GetElementResponse(end_of_sequence=True), 0)
    rounds.reconcile(m.ClientHeartbeatResponse((replace(info, finished=True),)))
    assert list(rounds.requests(3000, 1)) == [], "it had given all it had"
    rounds.reconcile(m.ClientHeartbeatResponse((replace(info, finished=True, lost=True),)))
    ((slot, peer, question, _),) = rounds.requests(3000, 2)
    assert (peer, question) == ("d", m.MaybeRemoveTaskRequest(4000, 1, 0))
    rounds.answered(slot, m.MaybeRemoveTaskResponse(False), 2)
    ((slot, _, again, _),) = rounds.requests(3000, 2)
    assert again == question
    rounds.answered(slot, m.MaybeRemoveTaskResponse(True), 2)
    assert list(rounds.requests(3000, 3)) == []
