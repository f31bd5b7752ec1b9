"""Settings of all tests.

Hypothesis profiles: ``pr`` plays the same cases every time, ``long`` hunts for new ones; choose with the
environment variable ``HYPOTHESIS_PROFILE``. ``--rewrite`` writes the outcome of interaction scripts anew.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.checkout import use_its_entry_points

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "pr", max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=_SLOW
)
settings.register_profile("long", max_examples=20_000, deadline=None, print_blob=True, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "pr"))


def pytest_configure(config: pytest.Config) -> None:
    config.add_cleanup(use_its_entry_points().cleanup)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the outcome of interaction scripts anew")
