"""A pipeline's frames: how large they are, and that they are whole."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfsvc.data import Dataset
from tfsvc.execution.pipeline import Pipeline
from tfsvc.protocol.contract import Produce
from tfsvc.protocol.production import Ended, Recipe
from tfsvc.protocol.splits import ORIGIN, Lease, Span
from tfsvc.wire.frames import decode_frame

MIB = 1 << 20


def frames_of(dataset: Dataset, bytes_max: int = MIB) -> list[Any]:
    pipeline = Pipeline(dataset.operator, Recipe(b"", "", 0), None, 0)
    frames = []
    while True:
        production = pipeline.run(Produce(0, None, (), 1 << 24, bytes_max))
        frames.extend(production.frames)
        if isinstance(production.status, Ended):
            return frames


@pytest.mark.parametrize("rows", [1, 100])
def test_a_frame_of_large_elements_holds_few(rows: int) -> None:
    images = Dataset.from_tensor_slices(np.zeros((2000, 100, 100), np.uint8)).batch(rows)
    frames = frames_of(images)
    assert max(len(frame.body) for frame in frames) < 2.2 * MIB
    assert sum(frame.count for frame in frames) == 2000 // rows


def test_small_elements_fill_few_frames() -> None:
    frames = frames_of(Dataset.range(300_000))
    assert len(frames) == 3
    numbers = [int(x) for frame in frames for x in decode_frame(frame.body).leaves[0]]
    assert numbers == list(range(300_000))


def test_strings_weigh_what_they_are() -> None:
    frames = frames_of(Dataset.from_tensor_slices(np.array([b"x" * 10_000] * 500, object)))
    assert max(len(frame.body) for frame in frames) < 2 * MIB


def test_pieces_of_columns_share_a_frame() -> None:
    dataset = Dataset.range(5).concatenate(Dataset.range(5, 9))
    (frame,) = frames_of(dataset)
    assert decode_frame(frame.body).leaves[0].tolist() == list(range(9))  # type: ignore[union-attr]


def test_a_slice_of_a_slow_function_is_short() -> None:
    """A block of a function's results takes about as long as a slice may."""
    now = 0

    def slow(x: int) -> int:
        nonlocal now
        now += 1_000_000
        return x

    pipeline = Pipeline(Dataset.range(10_000).map(slow).operator, Recipe(b"", "", 0), lambda: now, 20_000_000)
    counts = []
    for _ in range(5):
        production = pipeline.run(Produce(0, None, (), 1 << 24, MIB))
        counts.append(sum(frame.count for frame in production.frames))
    assert counts == [20] * 5


def test_results_of_a_function_travel_as_arrays() -> None:
    (frame,) = frames_of(Dataset.range(100).map(lambda x: (x, np.zeros(3, np.float32))))
    columns = decode_frame(frame.body)
    assert [leaf.shape for leaf in columns.leaves] == [(100,), (100, 3)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("make", "written"),
    [
        (lambda d: d.map(lambda x: namedtuple("Pair", "x y")(x, x)).shuffle(5).map(lambda p: p.x), True),
        (lambda d: d.window(1).map(lambda w: w.map(lambda x: x)).shuffle(5).flat_map(lambda w: w), False),
    ],
    ids=["named tuples", "datasets of functions"],
)
def test_checkpoints_hold_what_can_be_written_down_and_otherwise_there_are_none(
    make: Callable[[Dataset], Dataset], written: bool
) -> None:
    recipe = Recipe(b"", "", providers=1)
    pipeline = Pipeline(make(Dataset.range(40)).operator, recipe, None, 0, checkpoint_every=4)
    lease = Lease(0, ORIGIN, (Span(0, 40),), True)
    production = pipeline.run(Produce(0, None, (lease,), 20, MIB))
    assert (production.checkpoint is not None) == written
    assert sum(frame.count for frame in production.frames) == 20
