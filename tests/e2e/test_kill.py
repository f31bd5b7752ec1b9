"""Exactly once through the loss of real processes; ``tests.e2e.killing`` plays many more rounds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.fleet import Fleet, fleet
from tests.e2e.killing import play


@pytest.fixture(scope="module")
def processes() -> Iterator[Fleet]:
    with fleet() as made:
        yield made


@pytest.mark.parametrize("seed", range(6))
def test_every_element_comes_once_though_processes_are_killed(processes: Fleet, seed: int) -> None:
    outcome = play(processes, seed)
    assert outcome.problem == "", outcome.story
