"""Which workers a reader reads from: by its target, their tags, and who is in its own process."""

from __future__ import annotations

import pytest

from tfsvc.protocol import messages as m
from tfsvc.protocol.placement import reads, target_of

T = m.TargetWorkers
OFF, DYNAMIC, DATA = m.ShardingPolicy.OFF, m.ShardingPolicy.DYNAMIC, m.ShardingPolicy.DATA


@pytest.mark.parametrize(
    ("target", "tags", "near", "expected"),
    [
        (T.ANY, ("COLOCATED",), False, True),
        (T.LOCAL, (), False, False),
        (T.LOCAL, ("COLOCATED",), True, True),
        (T.AUTO, (), False, True),
        (T.AUTO, ("other", "colocated"), False, False),
        (T.AUTO, ("COLOCATED",), True, True),
        (T.AUTO, ("COLOCATED_TOO",), False, True),
        (T.UNSPECIFIED, ("COLOCATED",), False, False),
    ],
)
def test_target_and_tags_say_which_workers_are_read(target, tags, near, expected):
    assert reads(target, "w", tags, ("w",) if near else ("other",)) is expected


@pytest.mark.parametrize(
    ("target", "policy", "mode", "expected"),
    [
        (T.AUTO, DATA, m.DeploymentMode.COLOCATED, T.LOCAL),
        (T.AUTO, DATA, m.DeploymentMode.HYBRID, T.AUTO),
        (T.AUTO, DYNAMIC, m.DeploymentMode.COLOCATED, T.AUTO),
        (T.ANY, DATA, m.DeploymentMode.COLOCATED, T.ANY),
    ],
)
def test_colocated_workers_keep_their_shards_for_their_own_trainers(target, policy, mode, expected):
    assert target_of(target, policy, mode) is expected


def opened(desk, policy, target, **more):
    job = desk.ask(m.GetOrCreateJobRequest(desk.register(), m.ProcessingModeDef(policy), "j", target_workers=target))
    return int(desk.ask(m.GetOrCreateIterationRequest(job.job_id)).iteration_client_id)


def test_a_reader_has_lanes_only_at_workers_that_it_reads(desk):
    for address in ("w1", "w2"):
        desk.worker(address)
    reader = opened(desk, DYNAMIC, T.LOCAL)
    assert desk.beat(reader).lanes == ()
    (lane,) = desk.beat(reader, nearby=("w2",)).lanes
    assert lane.worker_address == "w2"


def test_a_lane_of_a_reader_that_is_gone_moves_to_a_worker_that_its_next_reader_reads(desk):
    for address in ("w1", "w2"):
        desk.worker(address)
    one, other = opened(desk, DYNAMIC, T.LOCAL), opened(desk, DYNAMIC, T.LOCAL)
    (lane,) = desk.beat(one, nearby=("w1",)).lanes
    desk.ask(m.OpenLaneRequest(lane.lane_id, 1, "w1", 5))
    desk.beat(other, nearby=("w2",))
    desk.ask(m.ReleaseIterationClientRequest(one, (m.LaneProgress(lane.lane_id, 2),)))
    found = {info.lane_id: info for info in desk.beat(other, nearby=("w2",)).lanes}
    assert found[lane.lane_id].worker_address == "w2"
    assert found[lane.lane_id].ordinal == 2


def test_a_reader_of_one_shard_ends_with_it_and_waits_for_no_orphan_of_another(desk):
    desk = type(desk)(desk.settings.__class__(worker_addresses=("w1", "w2")))
    for address in ("w1", "w2"):
        desk.worker(address)
    one, other = opened(desk, DATA, T.LOCAL), opened(desk, DATA, T.LOCAL)
    (lane,) = desk.beat(one, nearby=("w1",)).lanes
    (orphan,) = desk.beat(other, nearby=("w2",)).lanes
    desk.ask(m.ReleaseIterationClientRequest(other, (m.LaneProgress(orphan.lane_id, 1),)))
    assert not desk.beat(one, nearby=("w1",)).iteration_finished
    assert desk.beat(one, m.LaneProgress(lane.lane_id, 3, True), nearby=("w1",)).iteration_finished


def test_a_worker_that_says_other_tags_is_believed(desk):
    """TensorFlow's workers say in no way that they were started again."""
    servers = (m.DataTransferServerInfo("grpc", "t"),)
    desk.ask(m.WorkerHeartbeatRequest("t", servers, ("a",)))
    graph = desk.ask(m.GetOrRegisterDatasetRequest(m.DatasetDef(graph=b"g"))).dataset_id
    reader = desk.reader(graph, OFF)
    moved = (m.DataTransferServerInfo("grpc", "t"), m.DataTransferServerInfo("other", "t:2"))
    desk.ask(m.WorkerHeartbeatRequest("t", moved, ("b",), current_tasks=(4000,)))
    (info,) = desk.beat(reader).task_info
    assert (info.worker_tags, info.transfer_servers, info.finished) == (("b",), moved, False)
    assert desk.machine.state.workers["t"].tasks == {4000: None}
