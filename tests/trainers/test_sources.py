"""Data sets of other libraries as sources: what each gives by itself, split among workers, and resumed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsvc as tf
from tests.e2e.conftest import Service
from tfsvc.errors import InvalidArgumentError

pytestmark = pytest.mark.trainers

Dataset = tf.data.Dataset
COUNT = 40


def check(service: Service, dataset: Any, expected: list[Any], key: Any = lambda x: x) -> None:
    """Alone, from a service, and resumed at any element, it gives what it should."""
    assert [key(x) for x in dataset] == expected
    assert sorted(key(x) for x in service.read(dataset)) == sorted(expected)
    ordered = service.read(dataset, deterministic=True)
    whole = [key(x) for x in ordered]
    assert sorted(whole) == sorted(expected)
    for cut in (0, 1, len(expected) // 2, len(expected) - 1):
        for made, all_of_it in ((dataset, expected), (service.read(dataset, deterministic=True), whole)):
            iterator = iter(made)
            before = [key(next(iterator)) for _ in range(cut)]
            again = iter(made if made is dataset else service.read(dataset, deterministic=True))
            again.load_state_dict(iterator.state_dict())
            assert before + [key(x) for x in again] == all_of_it


def test_a_map_style_dataset_of_torch(two_workers: Service) -> None:
    data = pytest.importorskip("torch.utils.data")
    torch = pytest.importorskip("torch")

    images = torch.arange(COUNT, dtype=torch.float32).repeat_interleave(6).reshape(COUNT, 2, 3)
    dataset = Dataset.from_source(data.TensorDataset(images, torch.arange(COUNT)))
    assert dataset.element_spec == (tf.TensorSpec((2, 3), "float32"), tf.TensorSpec((), "int64"))
    assert len(dataset) == COUNT
    check(two_workers, dataset, [(float(x), x) for x in range(COUNT)], lambda e: (float(e[0][0, 0]), int(e[1])))
    halves = data.Subset(data.TensorDataset(torch.arange(COUNT)), range(1, COUNT, 2))
    check(two_workers, Dataset.from_source(halves), list(range(1, COUNT, 2)), lambda e: int(e[0]))


def test_data_sources_of_grain(two_workers: Service, tmp_path: Path) -> None:
    grain = pytest.importorskip("grain.python")
    records = pytest.importorskip("array_record.python.array_record_module")

    path = str(tmp_path / "data.array_record")
    writer = records.ArrayRecordWriter(path, "group_size:1")
    for i in range(COUNT):
        writer.write(b"%d" % i)
    writer.close()
    stored = Dataset.from_source(grain.ArrayRecordDataSource(path))
    assert (stored.element_spec, len(stored)) == (tf.TensorSpec((), "string"), COUNT)
    check(two_workers, stored, list(range(COUNT)), int)
    check(
        two_workers, Dataset.from_source(grain.RangeDataSource(3, 3 + 2 * COUNT, 2)), list(range(3, 3 + 2 * COUNT, 2))
    )
    shuffled = grain.MapDataset.range(COUNT).shuffle(seed=1).map(lambda x: {"x": np.int64(x)})
    check(two_workers, Dataset.from_source(shuffled), [int(e["x"]) for e in shuffled], lambda e: int(e["x"]))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # that library closes no files
@pytest.mark.parametrize("compressed", [False, True])
def test_shards_that_webdataset_writes(two_workers: Service, tmp_path: Path, compressed: bool) -> None:
    webdataset = pytest.importorskip("webdataset")

    pattern = str(tmp_path / "shard-%02d.tar") + (".gz" if compressed else "")
    with webdataset.ShardWriter(pattern, maxcount=COUNT // 4, verbose=0) as writer:
        for i in range(COUNT):
            writer.write({"__key__": f"folder/{i:04}", "cls": i, "pixels.npy": np.full((2, 3), i, np.float32)})
    shards = sorted(map(str, tmp_path.glob("shard-*")))
    assert len(shards) == 4
    theirs = [
        (sample["__key__"].encode(), sample["cls"], sample["pixels.npy"])
        for sample in webdataset.WebDataset(shards, shardshuffle=False, empty_check=False)
    ]

    def parts(sample: Any) -> Any:
        return sample["__key__"], sample["cls"], sample["pixels.npy"]

    dataset = Dataset.from_webdataset(shards, compression_type="GZIP" if compressed else None)
    check(two_workers, dataset, theirs, parts)
    decoded = dataset.map(lambda sample: (int(sample["cls"]), np.load(io.BytesIO(sample["pixels.npy"]))))
    check(two_workers, decoded, [(i, float(i)) for i in range(COUNT)], lambda e: (int(e[0]), float(e[1].mean())))
    if not compressed:
        assert tf.data.experimental.index_webdataset(shards) == [COUNT // 4] * 4
        indexed = Dataset.from_webdataset(shards, indexed=True)
        assert len(indexed) == COUNT
        check(two_workers, indexed, theirs, parts)


@pytest.fixture
def datasets() -> Any:
    return pytest.importorskip("datasets")


def rows(count: int) -> dict[str, Any]:
    return {
        "x": list(range(count)),
        "text": [f"row {i}" for i in range(count)],
        "vector": [[float(i), 0.5] for i in range(count)],
    }


def test_a_data_set_of_hugging_face(two_workers: Service, datasets: Any, tmp_path: Path) -> None:
    datasets.Dataset.from_dict(rows(3000)).save_to_disk(str(tmp_path / "saved"))
    saved = datasets.load_from_disk(str(tmp_path / "saved"))
    dataset = Dataset.from_arrow(saved)
    assert dataset.element_spec == {
        "x": tf.TensorSpec((), "int64"),
        "text": tf.TensorSpec((), "string"),
        "vector": tf.TensorSpec((None,), "float64"),
    }
    assert len(dataset) == 3000
    expected = [(i, f"row {i}".encode(), [float(i), 0.5]) for i in range(3000)]
    check(two_workers, dataset, expected, lambda e: (int(e["x"]), bytes(e["text"]), e["vector"].tolist()))


def test_what_was_selected_and_mapped_in_it(two_workers: Service, datasets: Any) -> None:
    chosen = datasets.Dataset.from_dict(rows(100)).shuffle(seed=3).select(range(50)).with_format("numpy")
    expected = [int(row["x"]) for row in chosen]
    check(two_workers, Dataset.from_arrow(chosen, columns=["x"]), expected, lambda e: int(e["x"]))
    with pytest.raises(ValueError, match="0 columns 'y'"):
        Dataset.from_arrow(chosen, columns=["y"])


def test_nulls_in_it(datasets: Any) -> None:
    holed = datasets.Dataset.from_dict({"x": [1, None, 3], "y": ["a", "b", None]})
    iterator = iter(Dataset.from_arrow(holed, defaults={"y": "none"}))
    assert next(iterator) == {"x": 1, "y": b"a"}
    with pytest.raises(InvalidArgumentError, match="null"):
        next(iterator)
    assert next(iterator) == {"x": 3, "y": b"none"}


def test_shards_of_a_stream_of_hugging_face(two_workers: Service, datasets: Any) -> None:
    def numbers(parts: list[int]) -> Any:
        for part in parts:
            for i in range(10):
                yield {"x": 10 * part + i}

    stream = datasets.IterableDataset.from_generator(numbers, gen_kwargs={"parts": [0, 1, 2, 3]})
    signature = {"x": tf.TensorSpec((), "int64")}

    def shard(index: Any) -> Any:
        part = stream.shard(stream.num_shards, int(index))
        return Dataset.from_iterable(part, output_signature=signature)

    dataset = Dataset.range(stream.num_shards).flat_map(shard)
    check(two_workers, dataset, list(range(40)), lambda e: int(e["x"]))
