"""Ordered jobs at the dispatcher: lanes that are dealt beforehand, who reads them, who runs them, where they begin."""

from __future__ import annotations

import pytest

from tests.unit.protocol.conftest import Desk
from tfsvc.errors import Code
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import Woke
from tfsvc.protocol.splits import Checkpoint, SplitPosition

DYNAMIC = m.ProcessingModeDef(m.ShardingPolicy.DYNAMIC)
ORDER = m.OrderDef(4, 2, 7)
PLACE = Checkpoint(5, (SplitPosition(0, 3),), b"state", 2)


def job(desk: Desk, consumers: int | None = None, name: str = "epoch") -> int:
    dataset_id = desk.register(100)
    request = m.GetOrCreateJobRequest(dataset_id, DYNAMIC, name, consumers, order=ORDER)
    return int(desk.ask(request).job_id)


def reader(desk: Desk, job_id: int, **more: object) -> int:
    request = m.GetOrCreateIterationRequest(job_id, **more)  # type: ignore[arg-type]
    return int(desk.ask(request).iteration_client_id)


def lanes(desk: Desk, client_id: int, *progress: m.LaneProgress) -> list[tuple[int, int, str, int]]:
    """Number, attempt, worker and progress of each lane."""
    found = desk.beat(client_id, *progress).lanes
    return [(lane.index, lane.attempt, lane.worker_address, lane.ordinal) for lane in found]


def test_all_lanes_are_there_from_the_start_and_spread_over_the_workers(desk):
    desk.worker("w1")
    desk.worker("w2")
    client = reader(desk, job(desk))
    assert lanes(desk, client) == [(0, 2, "w1", 0), (1, 2, "w2", 0), (2, 2, "w1", 0), (3, 2, "w2", 0)]
    opened = desk.ask(m.OpenLaneRequest(6002, 2, "w1", 16))
    assert opened == m.OpenLaneResponse(Checkpoint(), (), 2, ORDER)
    assert desk.refused(m.LeaseSplitsRequest(6002, 2, 0, SplitPosition(0, 0), 4)).code == Code.INVALID_ARGUMENT


def test_lanes_wait_for_a_worker(desk):
    client = reader(desk, job(desk))
    assert lanes(desk, client) == [(i, 2, "", 0) for i in range(4)]
    desk.worker("w1")
    assert lanes(desk, client) == [(i, 3, "w1", 0) for i in range(4)]


def test_a_worker_that_joins_takes_half_of_the_lanes_of_a_busy_one(desk):
    desk.worker("w1")
    client = reader(desk, job(desk))
    lanes(desk, client)
    desk.worker("w2")
    assert lanes(desk, client) == [(0, 2, "w1", 0), (1, 2, "w1", 0), (2, 3, "w2", 0), (3, 3, "w2", 0)]


def test_a_lane_goes_on_from_the_checkpoint_that_its_reader_reported(desk):
    desk.worker("w1")
    client = reader(desk, job(desk))
    lanes(desk, client)
    lanes(desk, client, m.LaneProgress(6001, 6, False, PLACE))
    desk.worker("w1", incarnation=2)
    assert lanes(desk, client)[1] == (1, 3, "w1", 6)
    assert desk.ask(m.OpenLaneRequest(6001, 3, "w1", 16)) == m.OpenLaneResponse(PLACE, (), 1, ORDER)


def test_a_checkpoint_beyond_what_was_taken_is_not_believed(desk):
    desk.worker("w1")
    client = reader(desk, job(desk))
    lanes(desk, client)
    lanes(desk, client, m.LaneProgress(6001, 4, False, PLACE))
    desk.worker("w1", incarnation=2)
    lanes(desk, client)
    assert desk.ask(m.OpenLaneRequest(6001, 3, "w1", 16)).checkpoint == Checkpoint()


def test_each_consumer_reads_lanes_of_its_own(desk):
    desk.worker("w1")
    job_id = job(desk, 2)
    one, other = reader(desk, job_id), reader(desk, job_id, consumer_index=1)
    assert [lane[0] for lane in lanes(desk, one)] == [0, 2]
    assert [lane[0] for lane in lanes(desk, other)] == [1, 3]


