"""What a process holds does not grow with the passes and iterators that it has made."""

from __future__ import annotations

import pytest

from benchmarks.memory import soak


@pytest.mark.slow
def test_memory_stays_flat() -> None:
    assert not soak(epochs=5, iterators=100, jobs=0, size=2000)
