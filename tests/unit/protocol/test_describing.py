"""The picture of a cluster: what is there, and nothing changes by looking at it."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import asdict

from tests.unit.protocol.conftest import Desk
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Asked, Stored, Woke
from tfsvc.protocol.filing import CreateDirectory
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.messages import description as d
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.protocol.splits import Checkpoint, SplitPlan

MS = 1_000_000
OFF, DYNAMIC = m.ShardingPolicy.OFF, m.ShardingPolicy.DYNAMIC


def describe(desk: Desk, rows_max: int = 0) -> d.Description:
    answer = desk.ask(m.DescribeServiceRequest(rows_max))
    assert isinstance(answer, m.DescribeServiceResponse)
    return answer.description


def test_a_dispatcher_alone(desk):
    assert describe(desk) == d.Description(incarnation=1, up_ns=0, deployment_mode="UNSPECIFIED")
    desk.now += 5000 * MS
    assert describe(desk).up_ns == 5001 * MS


def read_a_little(desk: Desk) -> int:
    """Two workers; a reader has taken 4 of 10 elements from one that has leased 2 splits."""
    for address in ("w1", "w2"):
        desk.worker(address, worker_tags=("gpu",) if address == "w1" else ())
    reader = desk.reader(desk.register(), DYNAMIC, "train", 2)
    lanes = desk.beat(reader).lanes
    desk.ask(m.OpenLaneRequest(lanes[0].lane_id, 1, "w1", 3))
    desk.worker("w1", active_tasks=(m.ActiveTask(lanes[0].task_id, 250.0),), worker_tags=("gpu",))
    desk.beat(
        reader,
        m.LaneProgress(lanes[0].lane_id, 4),
        target_processing_time_nsec=50.0,
        consumption=m.Consumption(4, 400, 30, 1000, 1, 0),
    )
    return reader


def test_what_is_open_is_told(desk):
    reader = read_a_little(desk)
    told = describe(desk)
    assert told.census == d.Census(workers=2, datasets=1, jobs=1, iterations=1, tasks=2, lanes=2, readers=1)
    assert told.tally == d.Tally(leases=1, splits=2, elements=4, bytes=400, discarded=1, waited_ns=30)
    assert told.workers == (
        d.WorkerDescription(
            address="w1",
            incarnation=1,
            native=True,
            state="live",
            tags=("gpu",),
            transfer_servers=(d.TransferServer("grpc", "w1"), d.TransferServer("tfsvc", "w1")),
            silent_ns=2 * MS,
            interval_ns=1000 * MS,
            tasks=1,
            lanes=1,
            leased=2,
        ),
        d.WorkerDescription(
            address="w2",
            incarnation=1,
            native=True,
            state="live",
            transfer_servers=(d.TransferServer("grpc", "w2"), d.TransferServer("tfsvc", "w2")),
            silent_ns=8 * MS,
            interval_ns=1000 * MS,
            tasks=1,
            lanes=1,
            leased=0,
        ),
    )
    assert told.datasets == (d.DatasetDescription(id="1000", native=True, sources=1, splits=10),)
    assert told.jobs == (
        d.JobDescription(5000, "train", False, "1000", "DYNAMIC", "independent", "EXACTLY_ONCE", "UNSPECIFIED"),
    )
    assert told.iterations == (
        d.IterationDescription(
            id=2000,
            job_id=5000,
            repetition=2,
            readers=1,
            tasks=2,
            shards=1,
            lanes=2,
            splits=2,
            recommended=5,
            processing_time_nsec=250.0,
            target_processing_time_nsec=50.0,
        ),
    )
    assert told.recommended_workers == 5
    assert told.tasks == (
        d.TaskDescription(4000, 2000, "w1", 0, "running", 250.0),
        d.TaskDescription(4001, 2000, "w2", 0, "running", 0.0),
    )
    assert told.lanes == (
        d.LaneDescription(6000, 2000, 4000, reader, "w1", attempt=1, taken=4, leased=2),
        d.LaneDescription(6001, 2000, 4001, reader, "w2", attempt=1),
    )
    assert told.readers == (
        d.ReaderDescription(
            id=reader,
            iteration_id=2000,
            native=True,
            silent_ns=1 * MS,
            lanes=2,
            consumption=d.Consumption(4, 400, 30, 1000, 1, 0),
            target_processing_time_nsec=50.0,
        ),
    )
    assert json.loads(json.dumps(asdict(told)))["readers"][0]["consumption"]["waited_ns"] == 30


def test_looking_changes_nothing_and_is_not_journaled(desk):
    read_a_little(desk)
    state, vitals, records = deepcopy(desk.machine.state), deepcopy(desk.machine._vitals), list(desk.records)
    deadline = desk.machine.deadline()
    describe(desk)
    assert (desk.machine.state, desk.machine._vitals, desk.records) == (state, vitals, records)
    assert (desk.machine.deadline(), desk.words) == (deadline, [])


def test_a_dispatcher_that_came_back_says_whom_it_has_not_heard_yet(desk):
    reader = read_a_little(desk)
    after = Desk(records=desk.records)
    told = describe(after)
    assert [(w.address, w.state, w.silent_ns, w.interval_ns) for w in told.workers] == [
        ("w1", "live", None, 1000 * MS),
        ("w2", "live", None, 1000 * MS),
    ]
    assert [(r.id, r.native, r.silent_ns, r.consumption) for r in told.readers] == [(reader, None, None, None)]
    assert [(lane.id, lane.taken, lane.leased) for lane in told.lanes] == [(6000, 4, 2), (6001, 0, 0)]
    assert told.tally == d.Tally()


def test_states_of_workers(desk):
    for address in ("live", "silent", "draining", "leaving"):
        desk.worker(address)
    desk.now += 6000 * MS
    for address in ("live", "draining", "leaving"):
        desk.worker(address)
    desk.machine.handle(Woke(), desk.now)
    desk.worker("draining", draining=True)
    desk.worker("leaving", leaving=True)
    assert {worker.address: worker.state for worker in describe(desk).workers} == {
        name: name for name in ("live", "silent", "draining", "leaving")
    }


def test_a_lost_worker_is_counted_and_its_lane_has_moved(desk):
    read_a_little(desk)
    desk.worker("w1", leaving=True)
    told = describe(desk)
    assert [(lane.worker_address, lane.attempt, lane.leased) for lane in told.lanes] == [("w2", 2, 2), ("w2", 1, 0)]
    assert (told.tally.moves, told.tally.splits_again, told.iterations[0].splits_again) == (1, 2, 2)
    desk.now += 11_000 * MS
    desk.machine.handle(Woke(), desk.now)
    told = describe(desk)
    assert (told.census.workers, told.tally.workers_lost) == (1, 1)
    assert [task.state for task in told.tasks] == ["running", "lost"], "those that are over come last"


def test_what_readers_took_that_are_gone_still_counts(desk):
    reader = read_a_little(desk)
    desk.ask(m.ReleaseIterationClientRequest(reader, consumption=m.Consumption(7, 700, 40, 2000, 2, 0)))
    told = describe(desk)
    assert (told.readers, told.tally.elements, told.tally.bytes, told.tally.waited_ns) == ((), 7, 700, 40)
    silent = desk.reader("1000", DYNAMIC, "train", 2)
    desk.beat(silent, consumption=m.Consumption(elements=1))
    desk.now += 301_000 * MS
    desk.machine.handle(Woke(), desk.now)
    told = describe(desk)
    assert (told.tally.elements, told.tally.readers_lost) == (8, 1)


def test_a_large_cluster_stays_a_moderate_message(desk):
    for number in range(50):
        desk.worker(f"w{number}")
    desk.beat(desk.reader(desk.register(), OFF))
    told = describe(desk, 20)
    assert (len(told.workers), len(told.tasks), len(told.readers)) == (20, 20, 1)
    assert (told.census.workers, told.census.tasks) == (50, 50)


def test_modes_of_jobs(desk):
    dataset = desk.register()
    for name, more in {
        "independent": {},
        "ordered": {"order": m.OrderDef(4), "processing_mode_def": m.ProcessingModeDef(DYNAMIC)},
        "coordinated": {"num_consumers": 2},
        "cached": {"use_cross_trainer_cache": True},
    }.items():
        desk.ask(m.GetOrCreateJobRequest(dataset, job_name=name, **more))
    assert [(job.name, job.mode) for job in describe(desk).jobs] == [
        (name, name) for name in ("independent", "ordered", "coordinated", "cached")
    ]


def test_snapshots():
    desk = Desk(DispatcherSettings(fault_tolerant=True))
    definition = m.DatasetDef(program=b"p", plans=(SplitPlan(10), SplitPlan(4)))
    request = m.SnapshotRequest(definition, "/data/s", m.DistributedSnapshotMetadata(b"", ""), "nonce")
    step = desk.machine.handle(Asked(CallId("peer", 1, 0), Address("peer"), request), desk.now)
    assert isinstance(step.words[0].deed, CreateDirectory)
    assert [(s.path, s.state) for s in describe(desk).snapshots] == [("/data/s", "creating")]
    desk.machine.handle(Stored(1), desk.now)
    desk.worker("w1")
    (stream,) = desk.worker("w1").snapshot_tasks
    desk.ask(m.OpenStreamRequest(stream.lane_id, 1, 2))
    desk.ask(m.CommitChunkRequest(stream.lane_id, 1, 0, 5, Checkpoint(5)))
    (told,) = describe(desk).snapshots
    assert told == d.SnapshotDescription("/data/s", "writing", "", 1, 0, 1, 5, told.splits, 14)
    assert told.splits == describe(desk).tally.splits > 0


def test_a_service_that_stops_says_so(desk):
    desk.worker("w1")
    call = CallId("peer", 1, 999)
    desk.machine.handle(Asked(call, Address("peer"), m.StopServiceRequest(10**9)), desk.now)
    assert describe(desk).stopping
