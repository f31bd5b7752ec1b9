"""A cluster as its dispatcher describes it, as metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from prometheus_client.core import Metric

from tfsvc.protocol.messages.chronicle import GetChronicleResponse, JobTotal
from tfsvc.protocol.messages.description import Description
from tfsvc_transports.telemetry import catalogue as c


class DispatcherCollector:
    """Asks anew for each collection.

    Args:
      look: gives the cluster, what is there and how it went.
    """

    def __init__(self, look: Callable[[], tuple[Description, GetChronicleResponse]]) -> None:
        self._look = look
        self._labels = c.JobLabels()

    def collect(self) -> Iterable[Metric]:
        told, course = self._look()
        yield from self._present(told)
        yield from self._by_job(told, course)
        tally = told.tally
        yield c.WORKERS_LOST.value(tally.workers_lost)
        yield c.READERS_LOST.value(tally.readers_lost)
        yield c.SPLITS_LEASED.value(tally.splits)
        yield c.SPLITS_REQUEUED.value(tally.splits_again)
        yield c.LANES_MOVED.value(tally.moves)

    def _present(self, told: Description) -> Iterable[Metric]:
        states = ("live", "silent", "draining", "leaving")
        yield c.WORKERS.family(_counted(Counter(worker.state for worker in told.workers), states))
        yield c.RECOMMENDED.value(told.recommended_workers)
        yield c.JOBS.value(told.census.jobs)
        yield c.ITERATIONS.value(told.census.iterations)
        yield c.TASKS.family(
            _counted(Counter(task.state for task in told.tasks), ("pending", "running", "finished", "lost"))
        )
        silent = {
            "worker": [worker.silent_ns for worker in told.workers if worker.silent_ns is not None],
            "reader": [reader.silent_ns for reader in told.readers if reader.silent_ns is not None],
        }
        yield c.HEARTBEAT_AGE.family({(peer,): max(ages) / 1e9 for peer, ages in silent.items() if ages})
        chunks: Counter[str] = Counter()
        for snapshot in told.snapshots:
            chunks[snapshot.state] += snapshot.chunks
        yield c.SNAPSHOT_CHUNKS.family(_counted(chunks, chunks))

    def _by_job(self, told: Description, course: GetChronicleResponse) -> Iterable[Metric]:
        jobs = {job.id: self._labels.of(job.name, job.anonymous) for job in told.jobs}
        by_iteration = {iteration.id: jobs.get(iteration.job_id, c.OTHER) for iteration in told.iterations}
        lanes: Counter[str] = Counter()
        held: Counter[str] = Counter()
        readers: Counter[str] = Counter()
        given_up: Counter[str] = Counter()
        for iteration in told.iterations:
            label = by_iteration[iteration.id]
            lanes[label] += iteration.lanes
            readers[label] += iteration.readers
            given_up[label] += iteration.splits_given_up
        for lane in told.lanes:
            held[by_iteration.get(lane.iteration_id, c.OTHER)] += lane.leased
        for series, found in (
            (c.LANES, lanes),
            (c.READERS, readers),
            (c.SPLITS_HELD, held),
            (c.SPLITS_GIVEN_UP, given_up),
        ):
            yield series.family(_counted(found, lanes))
        of_reader = {reader.id: by_iteration.get(reader.iteration_id, c.OTHER) for reader in told.readers}
        shares: dict[c.Labels, float] = {}
        for recent in course.recent:
            label = of_reader.get(recent.reader_id, c.OTHER)
            shares[label,] = max(shares.get((label,), 0.0), recent.waited_ns / recent.over_ns)
        yield c.WAIT_SHARE.family(shares)
        totals = [(self._label(total), total.consumption) for total in course.jobs]
        for series, field, unit in (
            (c.ELEMENTS_TAKEN, "elements", 1.0),
            (c.BYTES_TAKEN, "bytes", 1.0),
            (c.ELEMENTS_DISCARDED, "discarded", 1.0),
            (c.ELEMENTS_MISSED, "missed", 1.0),
            (c.WAIT_SECONDS, "waited_ns", 1e9),
        ):
            sums: dict[c.Labels, float] = {}
            for label, consumption in totals:
                sums[label,] = sums.get((label,), 0.0) + getattr(consumption, field) / unit
            yield series.family(sums)

    def _label(self, total: JobTotal) -> str:
        return c.OTHER if total.name is None else self._labels.of(total.name, not total.name)


def _counted(found: Counter[str], names: Iterable[str]) -> dict[c.Labels, float]:
    """Every name has a value, be it 0: a series that is absent until something goes wrong cannot be watched."""
    return {(name,): float(found[name]) for name in names}
