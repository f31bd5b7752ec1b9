"""Distributed snapshots at the dispatcher alone: who writes what, what counts, what a crash leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.protocol.conftest import servers
from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Asked, Reply, Store, Stored, Woke, Word
from tfsvc.protocol.dispatcher.history import shorten
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.filing import CloseDirectory, CreateDirectory, Deed, KeepSplit, PlaceChunk
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.protocol.splits import Checkpoint, SplitPlan, SplitPosition
from tfsvc.protocol.updates import Update

SECOND = 1_000_000_000
OURS = m.DatasetDef(program=b"p", plans=(SplitPlan(10),))
THEIRS = m.DatasetDef(graph=b"g", plans=(SplitPlan(2, 5),))


class Files:
    """A dispatcher whose files are written at once, unless ``broken`` names the deed that fails."""

    def __init__(self, records: Sequence[Update] = (), **settings: Any) -> None:
        self.settings = replace(DispatcherSettings(fault_tolerant=True), **settings)
        self.machine = Dispatcher(self.settings, "d", 1, Luck(0, "d"), records)
        self.records: list[Update] = list(records)
        self.deeds: list[Deed] = []
        self.broken: type[Deed] | None = None
        self.now = 0
        self._seq = 0
        self._step(Woke())

    def ask(self, request: m.Request, after_ns: int = 1_000_000) -> Any:
        self.now += after_ns
        self._step(Woke())
        self._seq += 1
        call = CallId("peer", 1, self._seq)
        replies = self._step(Asked(call, Address("peer"), request))
        (answer,) = (reply.answer for reply in replies if reply.call == call)
        return answer

    def save(self, path: str = "/s", dataset: m.DatasetDef = OURS, nonce: str = "n") -> Any:
        return self.ask(m.SnapshotRequest(dataset, path, m.DistributedSnapshotMetadata(b"", "SNAPPY"), nonce))

    def beat(self, worker: str, *progress: m.SnapshotTaskProgress, **more: Any) -> tuple[m.SnapshotTaskDef, ...]:
        said = {"incarnation": 1, "interval_ns": SECOND, **more}
        answer = self.ask(m.WorkerHeartbeatRequest(worker, servers(worker), snapshot_task_progress=progress, **said))
        return tuple(answer.snapshot_tasks)

    def commit(self, task: m.SnapshotTaskDef, number: int, elements: int, ordinal: int, done: bool = False) -> Any:
        place = Checkpoint(ordinal, (SplitPosition(0, ordinal),))
        return self.ask(m.CommitChunkRequest(task.lane_id, task.attempt, number, elements, place, done))

    def _step(self, event: Any) -> list[Reply]:
        step = self.machine.handle(event, self.now)
        self.records.extend(step.updates)
        replies: list[Reply] = []
        for word in step.words:
            replies += self._carry_out(word)
        return replies

    def _carry_out(self, word: Word) -> list[Reply]:
        if isinstance(word, Store):
            self.deeds.append(word.deed)
            error = RpcError(Code.INTERNAL, "no space") if type(word.deed) is self.broken else None
            return self._step(Stored(word.number, error))
        return [word] if isinstance(word, Reply) else []


@pytest.fixture
def files() -> Files:
    return Files()


def test_a_directory_is_made_before_the_client_is_answered_and_a_retry_makes_no_other(files):
    assert files.save() == m.SnapshotResponse()
    assert [type(deed) for deed in files.deeds] == [CreateDirectory]
    assert files.save() == m.SnapshotResponse()
    assert files.save(nonce="other").code is Code.ALREADY_EXISTS
    assert len(files.deeds) == 1


def test_a_directory_that_cannot_be_made_is_forgotten(files):
    files.broken = CreateDirectory
    assert files.save().message == "no space"
    files.broken = None
    assert files.save(nonce="again") == m.SnapshotResponse()


def test_a_dispatcher_that_forgets_refuses():
    assert Files(fault_tolerant=False).save().code is Code.INVALID_ARGUMENT


def test_a_worker_gets_one_more_snapshot_a_heartbeat_up_to_its_limit():
    files = Files(snapshots_max=2)
    for path in ("/a", "/b", "/c"):
        files.save(path)
    assert [task.base_path for task in files.beat("w")] == ["/a"]
    assert [task.base_path for task in files.beat("w")] == ["/a", "/b"]
    assert [task.base_path for task in files.beat("w")] == ["/a", "/b"]
    assert [task.base_path for task in files.beat("v")] == ["/c"], "the one with the fewest writers"


def test_each_kind_of_worker_writes_its_kind_of_dataset(files):
    files.save("/ours", OURS)
    files.save("/theirs", THEIRS)
    assert [task.base_path for task in files.beat("w")] == ["/ours"]
    assert [task.base_path for task in files.beat("t", incarnation=0)] == ["/theirs"]


def test_a_chunk_counts_once_and_the_snapshot_ends_when_it_is_in_its_place(files):
    files.save()
    (task,) = files.beat("w")
    start = files.ask(m.OpenStreamRequest(task.lane_id, 1, 16))
    assert sum(lease.size for lease in start.leases) == 10
    for _ in range(2):
        assert files.commit(task, 0, 4, 4) == m.CommitChunkResponse()
    for _ in range(2):
        assert files.commit(task, 1, 6, 10, done=True) == m.CommitChunkResponse()
    assert files.deeds[1:] == [
        PlaceChunk("/s", 0, 0, 1, 4),
        PlaceChunk("/s", 0, 1, 1, 6),
        CloseDirectory("/s", None),
    ]
    assert files.beat("w") == ()


def test_a_chunk_that_cannot_be_placed_fails_the_snapshot(files):
    files.save()
    (task,) = files.beat("w")
    files.broken = PlaceChunk
    files.commit(task, 0, 10, 10, done=True)
    (closed,) = (deed for deed in files.deeds if isinstance(deed, CloseDirectory))
    assert closed.error is not None
    assert "no space" in closed.error.message


def test_another_worker_goes_on_behind_the_last_chunk_and_the_old_one_is_refused(files):
    files.save()
    (old,) = files.beat("w")
    files.ask(m.OpenStreamRequest(old.lane_id, 1, 16))
    files.commit(old, 0, 4, 4)
    files.now += 10 * SECOND
    tasks = files.beat("v")
    assert [(task.stream_index, task.attempt) for task in tasks] == [(0, 2)]
    start = files.ask(m.OpenStreamRequest(old.lane_id, 2, 16))
    assert (start.checkpoint.ordinal, start.chunks, start.saved_by) == (4, 1, 1)
    (lease,) = start.leases
    assert (lease.at.offset, lease.size, lease.ended) == (4, 6, True)
    assert files.commit(old, 1, 6, 10, done=True).code is Code.FAILED_PRECONDITION
    assert files.ask(m.LeaseSplitsRequest(old.lane_id, 1, 0, SplitPosition(0, 10), 1)).code is Code.FAILED_PRECONDITION


def test_an_error_of_one_worker_ends_it_for_all(files):
    files.save()
    (one,), (other,) = files.beat("w"), files.beat("v")
    assert files.beat("w", m.SnapshotTaskProgress(one, error=RpcError(Code.INTERNAL, "boom"))) == ()
    assert files.deeds[-1] == CloseDirectory("/s", RpcError(Code.INTERNAL, "boom"))
    assert files.beat("v", m.SnapshotTaskProgress(other)) == ()
    assert files.ask(m.GetSnapshotStreamsRequest("/s")).error.message == "boom"


def test_tensorflow_gets_each_split_once_and_written_down_first(files):
    files.save(dataset=THEIRS)
    (task,) = files.beat("t", incarnation=0)
    request = m.GetSnapshotSplitRequest("t", "/s", 0, 0, 0)
    answers = [files.ask(request) for _ in range(3)]
    assert answers == [
        m.GetSnapshotSplitResponse(5, local_split_index=0),
        m.GetSnapshotSplitResponse(6, local_split_index=1),
        m.GetSnapshotSplitResponse(end_of_splits=True, local_split_index=2),
    ]
    assert files.ask(replace(request, repetition_index=1)) == m.GetSnapshotSplitResponse(5, local_split_index=2)
    kept = [deed for deed in files.deeds if isinstance(deed, KeepSplit)]
    assert [(k.repetition, k.local, k.overall, k.value) for k in kept] == [(0, 0, 0, 5), (0, 1, 1, 6), (1, 2, 2, 5)]
    assert files.ask(replace(request, worker_address="other")).code is Code.INTERNAL
    assert files.beat("t", m.SnapshotTaskProgress(task, completed=True), incarnation=0) == ()
    assert files.deeds[-1] == CloseDirectory("/s", None)


@pytest.mark.parametrize("short", [False, True])
def test_a_later_life_does_again_what_may_not_have_been_done(files, short):
    files.save("/a")
    files.save("/b", THEIRS)
    (ours,) = files.beat("w")
    files.ask(m.OpenStreamRequest(ours.lane_id, 1, 16))
    files.commit(ours, 0, 4, 4)
    files.beat("t", incarnation=0)
    files.ask(m.GetSnapshotSplitRequest("t", "/b", 0, 0, 0))
    later = Files(list(shorten(files.records)) if short else files.records)
    assert later.machine.state == files.machine.state
    assert PlaceChunk("/a", 0, 0, 1, 4) in later.deeds
    assert KeepSplit("/b", 0, 0, 0, 0, 0, 5) in later.deeds
    assert later.commit(ours, 1, 6, 10, done=True) == m.CommitChunkResponse()
    assert CloseDirectory("/a", None) in later.deeds
    assert {deed.path for deed in Files(later.records).deeds} == {"/b"}, "what is closed is left alone"
