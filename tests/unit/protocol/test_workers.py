"""Workers come, leave, fall silent and come back."""

from __future__ import annotations

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Note, Woke
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.settings import WorkerSettings
from tfsvc.protocol.worker.machine import Worker

OFF, DYNAMIC = m.ShardingPolicy.OFF, m.ShardingPolicy.DYNAMIC
SECOND = 1_000_000_000


def wake(desk):
    desk.machine.handle(Woke(), desk.now)


def test_a_worker_started_again_begins_its_part_anew(desk):
    desk.worker("w1", incarnation=1)
    reader = desk.reader(desk.register(), OFF)
    tasks = desk.worker("w1", incarnation=2).new_tasks
    assert [task.task_id for task in tasks] == [4001]
    news = desk.beat(reader)
    assert [(t.task_id, t.finished) for t in news.task_info] == [(4000, True), (4001, False)]
    assert not news.iteration_finished


def test_the_lanes_of_a_worker_that_leaves_move_at_once(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.worker("w1", leaving=True)
    assert {lane.worker_address for lane in desk.beat(reader).lanes} == {"w2"}


def test_a_whole_task_waits_a_little_for_a_worker_that_left(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), OFF)
    desk.worker("w1", leaving=True)
    desk.now += 9 * SECOND
    wake(desk)
    assert not desk.beat(reader).iteration_finished
    desk.now += 2 * SECOND
    wake(desk)
    news = desk.beat(reader)
    assert news.iteration_finished
    assert "lost" in news.warning


def test_what_a_worker_said_before_it_left_does_not_bring_it_back(desk):
    desk.worker("w1")
    desk.worker("w1", leaving=True)
    assert desk.worker("w1").new_tasks == ()
    desk.reader(desk.register(), OFF)
    assert len(desk.worker("w1", incarnation=2).new_tasks) == 1


def test_a_worker_that_is_silent_for_good_does_not_keep_the_others(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), OFF)
    desk.ask(m.WorkerUpdateRequest("w2", (m.TaskProgress(4001, True),)))
    for _ in range(3):
        desk.now += 201 * SECOND
        desk.worker("w2")
        assert not desk.beat(reader).iteration_finished
        wake(desk)
    assert desk.beat(reader).iteration_finished


def test_a_task_goes_to_workers_that_understand_the_dataset(desk):
    desk.ask(m.WorkerHeartbeatRequest("tensorflow"))
    desk.worker("ours")
    desk.reader(desk.register(), OFF)
    graph = desk.ask(m.GetOrRegisterDatasetRequest(m.DatasetDef(graph=b"g"))).dataset_id
    desk.reader(graph, OFF)
    assert [t.worker_address for t in desk.machine.state.tasks.values()] == ["ours", "tensorflow"]


def test_what_nobody_can_go_on_with_is_dropped_with_its_reader(desk):
    desk.worker("w1")
    dataset = desk.register()
    alone = desk.reader(dataset, DYNAMIC)
    named = desk.reader(dataset, DYNAMIC, "job")
    desk.beat(alone)
    desk.beat(named)
    desk.ask(m.ReleaseIterationClientRequest(alone))
    desk.ask(m.ReleaseIterationClientRequest(named))
    answer = desk.worker("w1", current_tasks=(4000, 4001))
    assert answer.tasks_to_delete == (4000,)


def warnings(desk):
    notes = (word for word in desk.machine.handle(Woke(), desk.now).words if isinstance(word, Note))
    return [note.text.split(";")[0] for note in notes]


def test_many_workers_are_asked_to_speak_less_often_and_are_missed_later(desk):
    for number in range(1000):
        desk.worker(f"w{number}")
    assert desk.worker("w0").interval_ns == 2.5 * SECOND
    desk.now += 11 * SECOND
    assert "worker w0 missed its heartbeats" not in warnings(desk)
    desk.now += 2 * SECOND
    assert "worker w0 missed its heartbeats" in warnings(desk)


def test_few_workers_speak_as_often_as_they_mean_to(desk):
    assert desk.worker("w").interval_ns == 0


def test_a_worker_speaks_as_often_as_it_is_asked_to_and_says_so():
    worker = Worker(WorkerSettings("w", "d"), 1, Luck(0, "w"))
    (call,) = worker.handle(Woke(), 0).words
    assert call.request.interval_ns == SECOND
    worker.handle(Answered(call.call, m.WorkerHeartbeatResponse(interval_ns=3 * SECOND)), 1)
    assert worker.deadline() == 3 * SECOND
    (call,) = worker.handle(Woke(), worker.deadline()).words
    assert call.request.interval_ns == 3 * SECOND


def test_a_worker_must_say_where_it_is(desk):
    """Its readers could not name it when they do not reach it, and would wait for it."""
    answer = desk.ask(m.WorkerHeartbeatRequest(""))
    assert isinstance(answer, RpcError)
    assert answer.code is Code.INVALID_ARGUMENT
