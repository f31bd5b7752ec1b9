"""The data service on Ray: two trainers read one job, a worker is killed, and nothing is lost.

    pip install 'tfsvc[ray]'
    python -m examples.on_ray

Joins the Ray cluster that ``RAY_ADDRESS`` names, or starts one on this machine.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from typing import Any, Final

import ray

import tfsvc as tf
from tfsvc.data.experimental import service
from tfsvc.launch.ray import RayService

COUNT: Final = 3000


def prepared(x: Any) -> tuple[Any, int]:
    """An element, which takes a while, and the process that made it."""
    time.sleep(0.002)
    return x, os.getpid()


def train(target: str, kills: bool) -> list[int]:
    """What one trainer gets; it may kill the worker that gave it its hundredth element."""
    dataset = tf.data.Dataset.range(COUNT).map(prepared)
    taken = []
    for x, process in dataset.apply(service.distribute("distributed_epoch", target, job_name="train")):
        taken.append(int(x))
        if kills and len(taken) == 100:
            os.kill(int(process), signal.SIGKILL)
    return taken


def main() -> None:
    ray.init(num_cpus=None if "RAY_ADDRESS" in os.environ else 8, log_to_driver=False)
    with tempfile.TemporaryDirectory() as shared:
        # On several machines: a directory that all of them reach, and host="0.0.0.0" with credentials.
        journal = service.DispatcherConfig(work_dir=f"{shared}/journal", fault_tolerant_mode=True)
        with RayService(workers=2, dispatcher=journal) as made, service.Autoscaler(made.target, made, least=2, most=4):
            trainer = ray.remote(train)
            taken = ray.get([trainer.remote(made.target, rank == 0) for rank in range(2)])
    every = sorted(x for part in taken for x in part)
    print(f"the trainers took {' and '.join(str(len(part)) for part in taken)} elements; a worker was killed")
    print(f"lost: {len(set(range(COUNT)) - set(every))}, repeated: {len(every) - len(set(every))}")
    assert every == list(range(COUNT))


if __name__ == "__main__":
    main()
