"""Distributed snapshots in simulation: whatever dies on the way, the directory holds every element once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.wire.specs_codec import encode_spec
from tfsvc_sim.faults import Fault, apply
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.judging.saved import saved
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.workloads import KINDS, Workload

BOOT_NS = 50 * MILLISECOND
PATIENCE_NS = 60 * SECOND
HARM = [
    FaultKind.SLOW,
    FaultKind.REORDER,
    FaultKind.DUPLICATE,
    FaultKind.LOSS,
    FaultKind.STOP,
    FaultKind.PAUSE,
    FaultKind.CUT_DISPATCHER_ONEWAY,
    FaultKind.CUT_DISPATCHER,
    FaultKind.CRASH,
    FaultKind.POWER_LOSS,
    FaultKind.KILL,
    FaultKind.RESTART_DISPATCHER,
    FaultKind.FULL_DISK,
    FaultKind.UNREADABLE_DISK,
]
harm = st.builds(
    usual, slot=st.integers(0, 20), kind=st.sampled_from(HARM), target=st.integers(0, 2), span=st.integers(1, 60)
)
# One that says its shards by a hint cannot be divided in another way.
WHOLE = [kind for kind in KINDS if not KINDS[kind].errors and kind != "hinted"]
loads = st.builds(Workload, st.sampled_from(WHOLE), st.integers(0, 60))


def save(
    seed: int, work: list[Workload], workers: int, faults: list[Fault], directory: Path, tempo: str = "usual"
) -> World:
    """Plays snapshots to their ends, all begun at once."""
    world = World(seed, TEMPOS[tempo], engine=HeapEngine(seed))
    world.add_dispatcher()
    for _ in range(workers):
        world.add_worker(Speed(element_ns=20 * MILLISECOND))
    world.run(BOOT_NS)
    world.add_reader("none", start=False)
    for number, load in enumerate(work):
        spec = encode_spec(KINDS[load.kind].build(load.size).element_spec)
        world.save(load.definition(), str(directory / str(number)), spec)
    end = apply(bounded(faults, len(world.workers)), world)
    done = [directory / str(number) / "DONE" for number in range(len(work))]
    assert world.run_until(lambda: all(path.exists() for path in done), end + PATIENCE_NS), "a snapshot does not end"
    for number, load in enumerate(work):
        assert saved(directory / str(number), load.values()) == []
    return world


@settings(deadline=None)
@given(
    st.integers(0, 999),
    st.lists(loads, min_size=1, max_size=3),
    st.integers(1, 3),
    st.lists(harm, max_size=4),
    st.sampled_from([name for name in TEMPOS if name != "impatient"]),
)
@example(1, [Workload("shuffle", 60)], 2, [usual(4, FaultKind.CRASH, 0, 40)], "usual")
@example(2, [Workload("range", 60)], 3, [usual(4, FaultKind.PAUSE, 1, 60)], "usual")
def test_every_element_is_saved_once(
    seed: int, work: list[Workload], workers: int, faults: list[Fault], tempo: str
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        save(seed, work, workers, faults, Path(directory), tempo)


@pytest.mark.parametrize("slot", range(0, 24, 2))
@pytest.mark.parametrize("kind", [FaultKind.KILL, FaultKind.RESTART_DISPATCHER])
def test_a_crash_at_any_time(slot, kind, tmp_path):
    save(slot, [Workload("shuffle_batch", 50)], 2, [usual(slot, kind, 0, 3)], tmp_path)
