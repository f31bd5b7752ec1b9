"""Laws have the means that they say, and draws belong to what they are for."""

from __future__ import annotations

import pytest

from tfsvc_sim.research.draws import Draws
from tfsvc_sim.research.laws import Empirical, Exponential, Fixed, LogNormal, Pareto, Sometimes, Uniform

LAWS = [
    Fixed(3.0),
    Uniform(1.0, 5.0),
    Exponential(2.0),
    LogNormal(4.0, 0.5),
    Pareto(3.0, 3.0),
    Sometimes(Fixed(1.0), 0.1, 11.0),
    Empirical([4.0, 1.0, 1.0]),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_the_mean_is_that_of_the_draws(law):
    draws = Draws(1, "test")
    values = [law.at(draws.unit(i)) for i in range(20_000)]
    assert sum(values) / len(values) == pytest.approx(law.mean, rel=0.03)
    assert law.at(0.0) >= 0


def test_a_law_rises_with_its_unit():
    for law in LAWS:
        values = [law.at(unit / 100) for unit in range(100)]
        assert values == sorted(values), law


def test_what_has_no_mean_or_samples_is_refused():
    with pytest.raises(ValueError, match="above 1"):
        Pareto(1.0, 1.0)
    with pytest.raises(ValueError, match="measure first"):
        Empirical([])


def test_a_draw_is_a_function_of_seed_purpose_and_ordinal():
    assert Draws(7, "a").unit(3) == Draws(7, "a").unit(3)
    others = {Draws(7, "a").unit(3), Draws(8, "a").unit(3), Draws(7, "b").unit(3), Draws(7, "a").unit(4)}
    assert len(others) == 4
    assert Draws(7, "a").unit(3) == 0.34077620880295
