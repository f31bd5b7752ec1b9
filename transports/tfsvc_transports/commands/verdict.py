"""What is wrong with a cluster, as far as its dispatcher knows, in words that say what to do."""

from __future__ import annotations

from collections.abc import Iterator

from tfsvc.protocol.messages import Description
from tfsvc.units import show_duration

SILENT_INTERVALS = 3
"""A reader or worker that was not heard for so many of its intervals is told of."""


def problems(description: Description) -> list[str]:
    """All that an operator should look at; nothing of a cluster that is well."""
    return [*_of_workers(description), *_of_iterations(description), *_of_snapshots(description)]


def _of_workers(description: Description) -> Iterator[str]:
    for worker in description.workers:
        if worker.state == "silent":
            since = "" if worker.silent_ns is None else f" for {show_duration(worker.silent_ns / 1e9)}"
            yield (
                f"worker {worker.address} has not been heard{since}; its splits went to others. See whether its "
                "process runs, and start it again"
            )


def _of_iterations(description: Description) -> Iterator[str]:
    working = [worker for worker in description.workers if worker.state == "live"]
    names = {job.id: job.name for job in description.jobs}
    for iteration in description.iterations:
        name = names.get(iteration.job_id, iteration.job_id)
        if iteration.readers and not iteration.finished and not working:
            yield f"job {name} is read and there is no live worker; start one"
        if iteration.shards_lost:
            yield (
                f"job {name} has lost {iteration.shards_lost} of {iteration.shards} shards, since no worker came back "
                "for them; what was left of them is missing"
            )
        if iteration.splits_given_up:
            yield f"job {name} delivers at most once and has given up {iteration.splits_given_up} splits"


def _of_snapshots(description: Description) -> Iterator[str]:
    for snapshot in description.snapshots:
        if snapshot.state == "failed":
            yield f"the snapshot at {snapshot.path} has failed: {snapshot.error}"