def test_a_consumer_has_its_end_when_its_own_lanes_are_done(desk):
    desk.worker("w1")
    client = reader(desk, job(desk, 2))
    lanes(desk, client)
    answer = desk.beat(client, m.LaneProgress(6000, 3, True), m.LaneProgress(6001, 3, True))
    assert answer.iteration_finished
    assert not answer.lanes


def test_the_newest_reader_of_a_consumer_has_its_lanes(desk):
    desk.worker("w1")
    job_id = job(desk)
    old = reader(desk, job_id)
    lanes(desk, old, m.LaneProgress(6000, 2))
    new = reader(desk, job_id)
    assert lanes(desk, new)[0] == (0, 3, "w1", 0)
    refused = desk.refused(m.ClientHeartbeatRequest(old, reads_lanes=True))
    assert refused.code == Code.NOT_FOUND
    assert "a newer reader" in refused.message


def test_a_reader_that_resumes_begins_at_its_token_however_far_the_lanes_had_gone(desk):
    desk.worker("w1")
    job_id = job(desk)
    first = reader(desk, job_id)
    lanes(desk, first)
    lanes(desk, first, *(m.LaneProgress(6000 + i, 9, i < 2, PLACE) for i in range(4)))
    places = (m.LanePlace(1, 6, PLACE), m.LanePlace(2, 1))
    second = reader(desk, job_id, resumes=True, places=places)
    assert [(lane[0], lane[3]) for lane in lanes(desk, second)] == [(0, 0), (1, 6), (2, 1), (3, 0)]
    assert desk.refused(m.OpenLaneRequest(6003, 3, "w1", 1)).code == Code.FAILED_PRECONDITION
    assert desk.ask(m.OpenLaneRequest(6005, 3, "w1", 1)).checkpoint == PLACE


def test_a_job_that_was_read_to_its_end_can_be_resumed(desk):
    desk.worker("w1")
    job_id = job(desk)
    first = reader(desk, job_id)
    lanes(desk, first)
    assert desk.beat(first, *(m.LaneProgress(6000 + i, 9, True) for i in range(4))).iteration_finished
    second = reader(desk, job_id, resumes=True, places=(m.LanePlace(0, 8),))
    assert lanes(desk, second) == [(0, 2, "w1", 8), (1, 2, "w1", 0), (2, 2, "w1", 0), (3, 2, "w1", 0)]


def test_a_restarted_dispatcher_knows_the_lanes_and_deals_those_that_a_torn_step_left_out(desk):
    desk.worker("w1")
    client = reader(desk, job(desk))
    before = lanes(desk, client, m.LaneProgress(6000, 3))
    records = [r for r in desk.records if not (isinstance(r, u.DealLane) and r.place.index == 3)]
    records = [r for r in records if not (isinstance(r, u.MoveLane) and r.lane_id == 6003)]
    again = Desk(records=records)
    again.worker("w1")
    assert lanes(again, client) == [*before[:3], (3, 2, "w1", 0)]


def test_the_luck_of_an_epoch_is_the_job_s_seed_and_nothing_else(desk):
    desk.worker("w1")
    reader(desk, job(desk))
    reader(desk, job(desk, name="again"))
    first, second = desk.machine.state.iterations.values()
    assert first.seed == second.seed
    other = Desk()
    other.worker("w1")
    reader(other, job(other), repetition=1)
    assert next(iter(other.machine.state.iterations.values())).seed != first.seed


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (m.GetOrCreateJobRequest("1", DYNAMIC, order=m.OrderDef(4, 0)), "at least one split"),
        (m.GetOrCreateJobRequest("1", DYNAMIC, None, 5, order=ORDER), "at least one lane a consumer"),
        (m.GetOrCreateJobRequest("1", DYNAMIC, order=m.OrderDef(5000)), "at most 1024"),
        (m.GetOrCreateJobRequest("1", m.ProcessingModeDef(m.ShardingPolicy.OFF), order=ORDER), "not OFF"),
    ],
)
def test_an_order_that_cannot_be_kept_is_refused(desk, request_, what):
    refused = desk.refused(request_)
    assert refused.code == Code.INVALID_ARGUMENT
    assert what in refused.message


