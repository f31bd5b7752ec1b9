"""A short sweep: clean, and wide enough to have seen everything that it is meant to see."""

from __future__ import annotations

from scenarios.sweep import Tally, sweep
from tfsvc_sim.faults import label
from tfsvc_sim.faults.menu import FaultKind, what
from tfsvc_sim.verdict import MARKS
from tfsvc_sim.workloads import KINDS


def test_some_hundred_seeds_are_clean_and_meet_every_fault_and_workload() -> None:
    total = Tally()
    for tally in sweep(range(400), engine="heap"):
        total.add(tally)
    assert total.failed == {}
    assert total.clean == 400
    assert [kind for kind in FaultKind if not total.met[label(what(kind, 0))]] == []
    assert [mark for mark in MARKS if not total.marks[mark]] == []
    assert [kind for kind in KINDS if not total.workloads[kind]] == []
