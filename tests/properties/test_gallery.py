"""The gallery: every scenario comes to what it must, under several seeds, and everything it claims is met."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tfsvc_sim.faults import label
from tfsvc_sim.playing.files import KINDS, load
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.seeds import heap_world

GALLERY = Path(__file__).parents[2] / "scenarios" / "gallery"
FILES = [path for path in sorted(GALLERY.iterdir()) if path.suffix in KINDS]
SEEDS = 5
LINES_MAX = 100


def test_there_are_enough_of_them() -> None:
    assert len(FILES) >= 25


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_scenario_comes_to_what_it_must(path: Path) -> None:
    assert path.read_text().count("\n") < LINES_MAX
    story = load(path)
    assert story.title.rstrip(".") != path.stem, "its title says what goes on"
    met: dict[str, None] = {}
    for seed in range(SEEDS):
        verdict = play(replace(story.scenario, seed=seed), heap_world, story.claims)
        assert verdict.problems == (), seed
        met |= dict.fromkeys((*verdict.met, *verdict.marks))
    assert [label(fault.what) for fault in story.scenario.faults if label(fault.what) not in met] == []
    assert [claim.name for claim in story.claims if claim.rare and claim.name not in met] == []
