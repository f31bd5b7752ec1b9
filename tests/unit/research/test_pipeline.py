"""Counted pipelines keep the laws of real ones: no gaps, and the same elements from a checkpoint on."""

from __future__ import annotations

from dataclasses import replace

from tfsvc.protocol.contract import Produce
from tfsvc.protocol.messages import DatasetDef
from tfsvc.protocol.production import Ended, Hungry, Recipe
from tfsvc.protocol.splits import Lease, Span, SplitPlan, SplitPosition
from tfsvc_sim.research.costs import Costs, Prices
from tfsvc_sim.research.laws import Exponential, Fixed
from tfsvc_sim.research.pipeline import CHECKPOINT_EVERY, Ballast, Pipeline
from tfsvc_sim.research.source import Source, cut_into
from tfsvc_sim.research.trainer import elements_of

LAYOUT = Source((300, 50, 400)).spans()
RECIPE = Recipe(DatasetDef(plans=(SplitPlan(len(LAYOUT)),)), "d", providers=1)
HALF = Fixed(0.5)
ALL = Lease(0, SplitPosition(0, 0), (Span(0, len(LAYOUT)),), True)


def read(recipe, leases, law=HALF, elements_max=1 << 30):
    pipeline = Pipeline(recipe, LAYOUT, Prices(Costs(operators=(law,)), 3), 100)
    found, productions, ordinal = [], [], recipe.checkpoint.ordinal
    command = Produce(1, None, tuple(leases), elements_max, 6400)
    while True:
        production, _ = pipeline.run(command)
        command = replace(command, leases=())
        productions.append(production)
        for frame in production.frames:
            assert frame.start == ordinal
            ordinal = frame.end
            spans = list(elements_of(frame, 0, frame.count))
            assert sum(span.size for span in spans) == frame.count
            found += [i for lo, hi in spans for i in range(lo, hi)]
        if isinstance(production.status, Ended | Hungry):
            return found, productions


def test_every_element_of_the_leased_splits_in_order():
    found, productions = read(RECIPE, [ALL])
    assert found == list(range(750))
    assert isinstance(productions[-1].status, Ended)


def test_it_waits_for_splits():
    found, productions = read(RECIPE, [Lease(0, SplitPosition(0, 0), (Span(1, 2),))])
    assert found == list(range(300, 350))
    assert productions[-1].status == Hungry(0, SplitPosition(0, 1))


def test_from_any_checkpoint_it_gives_what_would_have_followed():
    whole, productions = read(RECIPE, [ALL], Exponential(1.0))
    checkpoints = [p.checkpoint for p in productions if p.checkpoint is not None]
    assert len(checkpoints) >= 2
    assert checkpoints[0].ordinal >= CHECKPOINT_EVERY
    assert any(checkpoint.state for checkpoint in checkpoints)
    for checkpoint in checkpoints:
        (at,) = checkpoint.positions
        lease = Lease(0, at, (Span(at.offset, len(LAYOUT)),), True)
        found, _ = read(replace(RECIPE, checkpoint=checkpoint), [lease])
        assert found == whole[checkpoint.ordinal :]


def test_a_slice_of_time_ends_a_run():
    _, productions = read(RECIPE, [ALL], Fixed(5.0))
    assert productions[0].frames[0].count == 4


def test_a_body_weighs_what_its_elements_would():
    body = Ballast([Span(3, 5), Span(9, 10)], 12_345)
    assert len(body) == 12_345
    assert body.parts() == [(3, 5), (9, 10)]
    assert isinstance(bytes(body), Ballast)


def test_sources():
    assert Source.even(10, 4).files == (4, 4, 2)
    skewed = Source.zipf(1000, 10)
    assert skewed.elements == 1000
    assert max(skewed.files) > 3 * sorted(skewed.files)[5]
    assert list(cut_into([Span(0, 5), Span(5, 6)], 2)) == [(0, 2), (2, 4), (4, 5), (5, 6)]
