"""Sweeps: tables of outcomes, by several processes, from a cache."""

from __future__ import annotations

import pytest

pandas = pytest.importorskip("pandas")

from tfsvc_sim.research import Costs, Experiment, Source  # noqa: E402
from tfsvc_sim.research.cache import Cache, key  # noqa: E402
from tfsvc_sim.research.laws import Exponential, Fixed  # noqa: E402
from tfsvc_sim.research.policies import Guided, OneByOne, pieces_of  # noqa: E402
from tfsvc_sim.research.running import run  # noqa: E402
from tfsvc_sim.research.sweep import compare, sweep  # noqa: E402

BASE = Experiment(Source.even(300, 20), Costs(operators=(Exponential(2.0),), step_ms=Fixed(5.0)), workers=2)


class Mine(Guided):
    def lease(self, question):
        return 2


def test_a_row_for_each_combination_and_seed_the_same_from_any_process(tmp_path):
    axes = {"policy": ["OneByOne", Mine], "workers": [1, 3], "seeds": range(3)}
    alone = sweep(BASE, processes=1, cache=None, **axes)
    others = sweep(BASE, processes=2, cache=tmp_path, **axes)
    cached = sweep(BASE, processes=1, cache=tmp_path, **axes)
    assert len(alone) == 12
    assert list(alone.columns[:3]) == ["policy", "workers", "seed"]
    assert list(alone["policy"].unique()) == ["OneByOne", "Mine"]
    pandas.testing.assert_frame_equal(alone, others)
    pandas.testing.assert_frame_equal(alone, cached)
    assert (alone["missing"] == 0).all()
    assert alone["ended"].all()
    assert len(list(tmp_path.rglob("*.json"))) == 12


def test_a_cached_outcome_is_not_made_again(tmp_path, monkeypatch):
    outcome = run(BASE)
    cache = Cache(tmp_path)
    assert cache.get(BASE) is None
    cache.put(BASE, outcome)
    assert cache.get(BASE) == outcome
    monkeypatch.setattr("tfsvc_sim.research.sweep.run", lambda experiment: pytest.fail("made again"))
    assert sweep(BASE, seeds=[0], cache=tmp_path)["epoch_s"][0] == outcome.epoch_s


def test_a_key_covers_seed_costs_and_the_code_of_policies():
    def two(question):
        return 2

    one = type("Same", (Guided,), {"lease": lambda self, question: 1})
    other = type("Same", (Guided,), {"lease": lambda self, question: 2})
    variants = [
        BASE,
        Experiment(BASE.source, BASE.costs, workers=2, seed=1),
        Experiment(BASE.source, Costs(), workers=2),
        Experiment(BASE.source, BASE.costs, OneByOne, workers=2),
        Experiment(BASE.source, BASE.costs, Mine, workers=2),
        Experiment(BASE.source, BASE.costs, one, workers=2),
        Experiment(BASE.source, BASE.costs, other, workers=2),
        Experiment(BASE.source, BASE.costs, pieces_of(8), workers=2),
        Experiment(BASE.source, BASE.costs, pieces_of(9), workers=2),
    ]
    assert len({key(variant) for variant in variants}) == len(variants)
    assert key(BASE) == key(Experiment(BASE.source, BASE.costs, workers=2))


def test_values_may_have_labels():
    frame = sweep(BASE, costs={"slow": Costs(operators=(Fixed(9.0),)), "fast": Costs()}, seeds=[0], cache=None)
    assert list(frame["costs"]) == ["slow", "fast"]
    assert frame["epoch_s"][0] > frame["epoch_s"][1]


@pytest.mark.parametrize(
    ("axes", "what"), [({"polcy": ["Guided"]}, "no field"), ({"policy": ["Guidd"]}, "there is no policy 'Guidd'")]
)
def test_what_is_misspelt_is_named(axes, what):
    with pytest.raises(ValueError, match=what):
        sweep(BASE, cache=None, **axes)


def test_differences_are_taken_seed_by_seed():
    rows = [
        {
            "policy": policy,
            "workers": w,
            "seed": seed,
            "epoch_s": 10.0 * seed + 5 * w + (policy == "b") * (2 + seed % 2),
        }
        for policy in "ab"
        for w in (1, 2)
        for seed in range(4)
    ]
    found = compare(pandas.DataFrame(rows), "policy", "epoch_s", against="a").set_index(["workers", "policy"])
    assert found.loc[(1, "b"), "difference"] == 2.5
    assert found.loc[(1, "a"), "half_width"] == 0
    assert found.loc[(2, "b"), "half_width"] == pytest.approx(1.96 * 0.57735 / 2, rel=1e-4)
