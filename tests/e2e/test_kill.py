"""Exactly once through the loss of real worker processes; ``tests.e2e.killing`` plays many more rounds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.killing import Fleet, fleet, play


@pytest.fixture(scope="module")
def workers() -> Iterator[Fleet]:
    with fleet() as made:
        yield made


@pytest.mark.parametrize("seed", range(4))
def test_every_element_comes_once_though_workers_are_killed(workers: Fleet, seed: int) -> None:
    outcome = play(workers, seed)
    assert outcome.problem == "", outcome.story
