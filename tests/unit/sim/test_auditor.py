"""The auditor: whatever is ambient is caught, however it was imported; a run of ours touches nothing of it."""

from __future__ import annotations

import datetime
import os
import random
import threading
import time
import uuid
from collections.abc import Callable
from time import monotonic as imported_before

import numpy as np
import pytest

from tfsvc_sim.outside.auditor import AmbientError, audited
from tfsvc_sim.outside.proof import traced
from tfsvc_sim.playing.swarm import draw


def starts_a_thread() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("touch", "told"),
    [
        (time.time, "time.time"),
        (imported_before, "time.monotonic"),
        (lambda: time.sleep(0), "time.sleep"),
        (datetime.datetime.now, "datetime.now"),
        (datetime.date.today, "datetime.today"),
        (lambda: os.urandom(1), "os.urandom"),
        (uuid.uuid4, "os.urandom"),
        (random.random, "random.random"),
        (lambda: random.choice([1, 2]), "random."),
        (random.SystemRandom().random, "os.urandom"),
        (np.random.rand, "numpy.random"),
        (starts_a_thread, "_thread.start"),
    ],
)
def test_what_is_ambient_is_caught(touch: Callable[[], object], told: str) -> None:
    with pytest.raises(AmbientError, match=told), audited():
        (lambda: touch())()


def test_what_has_a_seed_is_not_ambient() -> None:
    own, arrays = random.Random(7), np.random.default_rng(7)
    with audited():
        own.random()
        arrays.random()


def test_an_error_of_the_run_goes_first() -> None:
    with pytest.raises(KeyError), audited():
        {time.time(): 0}[0.0]


def test_runs_touch_nothing_ambient() -> None:
    for seed in range(12):
        draw(seed).workload.values()
        with audited():
            assert traced(draw(seed))
