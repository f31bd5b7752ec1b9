"""The catalogue of metrics: each has its name, unit, labels and meaning here, and nowhere else.

Names follow Prometheus: base units, ``_total`` for what only grows. Labels have few values: the names of jobs are the
only ones that users choose, and of these no more than ``JOBS_MAX`` are told apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from tfsvc.errors import sendable

JOB: Final = "job_name"
"""The label with a job's name; Prometheus itself calls what it scrapes a job."""
JOBS_MAX: Final = 100
"""How many jobs have a label of their own; those that come later share the label ``other``."""
ANONYMOUS: Final = "anonymous"
"""The label of jobs without a name, of which each reader may have one."""
OTHER: Final = "other"

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The bounds of the buckets of what takes time."""

Labels = tuple[str, ...]


class Kind(Enum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Distribution:
    """How often something took how long."""

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.sum += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """The number of those up to each bound."""
        found, total = [], 0
        for bound, count in zip((*map(str, SECONDS), "+Inf"), self.counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found


@dataclass(frozen=True, slots=True)
class Series:
    """A metric.

    Attributes:
      name: as Prometheus stores it; a histogram's ends in ``_bucket``, ``_sum`` and ``_count`` there.
      roles: who has it: ``"dispatcher"``, ``"worker"``, ``"reader"``.
    """

    name: str
    kind: Kind
    help: str
    labels: Labels = ()
    roles: tuple[str, ...] = ()

    def family(self, values: Mapping[Labels, float]) -> Metric:
        """The metric with a value for each choice of labels."""
        kind = CounterMetricFamily if self.kind is Kind.COUNTER else GaugeMetricFamily
        found = kind(self.name, self.help, labels=self.labels)
        for labels, value in values.items():
            found.add_metric(labels, value)
        return found

    def value(self, value: float | None) -> Metric:
        """The metric without labels; without a value where there is none yet."""
        return self.family({} if value is None else {(): value})

    def distributions(self, values: Mapping[Labels, Distribution]) -> Metric:
        """The metric as a histogram for each choice of labels."""
        found = HistogramMetricFamily(self.name, self.help, labels=self.labels)
        for labels, value in values.items():
            found.add_metric(labels, value.buckets(), value.sum)
        return found


class JobLabels:
    """The label of each job; the first ``JOBS_MAX`` names have their own."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}

    def of(self, name: str | None, anonymous: bool = False) -> str:
        if name is None or anonymous:
            return ANONYMOUS
        label = sendable(name)
        if label not in self._known and len(self._known) < JOBS_MAX:
            self._known[label] = None
        return label if label in self._known else OTHER


_NODES: Final = ("dispatcher", "worker", "reader")


def _counter(name: str, help: str, *labels: str, roles: tuple[str, ...]) -> Series:
    return Series(name, Kind.COUNTER, help, labels, roles)


def _gauge(name: str, help: str, *labels: str, roles: tuple[str, ...]) -> Series:
    return Series(name, Kind.GAUGE, help, labels, roles)


def _histogram(name: str, help: str, *labels: str, roles: tuple[str, ...]) -> Series:
    return Series(name, Kind.HISTOGRAM, help, labels, roles)


_D: Final = ("dispatcher",)
_W: Final = ("worker",)
_R: Final = ("reader",)

INFO: Final = _gauge("tfsvc_info", "1, with what the node is.", "role", "version", roles=_NODES)
RPCS_SERVED: Final = _counter(
    "tfsvc_rpcs_served_total",
    "Calls answered, by status code.",
    "role",
    "method",
    "code",
    roles=("dispatcher", "worker"),
)
RPC_SERVED_SECONDS: Final = _histogram(
    "tfsvc_rpc_served_seconds",
    "From when a node takes a call up to its answer, waiting for elements and disks included.",
    "role",
    "method",
    roles=("dispatcher", "worker"),
)
RPCS_MADE: Final = _counter(
    "tfsvc_rpcs_made_total", "Calls made that have ended, by status code.", "role", "method", "code", roles=_NODES
)

