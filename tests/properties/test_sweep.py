"""A short sweep: clean, and wide enough to have seen everything that it is meant to see."""

from __future__ import annotations

from tfsvc_sim.playing.seeds import SWARM, Tally, sweep


def test_some_hundred_seeds_are_clean_and_meet_every_fault_mark_and_workload() -> None:
    total = Tally()
    # About one seed in a thousand leaves a reader unheard; 701 does.
    for tally in (*sweep(range(500)), *sweep(range(701, 702))):
        total.add(tally)
    assert total.failed == {}
    assert total.clean == 501
    assert total.missing(SWARM) == ()


def test_a_sweep_that_is_too_short_says_what_it_has_not_met() -> None:
    (tally,) = sweep(range(3))
    assert "a static shard was given up" in tally.missing(SWARM)
