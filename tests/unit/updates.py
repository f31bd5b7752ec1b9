"""One update of every kind, with values that are easy to get wrong."""

from __future__ import annotations

from typing import get_args

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol import updates as u
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPlan, SplitPosition

UPDATES = [
    u.RegisterDataset(
        "1000", m.DatasetDef(program=b"\x00p", plans=(SplitPlan(None), SplitPlan(3, 1, -1))), m.DataServiceMetadata(b"")
    ),
    u.DecideCompression("1000", False),
    u.RegisterWorker("w", 2**62, (m.DataTransferServerInfo("grpc", "w"),), ("tag",), -1, 3, 10**9),
    u.LoseWorker("w"),
    u.RefreshWorker("w", (m.DataTransferServerInfo("grpc", "v"),), ("tag",), -1),
    u.CreateJob(5000, "j", "1000", m.ShardingPolicy.DYNAMIC, None, False, m.TargetWorkers.AUTO, "n"),
    u.CreateJob(5001, "k", "1000", m.ShardingPolicy.OFF, 0, True, m.TargetWorkers.ANY, ""),
    u.CreateJob(
        5002, "o", "1000", m.ShardingPolicy.DYNAMIC, 2, False, m.TargetWorkers.AUTO, "", m.OrderDef(16, 9, 2**63 - 1)
    ),
    u.CreateIteration(2000, 5000, 1, 2**63 - 1, 3, True),
    u.AcquireClient(2000, 3000, "n", 1),
    u.ReleaseClient(3000),
    u.CreateTask(4000, 2000, "w"),
    u.CreateTask(4002, 2000, "w", False, 3),
    u.GiveUpShard(2000, 1),
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
    s.RestoreStream(6000, 2, True, (s.Commit(1, 9),), Checkpoint(9), (Lease(),), (s.Gift(0, 1, 2, 3, 4),)),
    s.RestoreSnapshot("/a", (s.Given(0, 1, 2),)),
    u.FinishIteration(2000),
    u.ReserveIds(2**62, 2, 3, 4, 5, 6),
    u.RestoreNonces((u.Nonce("n", 3000), u.Nonce("", 0))),
    u.RestoreFinished(5000, (Span(0, 3), Span(7, 8))),
    u.RestoreIteration(
        2000, (u.CursorPoint(2, 0, 1, 2**40, True), u.CursorPoint(0, 1, 0, 0, False)), True, (0, 2), 1, 3, 2
    ),
    u.RestoreIteration(2001, (), False, (), 0, 0, 0, 3, 4, *((u.Entry(n, 6001),) for n in range(4))),
    u.RestoreLane(6000, 1, 7, 2, 9, (Lease(0, SplitPosition(0, 9), (Span(9, 10),)),), (Checkpoint(), Checkpoint(9))),
]

assert {type(update) for update in UPDATES} == set(get_args(u.Update))
