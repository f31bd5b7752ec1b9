"""The same seeds give the same orders and numbers as in ``tf.data``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsvc

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
tensorflow = pytest.importorskip("tensorflow")


def three(d: Any) -> list[Any]:
    return [d.range(20), d.range(100, 120), d.range(200, 220)]


def tenth(x: Any) -> Any:
    return np.int32(x % 10 == 0) if isinstance(x, np.generic) else tensorflow.cast(x % 10 == 0, tensorflow.int32)


DATASETS: dict[str, Callable[[Any], Any]] = {
    "shuffle": lambda d: d.range(50).shuffle(7, seed=1),
    "shuffle in one": lambda d: d.range(5).shuffle(1, seed=1),
    "whole shuffle": lambda d: d.range(50).shuffle(50, seed=2),
    "shuffle in more than there is": lambda d: d.range(50).shuffle(500, seed=2),
    "shuffle in one more than there is": lambda d: d.range(50).shuffle(51, seed=2),
    "shuffle in one less than there is": lambda d: d.range(50).shuffle(49, seed=2),
    "shuffle of unknown size": lambda d: d.range(50).shuffle(tfsvc.data.UNKNOWN_CARDINALITY, seed=3),
    "shuffle of nothing": lambda d: d.range(0).shuffle(3, seed=3),
    "shuffle without reshuffling": lambda d: d.range(50).shuffle(7, seed=1, reshuffle_each_iteration=False),
    "shuffle of functions' results": lambda d: d.range(50).map(lambda x: x * 2).shuffle(9, seed=4),
    "shuffle of batches": lambda d: d.range(50).batch(3).shuffle(4, seed=4),
    "shuffle of a generator": lambda d: d.from_generator(lambda: iter(range(30)), output_types=np.int64).shuffle(8, 5),
    "large seed": lambda d: d.range(20).shuffle(20, seed=2**40 + 7),
    "negative seed": lambda d: d.range(20).shuffle(20, seed=-3),
    "seed zero": lambda d: d.range(20).shuffle(20, seed=0),
    "two shuffles": lambda d: d.range(30).shuffle(7, seed=1).shuffle(5, seed=2),
    "shuffle above repeat": lambda d: d.range(15).repeat(2).shuffle(6, seed=1),
    "fixed shuffle under repeat": lambda d: (
        d.range(15).shuffle(6, seed=1, reshuffle_each_iteration=False).map(lambda x: x).repeat(3)
    ),
    "one shuffle twice": lambda d: (lambda s: d.zip(s, s))(d.range(15).shuffle(6, seed=1)),
    "one shuffle behind itself": lambda d: (lambda s: s.concatenate(s))(d.range(15).shuffle(6, seed=1)),
    "shuffle in a function": lambda d: d.range(3).flat_map(lambda x: d.range(9).shuffle(5, seed=6)),
    "random": lambda d: d.random(seed=3).take(20),
    "sample": lambda d: d.sample_from_datasets(three(d), seed=3),
    "sample with weights": lambda d: d.sample_from_datasets(three(d), [0.2, 0.5, 0.3], seed=4),
    "sample with a weight of zero": lambda d: d.sample_from_datasets(three(d), [0.2, 0.0, 0.3], seed=4),
    "sample until one is empty": lambda d: d.sample_from_datasets(three(d), seed=5, stop_on_empty_dataset=True),
    "sample, other each time": lambda d: d.sample_from_datasets(three(d), seed=3, rerandomize_each_iteration=True),
    "sample with changing weights": lambda d: d.sample_from_datasets(
        three(d), d.from_tensor_slices(np.array([[0.2, 0.5, 0.3], [0.9, 0.1, 0.0]], np.float32)).repeat(), seed=4
    ),
    "resample": lambda d: d.range(400).rejection_resample(tenth, [0.5, 0.5], [0.9, 0.1], seed=1),
    "resample to one class": lambda d: d.range(400).rejection_resample(tenth, [0.0, 1.0], [0.9, 0.1], seed=1),
    "resample what is right": lambda d: d.range(40).rejection_resample(tenth, [0.5, 0.5], [0.5, 0.5], seed=1),
    "resample with an estimate": lambda d: d.range(400).rejection_resample(tenth, [0.5, 0.5], seed=2),
}

REPEATED: dict[str, Callable[[Any], Any]] = {
    "shuffle under repeat": lambda d: d.range(15).shuffle(6, seed=1).map(lambda x: x).repeat(3),
    "shuffle under two repeats": lambda d: d.range(6).shuffle(6, seed=1).repeat(2).map(lambda x: x).repeat(2),
    "shuffle and take": lambda d: d.range(15).shuffle(6, seed=1).take(5).repeat(3),
    "random, other each time": lambda d: d.random(seed=3, rerandomize_each_iteration=True).take(20).repeat(2),
}

UNSEEDED: dict[str, Callable[[Any], Any]] = {
    "shuffle": lambda d: d.range(20).shuffle(7),
    "fixed shuffle": lambda d: d.range(20).shuffle(7, reshuffle_each_iteration=False),
    "two shuffles": lambda d: d.range(20).shuffle(7).shuffle(4),
    "random": lambda d: d.random().take(5),
    "sample": lambda d: d.sample_from_datasets(three(d)),
    "resample": lambda d: d.range(400).rejection_resample(tenth, [0.5, 0.5], [0.9, 0.1]),
    "shuffles in a function": lambda d: d.range(3).flat_map(lambda x: d.zip(d.range(9).shuffle(5), d.random())),
}


def epochs(dataset: Any, count: int = 3) -> list[list[Any]]:
    """Whole passes over one dataset object."""
    return [[plain(element) for element in dataset.as_numpy_iterator()] for _ in range(count)]


def plain(element: Any) -> Any:
    return tuple(map(plain, element)) if isinstance(element, tuple) else np.asarray(element).tolist()


@pytest.fixture(autouse=True)
def _no_global_seed() -> Iterator[None]:
    yield
    tensorflow.random.set_seed(None)
    tfsvc.random.set_seed(None)


@pytest.mark.parametrize("seed", [None, 0, 5, 2**33])
@pytest.mark.parametrize("make", DATASETS.values(), ids=list(DATASETS))
def test_seeded_luck_is_tensorflows(make: Callable[[Any], Any], seed: int | None) -> None:
    tensorflow.random.set_seed(seed)
    tfsvc.random.set_seed(seed)
    assert epochs(make(tfsvc.data.Dataset)) == epochs(make(tensorflow.data.Dataset))


@pytest.mark.parametrize("make", REPEATED.values(), ids=list(REPEATED))
def test_each_repetition_has_the_luck_that_tensorflow_gives_it(make: Callable[[Any], Any]) -> None:
    """In the first epoch; for later ones TensorFlow's count depends on what it optimized away."""
    assert epochs(make(tfsvc.data.Dataset), 1) == epochs(make(tensorflow.data.Dataset), 1)


def test_the_global_seed_decides_where_there_is_no_other() -> None:
    for seed in (1, 7):
        tensorflow.random.set_seed(seed)
        tfsvc.random.set_seed(seed)
        for name, make in UNSEEDED.items():
            assert epochs(make(tfsvc.data.Dataset)) == epochs(make(tensorflow.data.Dataset)), name


def test_files_come_in_the_same_order(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.txt").touch()
    pattern = str(tmp_path / "*.txt")
    for seed in (None, 3):
        tensorflow.random.set_seed(seed)
        tfsvc.random.set_seed(seed)
        ours = tfsvc.data.Dataset.list_files(pattern, seed=9)
        assert epochs(ours) == epochs(tensorflow.data.Dataset.list_files(pattern, seed=9))
