"""Static sharding: which worker has which shard, and what its lanes wait for."""

from __future__ import annotations

import pytest

from tests.unit.protocol.conftest import Desk, servers
from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Woke
from tfsvc.protocol.dispatcher.shards import matches
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.protocol.splits import Lease, Span, SplitPosition

DATA = m.ShardingPolicy.DATA


def desk_for(*addresses: str) -> Desk:
    return Desk(DispatcherSettings(worker_addresses=addresses))


def places(desk: Desk) -> dict[str, int | None]:
    return {worker.address: worker.index for worker in desk.machine.state.workers.values()}


@pytest.mark.parametrize(
    ("entry", "address", "fits"),
    [
        ("localhost:1", "localhost:1", True),
        ("localhost:1", "localhost:2", False),
        ("localhost:%port%", "localhost:2", True),
        ("localhost:%port_worker%", "localhost:2", True),
        ("localhost", "localhost:2", True),
        ("localhost", "localhost", True),
        ("localhost:worker", "localhost:2", False),
        ("localhost:%port", "localhost:2", False),
        ("other:%port%", "localhost:2", False),
        ("localhost:%port%", "localhost", False),
        ("/job/worker/0", "/job/worker/0", True),
        ("[::1]:%port%", "[::1]:7", True),
    ],
)
def test_an_entry_may_leave_its_port_open(entry, address, fits):
    assert matches(entry, address) == fits


def test_places_are_given_in_the_order_of_registration():
    desk = desk_for("h:%port%", "other:1", "h:%port%")
    for address in ("h:9", "other:1", "h:5"):
        desk.worker(address)
    desk.worker("h:5", incarnation=2)
    assert places(desk) == {"h:9": 0, "other:1": 1, "h:5": 2}
    assert places(Desk(desk.settings, desk.records)) == places(desk)


def test_a_worker_without_a_place_is_refused_and_not_registered():
    desk = desk_for("h:%port%")
    desk.worker("h:1")
    for address in ("h:2", "elsewhere:1"):
        error = desk.refused(m.WorkerHeartbeatRequest(address, servers(address), incarnation=1))
        assert error.code == Code.FAILED_PRECONDITION
        assert "The worker's address is not configured" in error.message
        assert "other workers are already running at the configured host" in error.message
    assert places(desk) == {"h:1": 0}


def test_another_worker_may_take_the_place_of_one_that_is_lost():
    desk = desk_for("h:%port%")
    desk.worker("h:1")
    desk.worker("h:1", leaving=True)
    desk.now += 11 * SECOND
    desk.machine.handle(Woke(), desk.now)
    desk.worker("h:2")
    assert places(desk) == {"h:2": 0}
    assert desk.refused(m.WorkerHeartbeatRequest("h:1", servers("h:1"), incarnation=2)).code == Code.FAILED_PRECONDITION


def test_tasks_say_the_worker_its_share():
    desk = desk_for("w1", "w2")
    desk.worker("w2")
    desk.reader(desk.register(), DATA)
    (task,) = desk.worker("w1").new_tasks
    assert (task.num_workers, task.worker_index, task.num_split_providers) == (2, 0, 0)
    assert task.processing_mode_def.sharding_policy == DATA
    (task,) = desk.worker("w2").new_tasks
    assert (task.num_workers, task.worker_index) == (2, 1)


def test_elements_of_a_shard_are_leased_without_an_end():
    desk = desk_for("w1", "w2")
    desk.worker("w1")
    desk.worker("w2")
    dataset_id = desk.register(count=10)
    one, two = desk.reader(dataset_id, DATA, "job"), desk.reader(dataset_id, DATA, "job")
    lanes = [*desk.beat(one).lanes, *desk.beat(two).lanes]
    assert [lane.worker_address for lane in lanes] == ["w1", "w2", "w1", "w2"]
    opened = [desk.ask(m.OpenLaneRequest(l.lane_id, 1, l.worker_address, 16)).leases for l in lanes]  # noqa: E741
    start = SplitPosition(0, 0)
    first, second = Lease(0, start, (Span(0, 16),)), Lease(0, start, (Span(16, 32),))
    assert opened == [(first,), (first,), (second,), (second,)]


def test_a_lane_waits_for_a_worker_in_its_place():
    desk = desk_for("w1", "w2")
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), DATA)
    one, two = desk.beat(reader).lanes
    refused = m.LaneComplaint(one.lane_id, 1, "gone", refused=True)
    unreachable = m.LaneComplaint(two.lane_id, 1, "out of reach")
    after = desk.beat(reader, complaints=(refused, unreachable)).lanes
    assert [(lane.worker_address, lane.attempt) for lane in after] == [("w1", 2), ("w2", 1)]
    desk.worker("w2", incarnation=2)
    assert [(lane.worker_address, lane.attempt) for lane in desk.beat(reader).lanes] == [("w1", 2), ("w2", 2)]


def test_the_end_comes_when_every_shard_has_ended():
    desk = desk_for("w1", "w2")
    desk.worker("w1")
    reader = desk.reader(desk.register(), DATA)
    (lane,) = desk.beat(reader).lanes
    assert not desk.beat(reader, m.LaneProgress(lane.lane_id, 5, True)).iteration_finished
    desk.worker("w2")
    (lane,) = desk.beat(reader).lanes
    assert lane.worker_address == "w2"
    news = desk.beat(reader, m.LaneProgress(lane.lane_id, 5, True))
    assert news.iteration_finished
    assert not news.warning


@pytest.mark.parametrize("registered", [True, False])
def test_a_shard_is_given_up_when_no_worker_comes_for_it(registered):
    desk = desk_for("w1", "w2")
    desk.worker("w1")
    if registered:
        desk.worker("w2")
    reader = desk.reader(desk.register(), DATA)
    lane = desk.beat(reader).lanes[0]
    desk.beat(reader, m.LaneProgress(lane.lane_id, 5, True))
    end = desk.now + desk.settings.worker_timeout_ns
    while desk.now < end:
        desk.now += 60 * SECOND
        desk.worker("w1")
        desk.beat(reader)
        assert desk.machine.deadline() < end + SECOND
        desk.machine.handle(Woke(), desk.now)
    news = desk.beat(reader)
    assert news.iteration_finished
    assert "1 of 2 shards" in news.warning


def test_a_reader_of_tensorflow_meets_the_end_when_every_task_has():
    desk = desk_for("w1", "w2")
    desk.worker("w1")
    desk.worker("w2")
    job = desk.ask(m.GetOrCreateJobRequest(desk.register(), m.ProcessingModeDef(DATA)))
    reader = desk.ask(m.GetOrCreateIterationRequest(job.job_id)).iteration_client_id

    def finished() -> bool:
        answer = desk.ask(m.ClientHeartbeatRequest(reader))
        assert not isinstance(answer, RpcError)
        return bool(answer.iteration_finished)

    assert not finished()
    desk.ask(m.WorkerUpdateRequest("w1", (m.TaskProgress(4000, True),)))
    assert not finished()
    desk.ask(m.WorkerUpdateRequest("w2", (m.TaskProgress(4001, True),)))
    assert finished()
