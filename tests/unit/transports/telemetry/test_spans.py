"""Spans of a node, taken by OpenTelemetry's own SDK."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Asked, Call, Cancelled, Failed, Finish, Produce, Produced, Reply, Wanted
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.production import Broken, Encoding, Production, Ready
from tfsvc.protocol.reading import Batch
from tfsvc_transports.telemetry import spans
from tfsvc_transports.telemetry.spans import SpanWatcher

trace = pytest.importorskip("opentelemetry.sdk.trace", reason="pip install opentelemetry-sdk")


class World:
    def __init__(self):
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        self.exporter = InMemorySpanExporter()
        provider = trace.TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.now = 1_000
        self.watcher = SpanWatcher("worker", provider.get_tracer("tfsvc"), lambda: self.now)

    def saw(self, event, *commands):
        self.now += 1_000
        self.watcher.saw(0, event, commands)

    def spans(self):
        return [
            (s.name, s.kind.name, s.end_time - s.start_time, s.status.description, dict(s.attributes))
            for s in self.exporter.get_finished_spans()
        ]


@pytest.fixture
def world():
    return World()


CALL = CallId("peer", 1, 1)
ERROR = RpcError(Code.UNAVAILABLE, "gone")
FRAME = Frame(0, 3, b"abc")


def test_calls_that_are_served(world):
    world.saw(Asked(CALL, Address("peer"), m.GetFramesRequest(task_id=4000, lane_id=7, client_id=3000)))
    world.saw(Produced(1, Production((), Ready())), Reply(CALL, m.GetFramesResponse()))
    world.saw(Asked(CALL, Address("peer"), m.GetWorkerTasksRequest()), Reply(CALL, ERROR))
    world.saw(Asked(CALL, Address("peer"), m.GetWorkerTasksRequest()))
    world.saw(Cancelled(CALL))
    ids = {"tfsvc.task": 4000, "tfsvc.lane": 7, "tfsvc.reader": 3000, "rpc.method": "GetFrames", "tfsvc.role": "worker"}
    other = {"rpc.method": "GetWorkerTasks", "tfsvc.role": "worker"}
    assert world.spans() == [
        ("tfsvc serve GetFrames", "SERVER", 1000, None, ids),
        ("tfsvc serve GetWorkerTasks", "SERVER", 0, "UNAVAILABLE", other),
        ("tfsvc serve GetWorkerTasks", "SERVER", 1000, "CANCELLED", other),
    ]


def test_calls_that_are_made(world):
    for end in (Answered(CALL, m.WorkerHeartbeatResponse()), Failed(CALL, ERROR)):
        world.saw(Wanted(1, ()), Call(CALL, Address("d:1"), m.WorkerHeartbeatRequest("w:1"), 1))
        world.saw(end)
    attributes = {
        "rpc.method": "WorkerHeartbeat", "tfsvc.worker": "w:1", "server.address": "d:1", "tfsvc.role": "worker"
    }  # fmt: skip
    assert world.spans() == [
        ("tfsvc call WorkerHeartbeat", "CLIENT", 1000, None, attributes),
        ("tfsvc call WorkerHeartbeat", "CLIENT", 1000, "UNAVAILABLE", attributes),
    ]


def test_pipelines_and_waits(world):
    world.saw(Wanted(5, ()), Produce(9, None, (), 1, 1))
    world.saw(Produced(9, Production((FRAME,), Broken(ERROR), spent_ns=77)))
    world.saw(Answered(CALL, m.GetFramesResponse()), Finish(5, Batch(1, "w:1", FRAME, 0, Encoding.FRAMES)))
    produced, waited = world.spans()
    assert produced[:4] == ("tfsvc produce", "INTERNAL", 1000, "UNAVAILABLE")
    assert produced[4]["tfsvc.elements"] == 3
    assert produced[4]["tfsvc.spent_ns"] == 77
    assert waited[:4] == ("tfsvc wait", "INTERNAL", 2000, None)
    assert waited[4] == {"tfsvc.role": "worker", "tfsvc.elements": 3, "tfsvc.worker": "w:1"}


def test_what_is_never_answered_is_not_kept_for_ever(world, monkeypatch):
    monkeypatch.setattr(spans, "OPEN_MAX", 3)
    for number in range(9):
        world.saw(Asked(CallId("peer", 1, number), Address("peer"), m.GetVersionRequest()))
    assert len(world.watcher._open) == 3
    world.saw(Cancelled(CallId("peer", 1, 8)))
    assert len(world.spans()) == 1


def test_nodes_make_them_where_the_environment_asks_for_it():
    script = (
        "from opentelemetry import trace\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "from opentelemetry.sdk.trace.export import SimpleSpanProcessor\n"
        "from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter\n"
        "kept, provider = InMemorySpanExporter(), TracerProvider()\n"
        "provider.add_span_processor(SimpleSpanProcessor(kept))\n"
        "trace.set_tracer_provider(provider)\n"
        "import tfsvc as tf\n"
        "from tfsvc.data.experimental import service\n"
        "with service.DispatchServer() as d, service.WorkerServer(service.WorkerConfig(d.target)):\n"
        "    wish = service.distribute('distributed_epoch', d.target)\n"
        "    assert len(list(tf.data.Dataset.range(100).apply(wish))) == 100\n"
        "found = {(s.attributes['tfsvc.role'], s.name) for s in kept.get_finished_spans()}\n"
        "wanted = {('dispatcher', 'tfsvc serve OpenLane'), ('worker', 'tfsvc produce'),\n"
        "          ('worker', 'tfsvc call OpenLane'), ('reader', 'tfsvc wait'), ('reader', 'tfsvc call GetFrames')}\n"
        "assert wanted <= found, wanted - found\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TFSVC_OTEL": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_they_are_off_otherwise(monkeypatch):
    monkeypatch.delenv("TFSVC_OTEL", raising=False)
    assert spans.watchers("worker") == ()
