"""The journal's store: what was written is read, one owner at a time, damage is told."""

from __future__ import annotations

import sqlite3

import pytest

from tfsvc.errors import Code, DataLossError, FailedPreconditionError, RpcError, UnavailableError
from tfsvc.protocol import messages as m
from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol import updates as u
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPlan, SplitPosition
from tfsvc_transports.sqlite_store import FILE, SqliteStore

UPDATES = [
    u.RegisterDataset(
        "1000", m.DatasetDef(program=b"\x00p", plans=(SplitPlan(None), SplitPlan(3, 1, -1))), m.DataServiceMetadata(b"")
    ),
    u.DecideCompression("1000", False),
    u.RegisterWorker("w", 2**62, (m.DataTransferServerInfo("grpc", "w"),), ("tag",), -1, 10**9),
    u.LoseWorker("w"),
    u.CreateJob(5000, "j", "1000", m.ShardingPolicy.DYNAMIC, None, False, m.TargetWorkers.AUTO, "n"),
    u.CreateJob(5001, "k", "1000", m.ShardingPolicy.OFF, 0, True, m.TargetWorkers.ANY, ""),
    u.CreateJob(
        5002, "o", "1000", m.ShardingPolicy.DYNAMIC, 2, False, m.TargetWorkers.AUTO, "", m.OrderDef(16, 9, 2**63 - 1)
    ),
    u.CreateIteration(2000, 5000, 1, 2**63 - 1),
    u.AcquireClient(2000, 3000, "n", 1),
    u.ReleaseClient(3000),
    u.CreateTask(4000, 2000, "w"),
    u.CreateTask(4001, 2000, "w", True),
    u.PromoteTask(4001, 5),
    u.RemoveTask(4001),
    u.FinishTask(4000, True),
    u.CollectIteration(2000),
    u.ProduceSplit(2000, 0, 1, True),
    u.OpenLane(6000, 2000, 4000, 3000),
    u.DealLane(6001, 2000, m.LanePlace(3, 4, Checkpoint(2, (SplitPosition(0, 2),), b"\xff", 1))),
    u.CountConsumer(2000, 1, 9),
    u.LeaseSplits(6000, Lease(1, SplitPosition(2, 3), (Span(0, 5), Span(7, 8)), True)),
    u.MoveLane(6000, 2, 4001, 0),
    u.RepeatLane(6000, 3, 4001, 0),
    u.DropLane(6000),
    u.AdvanceLane(6000, 9, True),
    u.AdvanceLane(6000, 9, False, Checkpoint(8, (SplitPosition(0, 2),), b"", 2)),
    u.SaveCheckpoint(6000, Checkpoint(4, (SplitPosition(0, 2),), b"\xff")),
    s.RegisterSnapshot("/a", m.DatasetDef(program=b"p"), m.DistributedSnapshotMetadata(b"\x00", "SNAPPY"), 2**62, "n"),
    s.CreateSnapshot("/a"),
    s.ForgetSnapshot("/a"),
    s.OpenStream("/a", 6000, "w", 2**62),
    s.MoveStream(6000, 2, "v", 1),
    s.LeaseToStream(6000, Lease(1, SplitPosition(2, 3), (Span(0, 5),), True)),
    s.CommitChunk(6000, 9, Checkpoint(9, (SplitPosition(0, 2),)), False),
    s.GiveToStream(6000, 1, 2),
    s.FinishStream(6000),
    s.EndSnapshot("/a", None),
    s.EndSnapshot("/a", RpcError(Code.INVALID_ARGUMENT, "no")),
    s.CloseSnapshot("/a"),
]


@pytest.fixture
def store(tmp_path):
    made = SqliteStore(str(tmp_path / "deep" / "er"))
    yield made
    made.close()


def test_every_kind_of_update_is_there():
    assert {type(update) for update in UPDATES} == set(u.Update.__args__)


def test_a_later_life_reads_what_was_written(tmp_path):
    for part in (UPDATES[:7], UPDATES[7:]):
        store = SqliteStore(str(tmp_path))
        store.write(part)
        store.close()
    store = SqliteStore(str(tmp_path))
    assert store.read() == UPDATES
    store.close()


def test_a_second_owner_is_refused(tmp_path):
    store = SqliteStore(str(tmp_path))
    with pytest.raises(FailedPreconditionError, match="another dispatcher is using work_dir"):
        SqliteStore(str(tmp_path))
    store.close()
    SqliteStore(str(tmp_path)).close()


def test_a_group_is_there_whole_or_not_at_all(store):
    class Unknown:
        pass

    with pytest.raises(AttributeError):
        store.write([UPDATES[0], Unknown()])
    assert store.read() == []


def test_a_directory_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot be used"):
        SqliteStore(str(tmp_path / "file" / "below"))


def test_a_damaged_file_is_told(tmp_path):
    (tmp_path / FILE).write_bytes(b"this is no database, but it is long enough to look like one" * 100)
    with pytest.raises(DataLossError, match=r"dispatcher\.sqlite3 cannot be read"):
        SqliteStore(str(tmp_path))


def test_a_record_of_another_version_is_told(tmp_path):
    SqliteStore(str(tmp_path)).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("INSERT INTO records (kind, body) VALUES ('Teleport', x'')")
    db.close()
    store = SqliteStore(str(tmp_path))
    with pytest.raises(DataLossError, match="Teleport"):
        store.read()
    store.close()
