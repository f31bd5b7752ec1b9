"""The disk: groups are synced together, and a crash takes what was not synced."""

from __future__ import annotations

import pytest

from tfsvc.errors import Code, RpcError, UnavailableError
from tfsvc.protocol.dispatcher.history import shorten
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.updates import LoseWorker, RegisterWorker, Update
from tfsvc_sim.kernel.disk import Disk, Trouble
from tfsvc_sim.kernel.heap import HeapEngine


def update(n: int) -> Update:
    return LoseWorker(f"w{n}")


def make(seed: int = 0) -> tuple[HeapEngine, Disk, list[int]]:
    engine = HeapEngine()
    disk = Disk(engine, Luck(seed, "disk"))
    heard: list[int] = []
    disk.synced = heard.append
    return engine, disk, heard


def test_what_is_appended_during_a_sync_waits_for_the_next() -> None:
    engine, disk, heard = make()
    disk.append(1, update(1))
    disk.append(2, update(2))
    disk.append(3, update(3))
    engine.run(SECOND)
    assert heard == [1, 3], "the first alone, then the others as one group"
    assert disk.durable == 3


def test_a_crash_keeps_all_that_was_synced_and_a_prefix_of_the_rest() -> None:
    survivors = {0}
    for seed in range(40):
        engine, disk, heard = make(seed)
        disk.append(1, update(1))
        engine.run(SECOND)
        for n in range(2, 5):
            disk.append(n, update(n))
        disk.crash()
        assert disk.records == [update(n) for n in range(1, len(disk.records) + 1)]
        assert disk.durable == len(disk.records) >= 1
        survivors.add(len(disk.records))
        engine.run(2 * SECOND)
        assert heard == [1], "the dead life's sync is not reported"
    assert survivors == {0, 1, 2, 3, 4}


def test_the_next_life_goes_on_behind_what_survived() -> None:
    engine, disk, heard = make()
    disk.append(1, update(1))
    engine.run(SECOND)
    disk.crash()
    disk.append(2, update(2))
    engine.run(2 * SECOND)
    assert heard == [1, 2]


def test_a_full_disk_is_told_and_keeps_what_was_synced() -> None:
    engine, disk, heard = make()
    broke: list[RpcError] = []
    disk.broke = broke.append
    disk.append(1, update(1))
    engine.run(SECOND)
    disk.trouble = Trouble.FULL
    disk.append(2, update(2))
    engine.run(2 * SECOND)
    assert heard == [1]
    assert [error.code for error in broke] == [Code.RESOURCE_EXHAUSTED]
    disk.crash()
    assert disk.recover()[:1] == [update(1)]


def test_an_unreadable_disk_is_told() -> None:
    _, disk, _ = make()
    disk.trouble = Trouble.UNREADABLE
    with pytest.raises(UnavailableError, match="cannot be read"):
        disk.recover()
    disk.trouble = None
    assert disk.recover() == []


def test_a_crash_at_any_moment_of_compacting_loses_nothing() -> None:
    """Lives of every length, from before there is a snapshot to after the last stale object is gone."""
    restored = 0
    for length in range(60):
        engine = HeapEngine()
        disk = Disk(engine, Luck(length, "disk"), compacts=True, compact_after=20)
        for n in range(1, length + 1):
            disk.append(n, RegisterWorker(f"w{n % 15}", n, (), (), 0))
            engine.run(engine.now + MILLISECOND // 2)
        disk.crash()
        recovered = disk.recover()
        assert list(shorten(recovered)) == list(shorten(disk.records))
        restored += disk.restored
    assert 0 < restored < 60
