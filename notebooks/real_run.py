"""A real run to calibrate by: a dispatcher and workers in this process, on gRPC, with elements that take their time."""

from __future__ import annotations

import time
from typing import Any

import tfsvc as tf
from tfsvc_sim.research.calibration import Measured

service = tf.data.experimental.service
SPENT_MS: list[float] = []
"""What elements took, by the workers' own clocks."""


def slow(x: Any) -> Any:
    """Takes between 2 and 6 ms, by the element."""
    began = time.perf_counter()
    time.sleep(0.002 + 0.004 * (int(x) * 2654435761 % 1000) / 1000)
    SPENT_MS.append((time.perf_counter() - began) * 1000)
    return x


def real_run(workers: int, elements: int = 1500, batch: int = 16, step_s: float = 0.02) -> Measured:
    """Reads ``elements`` once, a step of ``step_s`` for each batch, and measures everything that ``fit`` needs."""
    SPENT_MS.clear()
    dispatcher = service.DispatchServer()
    crew = [service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target)) for _ in range(workers)]
    calls = []
    for _ in range(200):
        began = time.perf_counter()
        service.register_dataset(dispatcher.target, tf.data.Dataset.range(1), dataset_id="ping")
        calls.append((time.perf_counter() - began) * 1000)
    dataset = tf.data.Dataset.range(elements).map(slow)
    dataset = dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher.target)).batch(batch)
    SPENT_MS.clear()
    waits, steps = [], []
    began = time.perf_counter()
    batches = iter(dataset)
    while True:
        asked = time.perf_counter()
        if next(batches, None) is None:
            break
        had = time.perf_counter()
        waits.append(had - asked)
        time.sleep(step_s)
        steps.append((time.perf_counter() - had) * 1000)
    epoch_s = time.perf_counter() - began
    del batches, crew, dispatcher
    return Measured(workers, 1, elements, batch, 1, tuple(SPENT_MS), tuple(calls), tuple(steps), epoch_s, sum(waits))