def test_a_reader_that_does_not_fit_the_job_is_refused(desk):
    job_id = job(desk, 2)
    assert "no consumer 2" in desk.refused(m.GetOrCreateIterationRequest(job_id, consumer_index=2)).message
    strange = m.GetOrCreateIterationRequest(job_id, resumes=True, places=(m.LanePlace(4),))
    assert "lane 4" in desk.refused(strange).message
    loose = desk.ask(m.GetOrCreateJobRequest(desk.register(), DYNAMIC)).job_id
    assert "no fixed order" in desk.refused(m.GetOrCreateIterationRequest(loose, resumes=True)).message
    other = m.GetOrCreateJobRequest("1000", DYNAMIC, "epoch", 2, order=m.OrderDef(8, 2, 7))
    assert "Existing order" in desk.refused(other).message


def test_a_reader_may_resume_in_what_all_had_read_to_the_end(desk):
    """Nothing is kept of it but this fact; all that is needed besides is in the token."""
    desk.worker("w1")
    job_id = job(desk, consumers=2)
    both = [reader(desk, job_id, consumer_index=consumer) for consumer in (0, 1)]
    for client in both:
        found = desk.beat(client).lanes
        desk.beat(client, *(m.LaneProgress(lane.lane_id, 9, True) for lane in found))
    for client in both:
        desk.ask(m.ReleaseIterationClientRequest(client))
    assert not desk.machine.state.iterations
    again = reader(desk, job_id, consumer_index=0, resumes=True, places=(m.LanePlace(2, 6, PLACE),))
    news = desk.beat(again)
    assert [(lane.index, lane.ordinal) for lane in news.lanes] == [(0, 0), (2, 6)]
    assert not news.iteration_finished
    assert desk.beat(again, *(m.LaneProgress(lane.lane_id, 9, True) for lane in news.lanes)).iteration_finished


def test_who_comes_late_and_has_no_token_is_told_of_the_end(desk):
    desk.worker("w1")
    dataset_id = desk.register(100)
    order = m.OrderDef(4, 2, 7, remainder=m.Remainder.PAD)
    job_id = desk.ask(m.GetOrCreateJobRequest(dataset_id, DYNAMIC, "padded", 1, order=order)).job_id
    first = reader(desk, job_id)
    desk.beat(first, *(m.LaneProgress(lane.lane_id, 9, True) for lane in desk.beat(first).lanes))
    assert desk.beat(first, total=36).iteration_finished
    desk.ask(m.ReleaseIterationClientRequest(first))
    assert not desk.machine.state.iterations
    late = desk.beat(reader(desk, job_id))
    assert (late.iteration_finished, late.lanes, late.level) == (True, (), None)


def test_a_crash_at_any_moment_of_resuming_leaves_the_lanes_where_the_token_says(desk):
    desk.worker("w1")
    job_id = job(desk, consumers=2)
    for consumer in (0, 1):
        client = reader(desk, job_id, consumer_index=consumer)
        desk.beat(client, *(m.LaneProgress(lane.lane_id, 9, True) for lane in desk.beat(client).lanes))
        desk.ask(m.ReleaseIterationClientRequest(client))
    before = len(desk.records)
    request = m.GetOrCreateIterationRequest(
        job_id, 0, "nonce", 0, resumes=True, places=(m.LanePlace(0, 5, PLACE), m.LanePlace(2, 6, PLACE))
    )
    desk.ask(request)
    for kept in range(before, len(desk.records) + 1):
        after = Desk(records=desk.records[:kept])
        after.machine.handle(Woke(), after.now)
        after.worker("w1")
        client = int(after.ask(request).iteration_client_id)
        assert [(lane.index, lane.ordinal) for lane in after.beat(client).lanes] == [(0, 5), (2, 6)]
