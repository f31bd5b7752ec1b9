"""What is counted of a node, event by event."""

from __future__ import annotations

import pytest

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    Answered,
    Append,
    Asked,
    Call,
    Cancelled,
    Discard,
    Failed,
    Produce,
    Produced,
    Reply,
    Synced,
    Woke,
)
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.production import Broken, Production, Ready
from tfsvc.protocol.updates import LoseWorker
from tfsvc.protocol.worker.desk import CacheTally
from tfsvc.protocol.worker.machine import WorkerView
from tfsvc_transports.telemetry import catalogue, rpcs
from tfsvc_transports.telemetry.catalogue import ANONYMOUS, OTHER, Distribution, JobLabels
from tfsvc_transports.telemetry.journals import JournalMeter
from tfsvc_transports.telemetry.rpcs import RpcMeter
from tfsvc_transports.telemetry.watching import Watchers
from tfsvc_transports.telemetry.workers import WorkerMeter

MS = 1_000_000
ERROR = RpcError(Code.NOT_FOUND, "no")


def call(number):
    return CallId("peer", 1, number)


def values(collector):
    """By name and labels, without those that are 0."""
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in collector.collect()
        for sample in family.samples
        if sample.value
    }


def test_calls_by_how_they_ended():
    clock = [0]
    meter = RpcMeter("worker", lambda: clock[0])
    frames = m.GetFramesRequest()
    for number in range(3):
        meter.saw(0, Asked(call(number), Address("p"), frames), ())
    assert meter.waiting == 3
    clock[0] = 30 * MS
    meter.saw(30 * MS, Woke(), (Reply(call(0), m.GetFramesResponse()), Reply(call(1), ERROR)))
    meter.saw(31 * MS, Cancelled(call(2)), ())
    meter.saw(32 * MS, Woke(), (Reply(call(2), ERROR), Call(call(7), Address("d"), m.OpenLaneRequest(), 1)))
    meter.saw(33 * MS, Answered(call(7), m.OpenLaneResponse()), (Call(call(8), Address("d"), m.OpenLaneRequest(), 1),))
    meter.saw(34 * MS, Failed(call(8), ERROR), ())
    found = values(meter)
    assert {key: value for key, value in found.items() if key[0].startswith("tfsvc_rpcs")} == {
        ("tfsvc_rpcs_served_total", "GetFrames", "OK", "worker"): 1,
        ("tfsvc_rpcs_served_total", "GetFrames", "NOT_FOUND", "worker"): 1,
        ("tfsvc_rpcs_served_total", "CANCELLED", "GetFrames", "worker"): 1,
        ("tfsvc_rpcs_made_total", "OK", "OpenLane", "worker"): 1,
        ("tfsvc_rpcs_made_total", "NOT_FOUND", "OpenLane", "worker"): 1,
    }
    assert found["tfsvc_rpc_served_seconds_count", "GetFrames", "worker"] == 3
    assert found["tfsvc_rpc_served_seconds_sum", "GetFrames", "worker"] == pytest.approx(0.091)
    assert meter.waiting == 0


def test_calls_that_are_never_answered_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(rpcs, "OPEN_MAX", 10)
    meter = RpcMeter("worker")
    for number in range(50):
        meter.saw(0, Asked(call(number), Address("p"), m.GetVersionRequest()), ())
    assert meter.waiting == 10


def test_a_journal_is_timed_from_append_to_sync(tmp_path):
    (tmp_path / "journal").write_bytes(b"x" * 700)
    meter = JournalMeter(str(tmp_path))
    meter.saw(0, Woke(), [Append(1, LoseWorker("a")), Append(2, LoseWorker("b"))])
    meter.saw(20 * MS, Synced(1), [Append(3, LoseWorker("c"))])
    meter.saw(50 * MS, Synced(3), ())
    found = values(meter)
    assert found["tfsvc_dispatcher_journal_updates_total",] == 3
    assert found["tfsvc_dispatcher_journal_sync_seconds_sum",] == pytest.approx(0.02 + 0.05 + 0.03)
    assert found["tfsvc_dispatcher_journal_bytes",] == 700
    for where in (None, "s3://bucket/path", str(tmp_path / "gone")):
        assert not any("bytes" in name for name, *_ in values(JournalMeter(where)))


