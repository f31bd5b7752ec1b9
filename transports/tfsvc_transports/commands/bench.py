"""``tfsvc bench``: how much this machine moves from workers to a reader, both its own processes."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from typing import Final

import click
import numpy as np

from tfsvc.data.dataset import Dataset
from tfsvc.service.autoscaling import LocalProcesses
from tfsvc.service.config import DispatcherConfig
from tfsvc.service.controlling import describe
from tfsvc.service.distribute import distribute
from tfsvc.service.servers import DispatchServer
from tfsvc.units import DURATION, SIZE, show_size
from tfsvc_transports.commands.exits import Late, refusals_told
from tfsvc_transports.commands.output import console, json_option, say_json, table

WORKERS_S: Final = 30.0
"""How long workers may take to come."""
TRANSFERS: Final = {"shared memory": "tfsvc", "network": "grpc"}
"""The ways from a worker to a reader of its host, and what they are called."""


@dataclass(frozen=True)
class Measured:
    """Elements of one size that came one way."""

    element_bytes: int
    way: str
    seconds: float
    elements: int
    elements_per_s: float
    bytes_per_s: float
    first_element_s: float


@click.command()
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Worker processes.")
@click.option("--seconds", type=DURATION, default="2s", show_default=True, help="How long each measurement lasts.")
@click.option(
    "--element-size", "sizes", type=SIZE, multiple=True, default=("8B", "1MiB"), show_default=True, help="Of what."
)
@json_option
def bench(workers: int, seconds: float, sizes: tuple[int, ...], as_json: bool) -> None:
    """Measures how many elements a reader on this machine gets from workers on this machine.

    It starts a dispatcher and workers of its own, and ends them. The elements cost nothing to make, so this is what the
    service itself can do here: your pipeline cannot be faster. It is short: what else runs shows.
    """
    with refusals_told(), DispatchServer(DispatcherConfig(own_process=True)) as server:
        processes = LocalProcesses(server.target, drain=1)
        try:
            processes.scale(workers)
            _await(server.target, workers)
            found = [_measure(server.target, size, way, seconds) for size in sizes for way in TRANSFERS]
        finally:
            processes.close()
    if as_json:
        say_json({"workers": workers, "cores": os.cpu_count(), "measured": [asdict(each) for each in found]})
        return
    rows = [
        (show_size(f.element_bytes), f.way, f"{f.elements_per_s:,.0f}", f"{show_size(f.bytes_per_s)}/s") for f in found
    ]
    title = f"{workers} worker processes and a reader, {os.cpu_count()} cores"
    console().print(table(title, ("element", "way", "elements/s", "bytes/s"), rows, ("elements/s", "bytes/s")))


def _await(target: str, workers: int) -> None:
    until = time.monotonic() + WORKERS_S
    while describe(target).census.workers < workers:
        if time.monotonic() > until:
            raise Late(f"{workers} workers have not come in {WORKERS_S:g} s")
        time.sleep(0.05)


def _measure(target: str, size: int, way: str, seconds: float) -> Measured:
    dataset = Dataset.from_tensors(np.zeros(max(1, size), np.uint8)).repeat()
    began = time.monotonic()
    iterator = iter(dataset.apply(distribute("parallel_epochs", target, data_transfer_protocol=TRANSFERS[way])))
    next(iterator)
    first = time.monotonic()
    count, now = 0, first
    while now - first < seconds:
        next(iterator)
        count, now = count + 1, time.monotonic()
    rate = count / (now - first)
    return Measured(size, way, now - first, count, rate, rate * size, first - began)