WORKERS: Final = _gauge("tfsvc_dispatcher_workers", "Workers that are not given up, by state.", "state", roles=_D)
RECOMMENDED: Final = _gauge(
    "tfsvc_dispatcher_recommended_workers",
    "Workers that would keep all readers busy; absent until both have told their speed.",
    roles=_D,
)
JOBS: Final = _gauge("tfsvc_dispatcher_jobs", "Jobs.", roles=_D)
ITERATIONS: Final = _gauge("tfsvc_dispatcher_iterations", "Passes over datasets that are open.", roles=_D)
TASKS: Final = _gauge("tfsvc_dispatcher_tasks", "Workers' parts in open iterations, by state.", "state", roles=_D)
LANES: Final = _gauge("tfsvc_dispatcher_lanes", "Lanes that are not done.", JOB, roles=_D)
READERS: Final = _gauge("tfsvc_dispatcher_readers", "Readers.", JOB, roles=_D)
HEARTBEAT_AGE: Final = _gauge(
    "tfsvc_dispatcher_heartbeat_age_seconds",
    "How long ago the most silent worker, or reader, was heard.",
    "peer",
    roles=_D,
)
WORKERS_LOST: Final = _counter("tfsvc_dispatcher_workers_lost_total", "Lives of workers given up.", roles=_D)
READERS_LOST: Final = _counter(
    "tfsvc_dispatcher_readers_lost_total", "Readers given up since they were silent.", roles=_D
)
SPLITS_LEASED: Final = _counter("tfsvc_dispatcher_splits_leased_total", "Splits leased to lanes and streams.", roles=_D)
SPLITS_HELD: Final = _gauge(
    "tfsvc_dispatcher_splits_held", "Splits that lanes hold and whose elements are not all taken.", JOB, roles=_D
)
SPLITS_REQUEUED: Final = _counter(
    "tfsvc_dispatcher_splits_requeued_total",
    "Splits that went to another worker or reader: what is computed again, at the most.",
    roles=_D,
)
SPLITS_GIVEN_UP: Final = _gauge(
    "tfsvc_dispatcher_splits_given_up",
    "Splits of open iterations that nobody gets, since their job delivers at most once.",
    JOB,
    roles=_D,
)
LANES_MOVED: Final = _counter(
    "tfsvc_dispatcher_lanes_moved_total", "How often a lane or stream went to another worker or reader.", roles=_D
)
ELEMENTS_TAKEN: Final = _counter(
    "tfsvc_dispatcher_elements_taken_total", "Elements that applications took, as their readers said.", JOB, roles=_D
)
BYTES_TAKEN: Final = _counter("tfsvc_dispatcher_bytes_taken_total", "Bytes of these elements.", JOB, roles=_D)
ELEMENTS_DISCARDED: Final = _counter(
    "tfsvc_dispatcher_elements_discarded_total",
    "Elements that were computed again and that readers passed over, since they had them.",
    JOB,
    roles=_D,
)
ELEMENTS_MISSED: Final = _counter(
    "tfsvc_dispatcher_elements_missed_total", "Elements that left the trainers' cache unread.", JOB, roles=_D
)
WAIT_SECONDS: Final = _counter(
    "tfsvc_dispatcher_wait_seconds_total",
    "How long the applications of all readers waited for elements.",
    JOB,
    roles=_D,
)
WAIT_SHARE: Final = _gauge(
    "tfsvc_dispatcher_wait_ratio_max",
    "The part of its time that the reader waited which waited most, over the last minute: exposed waiting time.",
    JOB,
    roles=_D,
)
JOURNAL_UPDATES: Final = _counter("tfsvc_dispatcher_journal_updates_total", "Facts appended to the journal.", roles=_D)
JOURNAL_SECONDS: Final = _histogram(
    "tfsvc_dispatcher_journal_sync_seconds", "From a fact's append until it is durable.", roles=_D
)
JOURNAL_BYTES: Final = _gauge(
    "tfsvc_dispatcher_journal_bytes", "Size of the journal, where it lies in a directory.", roles=_D
)
SNAPSHOT_CHUNKS: Final = _gauge(
    "tfsvc_dispatcher_snapshot_chunks", "Committed chunks of distributed snapshots.", "state", roles=_D
)