def test_a_worker_counts_what_it_makes_and_sends():
    view = WorkerView(True, (4000,), buffered=5, cache=CacheTally(3, 2, 1))
    calls = RpcMeter("worker")
    meter = WorkerMeter(lambda: view, calls, lambda: 3000 * MS)
    frame = Frame(0, 4, b"abcdefgh")
    meter.saw(0, Woke(), (Produce(1, None, (), 1, 1), Produce(2, None, (), 1, 1)))
    meter.saw(1, Produced(1, Production((frame, frame), Ready(), spent_ns=500 * MS)), (Produce(1, None, (), 1, 1),))
    meter.saw(2, Produced(2, Production((), Broken(ERROR), written=9)), (Discard(2),))
    meter.saw(3, Woke(), (Reply(call(1), m.GetFramesResponse((frame,))), Reply(call(2), m.GetElementResponse(b"xy"))))
    meter.saw(4, Woke(), (Reply(call(3), m.GetElementResponse(skip_task=True)), Reply(call(4), ERROR)))
    meter.saw(1000 * MS, Answered(call(5), m.WorkerHeartbeatResponse()), ())
    assert values(meter) == {
        ("tfsvc_worker_registered",): 1,
        ("tfsvc_worker_dispatcher_silence_seconds",): 2,
        ("tfsvc_worker_tasks",): 1,
        ("tfsvc_worker_pipelines",): 1,
        ("tfsvc_worker_pipelines_busy",): 1,
        ("tfsvc_worker_elements_produced_total",): 8,
        ("tfsvc_worker_bytes_produced_total",): 16,
        ("tfsvc_worker_production_seconds_total",): 0.5,
        ("tfsvc_worker_pipeline_errors_total",): 1,
        ("tfsvc_worker_elements_sent_total",): 5,
        ("tfsvc_worker_bytes_sent_total",): 10,
        ("tfsvc_worker_buffered_bytes",): 5,
        ("tfsvc_worker_cache_reads_total", "hit"): 3,
        ("tfsvc_worker_cache_reads_total", "miss"): 2,
        ("tfsvc_worker_cache_evicted_unread_total",): 1,
        ("tfsvc_worker_snapshot_elements_written_total",): 9,
    }


def test_a_distribution_has_cumulative_buckets():
    spread = Distribution()
    for seconds in (0.0005, 0.003, 0.003, 99.0):
        spread.observe(seconds)
    buckets = dict(spread.buckets())
    assert (buckets["0.0005"], buckets["0.0025"], buckets["0.005"], buckets["10.0"], buckets["+Inf"]) == (1, 1, 3, 3, 4)


def test_labels_of_jobs_are_few():
    labels = JobLabels()
    names = [labels.of(f"job{number}") for number in range(catalogue.JOBS_MAX + 5)]
    assert names[0] == "job0"
    assert names[-5:] == [OTHER] * 5
    assert labels.of("job0") == "job0"
    assert JobLabels().of("half a \ud83d").encode() == b"half a \\ud83d", (
        "what UTF-8 cannot express is told all the same"
    )
    assert labels.of("anonymous_job_5000_123", anonymous=True) == labels.of(None) == ANONYMOUS


def test_names_and_units_are_prometheus_own():
    for series in catalogue.CATALOGUE:
        assert series.name.endswith("_total") == (series.kind is catalogue.Kind.COUNTER)
        assert series.help[0].isupper() or series.help[0].isdigit()
        assert series.help.endswith(".")
        assert "job" not in series.labels, "what Prometheus scrapes is its own job"
        assert not set(series.name.split("_")) & {"ms", "ns", "us", "millis", "kb", "mb"}
    assert len({series.name for series in catalogue.CATALOGUE}) == len(catalogue.CATALOGUE)


class Counting:
    def __init__(self, fails=False):
        self.seen = 0
        self.fails = fails

    def saw(self, now, event, commands):
        self.seen += 1
        if self.fails:
            raise ZeroDivisionError


def test_a_watcher_that_fails_is_left_out_and_nothing_else_is(caplog):
    bad, good = Counting(fails=True), Counting()
    watchers = Watchers((bad, good))
    for _ in range(3):
        watchers.saw(0, Woke(), ())
    assert (bad.seen, good.seen) == (1, 3)
    assert "Counting fails" in caplog.text
