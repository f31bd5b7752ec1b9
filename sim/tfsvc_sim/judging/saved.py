"""The oracle of distributed snapshots: the directory holds the dataset, each value as often as the dataset does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tfsvc.data import Dataset
from tfsvc.errors import OpError
from tfsvc_sim.judging.oracles import SHOWN
from tfsvc_sim.judging.sequence import flat


def saved(path: Path, expected: Sequence[int]) -> list[str]:
    """What is wrong with a snapshot that is said to have ended, in words.

    Args:
      expected: all values of the dataset.
    """
    try:
        got = Counter(value for element in Dataset.load(path) for value in flat(element))
    except OpError as error:
        return [f"{path.name} cannot be loaded: {error.message}"]
    want = Counter(expected)
    problems = []
    for value in sorted((got - want) + (want - got))[:SHOWN]:
        problems.append(f"value {value} was saved {got[value]} times, and the dataset holds it {want[value]} times")
    streams: dict[str, list[int]] = {}
    for chunk in (path / "chunks").iterdir():
        _, stream, number, _ = chunk.name.split("_")
        streams.setdefault(stream, []).append(int(number))
    for stream, numbers in streams.items():
        if sorted(numbers) != list(range(len(numbers))):
            problems.append(f"stream {stream} has the chunks {sorted(numbers)}")
    return problems
