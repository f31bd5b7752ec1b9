"""What a dispatcher does to the directories of snapshots, on a path and in a bucket: done again, it changes nothing."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from tfsvc.errors import Code, RpcError
from tfsvc.execution.filing import store
from tfsvc.protocol.contract import Store
from tfsvc.protocol.filing import CloseDirectory, CreateDirectory, Deed, PlaceChunk
from tfsvc.protocol.messages import DatasetDef, DistributedSnapshotMetadata
from tfsvc.storage.distributed import checkpoint, uncommitted_chunk
from tfsvc.storage.folders import folder_at

OURS = DatasetDef(program=b"program")
METADATA = DistributedSnapshotMetadata(b"", "SNAPPY")


@pytest.fixture(params=["path", "bucket"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "saved") if request.param == "path" else f"memory://{uuid.uuid4().hex}/saved"


def do(deed: Deed) -> RpcError | None:
    return store(Store(1, deed)).error


@pytest.mark.parametrize("times", [1, 2])
def test_from_its_creation_to_its_end(path: str, times: int) -> None:
    folder = folder_at(path)

    def repeat(deed: Deed) -> None:
        for _ in range(times):
            assert do(deed) is None

    repeat(CreateDirectory(path, 7, OURS, METADATA))
    for number in range(2):
        folder.write(uncommitted_chunk(0, number, 3), b"chunk %d" % number)
        folder.write(checkpoint(0, number + 1, 3), b"state")
        repeat(PlaceChunk(path, 0, number, 3, 5 + number))
        assert folder.read(f"chunks/chunk_0_{number}_{5 + number}") == b"chunk %d" % number
        assert folder.children("streams/stream_0/checkpoints") == [checkpoint(0, number + 1, 3)]
    folder.write(uncommitted_chunk(0, 2, 2), b"an older attempt's")
    repeat(CloseDirectory(path, None))
    assert folder.has("DONE")
    assert folder.children("chunks") == ["chunks/chunk_0_0_5", "chunks/chunk_0_1_6"]
    assert folder.children("streams/stream_0") == []


def test_another_snapshot_is_told_apart(path: str) -> None:
    assert do(CreateDirectory(path, 7, OURS, METADATA)) is None
    error = do(CreateDirectory(path, 8, OURS, METADATA))
    assert error is not None
    assert (error.code, path in error.message) == (Code.ALREADY_EXISTS, True)


def test_a_chunk_that_is_nowhere_is_told(path: str) -> None:
    assert do(CreateDirectory(path, 7, OURS, METADATA)) is None
    error = do(PlaceChunk(path, 0, 0, 0, 5))
    assert error is not None
    assert error.code is Code.NOT_FOUND


def test_tensorflows_workers_write_to_paths_alone(path: str) -> None:
    error = do(CreateDirectory(path, 7, DatasetDef(graph=b"graph"), METADATA))
    if path.startswith("memory://"):
        assert error is not None
        assert (error.code, "save to a path" in error.message) == (Code.UNIMPLEMENTED, True)
        assert folder_at(path).children() == []
    else:
        assert error is None
