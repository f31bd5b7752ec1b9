"""Sources that are read by position, iterables, and buffers that generators use again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.data.experimental import from_list
from tfsvc.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPlan
from tfsvc.specs import TensorSpec


class Squares:
    """A data set of PyTorch's map style."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        self.asked.append(index)
        return {"n": index, "square": np.float32(index * index)}


def test_items_are_elements_and_splits() -> None:
    source = Squares()
    dataset = Dataset.from_source(source)
    assert elements(dataset)[2] == {"n": 2, "square": 4.0}
    assert dataset.element_spec == {"n": TensorSpec((), "int32"), "square": TensorSpec((), "float32")}
    assert dataset.operator.plans() == (SplitPlan(4),)
    source.asked.clear()
    feed = SplitFeed(0)
    feed.add(Lease(0, feed.at, (Span(3, 4),), ended=True))
    assert drain(start(dataset, feed)) == [{"n": 3, "square": 9.0}]
    assert source.asked == [3]


def test_a_source_must_be_indexed_and_a_signature_may_be_given() -> None:
    with pytest.raises(TypeError, match="__getitem__"):
        Dataset.from_source(iter([1]))
    with pytest.raises(InvalidArgumentError, match="output_signature"):
        _ = Dataset.from_source([]).element_spec
    given = Dataset.from_source([], TensorSpec((), "int32"))
    assert given.element_spec == TensorSpec((), "int32")


def test_the_spec_of_a_list_fits_all_items() -> None:
    dataset = from_list([[1], [1, 2], [3]])
    assert elements(dataset) == [[1], [1, 2], [3]]
    assert dataset.element_spec == TensorSpec((None,), "int32")
    with pytest.raises(TypeError, match="Incompatible"):
        from_list([1, "a"])


def test_rows_of_npy_files_are_mapped(tmp_path: Path) -> None:
    images, labels = str(tmp_path / "images.npy"), str(tmp_path / "labels.npy")
    np.save(images, np.arange(12, dtype=">f4").reshape(3, 4))
    np.save(labels, np.array(["a", "b", "c"]))
    dataset = Dataset.from_npy({"image": images, "label": labels})
    assert len(dataset) == 3
    assert dataset.element_spec == {"image": TensorSpec((4,), "float32"), "label": TensorSpec((), "string")}
    first = next(iter(dataset))
    assert first["image"].dtype == np.float32
    assert first["image"].tolist() == [0, 1, 2, 3]
    assert elements(dataset.skip(2)) == [{"image": [8, 9, 10, 11], "label": b"c"}]
    block = start(dataset).block(2)
    assert block is not None
    assert block.count == 2


def test_npy_files_must_fit(tmp_path: Path) -> None:
    one, two, scalar = (str(tmp_path / f"{name}.npy") for name in ("one", "two", "scalar"))
    np.save(one, np.zeros(1))
    np.save(two, np.zeros(2))
    np.save(scalar, np.float32(1))
    with pytest.raises(ValueError, match="same number of rows"):
        Dataset.from_npy((one, two))
    with pytest.raises(ValueError, match="at least one dimension"):
        Dataset.from_npy(scalar)
    with pytest.raises(NotFoundError):
        Dataset.from_npy("/no/such/file.npy")


def test_a_generator_may_use_its_buffer_again() -> None:
    def generate() -> Iterator[Any]:
        buffer = np.zeros(2, np.int64)
        for n in range(3):
            buffer[:] = n
            yield buffer

    dataset = Dataset.from_generator(generate, output_signature=TensorSpec((2,), "int64"))
    assert elements(dataset.batch(3)) == [[[0, 0], [1, 1], [2, 2]]]
    nested = Dataset.range(1).flat_map(lambda _: dataset).shuffle(3)
    assert sorted(elements(nested)) == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_rows_of_npz_files(tmp_path: Path, save: Any) -> None:
    path = tmp_path / "arrays.npz"
    save(path, x=np.arange(6.0).reshape(3, 2), s=np.array(["a", "b", "c"]), big=np.arange(3, dtype=">i4"))
    dataset = Dataset.from_npz(path)
    rows = [{"x": [2.0 * n, 2.0 * n + 1], "s": b"abc"[n : n + 1], "big": n} for n in range(3)]
    assert elements(dataset) == rows
    assert dataset.element_spec["x"] == TensorSpec((2,), "float64")
    assert [plan.count for plan in dataset.operator.plans()] == [3]
    iterator, restored = start(dataset), start(dataset)
    iterator.next()
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator) == rows[1:]
    assert elements(Dataset.from_npz(path, ["s"]).skip(2)) == [{"s": b"c"}]
    with pytest.raises(ValueError, match=r"no arrays \['q'\]"):
        Dataset.from_npz(path, ["q"])


def test_npz_files_that_cannot_be_read(tmp_path: Path) -> None:
    by_column = np.asfortranarray(np.arange(6).reshape(3, 2))
    np.savez(tmp_path / "a.npz", x=by_column)
    assert elements(Dataset.from_npz(tmp_path / "a.npz")) == [{"x": [0, 1]}, {"x": [2, 3]}, {"x": [4, 5]}]
    np.savez_compressed(tmp_path / "b.npz", x=by_column)
    with pytest.raises(UnimplementedError, match="ascontiguousarray"):
        Dataset.from_npz(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", x=np.array([{}]))
    with pytest.raises(ValueError, match="Python objects"):
        Dataset.from_npz(tmp_path / "c.npz")
    with pytest.raises(ValueError, match="from_npz"):
        Dataset.from_npy(tmp_path / "a.npz")
    (tmp_path / "d.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"no \.npz file"):
        Dataset.from_npz(tmp_path / "d.npz")
    with pytest.raises(NotFoundError):
        Dataset.from_npz("/no/such/file.npz")


def test_an_iterable_is_iterated_anew_by_each_pass() -> None:
    for iterable in ([1, 2, 3], {"a": 1, "b": 2}.values(), lambda: (n * n for n in range(3))):
        dataset = Dataset.from_iterable(iterable)
        assert (
            elements(dataset) == elements(dataset) == [int(n) for n in (iterable() if callable(iterable) else iterable)]
        )
        assert [plan.count for plan in dataset.operator.plans()] == [1]
    pairs = Dataset.from_iterable([(1, "a"), (2, "b")], (TensorSpec((), "float64"), TensorSpec((), "string")))
    assert elements(pairs) == [(1.0, b"a"), (2.0, b"b")]


def test_what_is_no_iterable() -> None:
    with pytest.raises(TypeError, match="read once only"):
        Dataset.from_iterable(iter([1]))
    with pytest.raises(TypeError, match="a int does not"):
        Dataset.from_iterable(1)
    with pytest.raises(InvalidArgumentError, match="output_signature"):
        Dataset.from_iterable([])
    assert elements(Dataset.from_iterable([], TensorSpec((), "int64"))) == []
