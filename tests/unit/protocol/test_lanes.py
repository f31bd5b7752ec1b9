"""DYNAMIC iterations: lanes, their leases, and where they go when somebody is lost."""

from __future__ import annotations

from tests.unit.protocol.conftest import Desk
from tfsvc.errors import Code
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Call, Woke
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPosition

DYNAMIC = m.ShardingPolicy.DYNAMIC


def at(offset: int, repetition: int = 0) -> SplitPosition:
    return SplitPosition(repetition, offset)


def test_a_reader_gets_one_lane_for_each_worker(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), DYNAMIC)
    lanes = desk.beat(reader).lanes
    assert lanes == (m.LaneInfo(6000, 1, 4000, "w1", 0), m.LaneInfo(6001, 1, 4001, "w2", 0))
    assert desk.beat(reader).lanes == lanes


def test_a_new_iteration_is_pushed_to_every_worker(desk):
    desk.worker("w1")
    dataset_id = desk.register()
    job = desk.ask(m.GetOrCreateJobRequest(dataset_id, m.ProcessingModeDef(DYNAMIC)))
    desk.ask(m.GetOrCreateIterationRequest(job.job_id))
    (call,) = [word for word in desk.words if isinstance(word, Call)]
    assert call.peer == "w1"
    assert call.request.task.task_id == 4000


def test_splits_are_leased_in_groups_and_again_when_asked_again(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(100), DYNAMIC)
    desk.beat(reader)
    opened = desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    assert opened == m.OpenLaneResponse(Checkpoint(), (Lease(0, at(0), (Span(0, 16),), False),))
    request = m.LeaseSplitsRequest(6000, 1, 0, at(16), 64)
    assert desk.ask(request) == m.LeaseSplitsResponse(Lease(0, at(16), (Span(16, 80),), False))
    assert desk.ask(request) == m.LeaseSplitsResponse(Lease(0, at(16), (Span(16, 80),), False))
    last = desk.ask(m.LeaseSplitsRequest(6000, 1, 0, at(80), 256))
    assert last == m.LeaseSplitsResponse(Lease(0, at(80), (Span(80, 100),), True))


def test_a_lease_that_would_leave_a_gap_is_refused(desk):
    desk.worker("w1")
    desk.beat(desk.reader(desk.register(100), DYNAMIC))
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    assert desk.refused(m.LeaseSplitsRequest(6000, 1, 0, at(17), 1)).code == Code.INVALID_ARGUMENT


def test_lanes_share_what_is_left_so_that_they_end_together(desk):
    desk.worker("w1")
    desk.worker("w2")
    desk.beat(desk.reader(desk.register(40), DYNAMIC))
    assert desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16)).leases[0].spans == (Span(0, 10),)
    assert desk.ask(m.OpenLaneRequest(6001, 1, "w2", 16)).leases[0].spans == (Span(10, 17),)


def test_a_new_life_of_a_worker_takes_its_lanes_up_again(desk):
    desk.worker("w1", incarnation=1)
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    desk.beat(reader, m.LaneProgress(6000, 4))
    tasks = desk.worker("w1", incarnation=2).new_tasks
    assert [task.task_id for task in tasks] == [4001]
    assert desk.beat(reader).lanes == (m.LaneInfo(6000, 2, 4001, "w1", 4),)
    again = desk.ask(m.OpenLaneRequest(6000, 2, "w1", 16))
    assert again.leases == (Lease(0, at(0), (Span(0, 10),), True),)


def test_an_older_life_of_a_worker_is_refused(desk):
    desk.worker("w1", incarnation=2)
    old = m.WorkerHeartbeatRequest("w1", incarnation=1, interval_ns=1)
    assert desk.refused(old).code == Code.FAILED_PRECONDITION


def test_a_lane_moves_when_its_reader_cannot_reach_the_worker(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    news = desk.beat(reader, complaints=(m.LaneComplaint(6000, 1, "out of reach"),))
    assert news.lanes[0] == m.LaneInfo(6000, 2, 4001, "w2", 0)


def test_a_reader_gets_no_new_lane_at_a_worker_it_cannot_reach(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.beat(reader, complaints=(m.LaneComplaint(6000, 1, "out of reach"),))
    assert [lane.worker_address for lane in desk.beat(reader).lanes] == ["w2", "w2"]
    desk.now += 11_000_000_000
    assert [lane.worker_address for lane in desk.beat(reader).lanes] == ["w2", "w2"]
    desk.worker("w1")
    assert [lane.worker_address for lane in desk.beat(reader).lanes] == ["w2", "w2", "w1"]


def test_an_attempt_that_is_over_gets_no_more_splits(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 1))
    desk.beat(reader, complaints=(m.LaneComplaint(6000, 1, "out of reach"),))
    assert desk.refused(m.LeaseSplitsRequest(6000, 1, 0, at(1), 1)).code == Code.FAILED_PRECONDITION
    assert desk.refused(m.OpenLaneRequest(6000, 1, "w1", 1)).code == Code.FAILED_PRECONDITION
    assert desk.refused(m.OpenLaneRequest(6000, 2, "w1", 1)).code == Code.FAILED_PRECONDITION


def test_the_only_worker_keeps_a_lane_that_is_out_of_reach(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), DYNAMIC)
    lanes = desk.beat(reader).lanes
    assert desk.beat(reader, complaints=(m.LaneComplaint(6000, 1, "out of reach"),)).lanes == lanes