REGISTERED: Final = _gauge("tfsvc_worker_registered", "1 if the dispatcher knows the worker.", roles=_W)
DISPATCHER_SILENCE: Final = _gauge(
    "tfsvc_worker_dispatcher_silence_seconds", "How long ago the dispatcher last answered a heartbeat.", roles=_W
)
WORKER_TASKS: Final = _gauge("tfsvc_worker_tasks", "Tasks it holds.", roles=_W)
PIPELINES: Final = _gauge("tfsvc_worker_pipelines", "Pipelines it runs.", roles=_W)
PIPELINES_BUSY: Final = _gauge("tfsvc_worker_pipelines_busy", "Pipelines that compute or wait to.", roles=_W)
ELEMENTS_PRODUCED: Final = _counter("tfsvc_worker_elements_produced_total", "Elements that pipelines made.", roles=_W)
BYTES_PRODUCED: Final = _counter("tfsvc_worker_bytes_produced_total", "Bytes of these elements.", roles=_W)
PRODUCTION_SECONDS: Final = _counter(
    "tfsvc_worker_production_seconds_total", "How long pipelines worked, all of them together.", roles=_W
)
PIPELINE_ERRORS: Final = _counter("tfsvc_worker_pipeline_errors_total", "Pipelines that ended by an error.", roles=_W)
ELEMENTS_SENT: Final = _counter("tfsvc_worker_elements_sent_total", "Elements sent to readers.", roles=_W)
BYTES_SENT: Final = _counter("tfsvc_worker_bytes_sent_total", "Bytes of these elements.", roles=_W)
BUFFERED: Final = _gauge("tfsvc_worker_buffered_bytes", "Finished output that readers have still to fetch.", roles=_W)
READS_WAITING: Final = _gauge("tfsvc_worker_reads_waiting", "Reads that wait for elements.", roles=_W)
CACHE_READS: Final = _counter(
    "tfsvc_worker_cache_reads_total", "Reads of the trainers' cache that were hits or misses.", "result", roles=_W
)
CACHE_EVICTED: Final = _counter(
    "tfsvc_worker_cache_evicted_unread_total", "Elements that left the trainers' cache before a trainer came.", roles=_W
)
ELEMENTS_WRITTEN: Final = _counter(
    "tfsvc_worker_snapshot_elements_written_total", "Elements written to distributed snapshots.", roles=_W
)

READERS_OPEN: Final = _gauge("tfsvc_reader_open", "Readers that are open in this process.", JOB, roles=_R)
READER_ELEMENTS: Final = _counter("tfsvc_reader_elements_total", "Elements the application took.", JOB, roles=_R)
READER_BYTES: Final = _counter("tfsvc_reader_bytes_total", "Bytes of these elements.", JOB, roles=_R)
READER_WAIT: Final = _counter(
    "tfsvc_reader_wait_seconds_total", "How long the application waited for elements: exposed.", JOB, roles=_R
)
READER_AGE: Final = _counter(
    "tfsvc_reader_seconds_total", "How long readers have been read from: what waiting is a part of.", JOB, roles=_R
)
READER_DISCARDED: Final = _counter(
    "tfsvc_reader_elements_discarded_total", "Elements that came again and were passed over.", JOB, roles=_R
)
READER_MISSED: Final = _counter(
    "tfsvc_reader_elements_missed_total", "Elements that left the trainers' cache unread.", JOB, roles=_R
)
READER_BUFFERED: Final = _gauge("tfsvc_reader_buffered_bytes", "Fetched ahead of the application.", JOB, roles=_R)

CATALOGUE: Final[tuple[Series, ...]] = tuple(found for found in list(globals().values()) if isinstance(found, Series))
"""All of them."""


def by_role(role: str) -> Iterable[Series]:
    """Those that a node of this role has."""
    return (series for series in CATALOGUE if role in series.roles)