def test_a_silent_worker_loses_its_lanes_but_not_its_tasks(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.now += 4_000_000_000
    desk.worker("w2")
    desk.now += 2_000_000_000
    desk.machine.handle(Woke(), desk.now)
    lanes = desk.beat(reader).lanes
    assert [(lane.lane_id, lane.attempt, lane.worker_address) for lane in lanes] == [(6000, 2, "w2"), (6001, 1, "w2")]
    assert not desk.worker("w1", current_tasks=(4000,)).tasks_to_delete


def test_a_lane_starts_again_from_the_newest_checkpoint_that_was_taken(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(100), DYNAMIC)
    desk.beat(reader)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 50))
    one, two = Checkpoint(20, (at(20),), b"1"), Checkpoint(40, (at(41),), b"2")
    desk.ask(m.LeaseSplitsRequest(6000, 1, 0, at(50), 0, one))
    desk.ask(m.LeaseSplitsRequest(6000, 1, 0, at(50), 0, two))
    desk.beat(reader, m.LaneProgress(6000, 39))
    desk.worker("w1", incarnation=2)
    desk.beat(reader)
    again = desk.ask(m.OpenLaneRequest(6000, 2, "w1", 16))
    assert again == m.OpenLaneResponse(one, (Lease(0, at(20), (Span(20, 50),), False),))


def test_the_end_comes_when_everything_was_taken(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    assert not desk.beat(reader, m.LaneProgress(6000, 9)).iteration_finished
    last = desk.beat(reader, m.LaneProgress(6000, 10, done=True))
    assert last.iteration_finished
    assert last.lanes == ()
    assert desk.worker("w1", current_tasks=(4000,)).tasks_to_delete == (4000,)


def test_what_a_reader_leaves_goes_to_the_others(desk):
    desk.worker("w1")
    dataset_id = desk.register()
    one, two = desk.reader(dataset_id, DYNAMIC, "shared"), desk.reader(dataset_id, DYNAMIC, "shared")
    desk.beat(one)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    desk.beat(two)
    desk.ask(m.ReleaseIterationClientRequest(one, (m.LaneProgress(6000, 3),)))
    lanes = {lane.lane_id: lane for lane in desk.beat(two).lanes}
    assert lanes[6000] == m.LaneInfo(6000, 2, 4000, "w1", 3)


def test_nothing_goes_to_a_reader_that_was_told_of_the_end(desk):
    desk.worker("w1")
    dataset_id = desk.register()
    one, two, three = (desk.reader(dataset_id, DYNAMIC, "shared") for _ in range(3))
    for reader, lane in ((one, 6000), (two, 6001), (three, 6002)):
        desk.beat(reader)
        desk.ask(m.OpenLaneRequest(lane, 1, "w1", 4))
    assert desk.beat(one, m.LaneProgress(6000, 4, done=True)).iteration_finished
    desk.ask(m.ReleaseIterationClientRequest(two, (m.LaneProgress(6001, 1),)))
    assert [lane.lane_id for lane in desk.beat(three).lanes] == [6001, 6002]


def test_no_reader_waits_for_what_another_has_not_taken(desk):
    desk.worker("w1")
    dataset_id = desk.register()
    one, two = desk.reader(dataset_id, DYNAMIC, "shared"), desk.reader(dataset_id, DYNAMIC, "shared")
    desk.beat(one)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    desk.beat(two)
    desk.ask(m.OpenLaneRequest(6001, 1, "w1", 16))
    assert desk.beat(two, m.LaneProgress(6001, 0, done=True)).iteration_finished
    assert not desk.beat(one).iteration_finished


def test_progress_never_goes_back_and_only_its_reader_reports_it(desk):
    desk.worker("w1")
    dataset_id = desk.register()
    one, two = desk.reader(dataset_id, DYNAMIC, "shared"), desk.reader(dataset_id, DYNAMIC, "shared")
    desk.beat(one)
    desk.beat(one, m.LaneProgress(6000, 5))
    desk.beat(one, m.LaneProgress(6000, 4))
    desk.beat(two, m.LaneProgress(6000, 9, done=True))
    assert desk.machine.view().open_lanes[6000] == (1, 5)


def test_a_dataset_that_cannot_be_split_is_refused_for_dynamic(desk):
    answer = desk.ask(m.GetOrRegisterDatasetRequest(m.DatasetDef(program=b"p", unsplittable="snapshot has no splits")))
    job = desk.ask(m.GetOrCreateJobRequest(answer.dataset_id, m.ProcessingModeDef(DYNAMIC)))
    error = desk.refused(m.GetOrCreateIterationRequest(job.job_id))
    assert (error.code, error.message) == (Code.UNIMPLEMENTED, "snapshot has no splits")


def test_a_restart_remembers_every_lease(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(100), DYNAMIC)
    desk.beat(reader)
    desk.ask(m.OpenLaneRequest(6000, 1, "w1", 16))
    desk.beat(reader, m.LaneProgress(6000, 7))
    again = Desk(records=desk.records)
    assert again.machine.state == desk.machine.state
    assert again.beat(reader).lanes == (m.LaneInfo(6000, 1, 4000, "w1", 7),)


def test_what_several_read_together_has_no_lanes(desk):
    """Rounds and the trainers' cache are of whole tasks, whatever the policy."""
    desk.worker("w1")
    for more in ({"num_consumers": 1}, {"use_cross_trainer_cache": True}):
        mode = m.ProcessingModeDef(m.ShardingPolicy.DYNAMIC)
        job = desk.ask(m.GetOrCreateJobRequest(desk.register(), mode, str(more), **more))
        opened = desk.ask(m.GetOrCreateIterationRequest(job.job_id))
        assert not opened.has_lanes
        news = desk.beat(opened.iteration_client_id)
        assert news.lanes == ()
        (info,) = news.task_info
        assert not news.iteration_finished
        desk.ask(m.WorkerUpdateRequest("w1", (m.TaskProgress(info.task_id, True),)))
        assert desk.beat(opened.iteration_client_id).iteration_finished
