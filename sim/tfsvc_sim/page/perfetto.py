"""Chrome's trace format, for Perfetto and chrome://tracing: nodes are processes, messages are flows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tfsvc_sim.page.recording import Fate, Recording, SpanKind

Row = dict[str, Any]

_EVENTS: Final = 1
"""The thread of each process that shows its events; the others show what lasts."""
_THREADS: Final = {
    SpanKind.PAUSE: 2,
    SpanKind.FAULT: 3,
    SpanKind.LANE: 4,
    SpanKind.LEASE: 5,
}
_NAMES: Final = {_EVENTS: "events", 2: "pauses", 3: "faults", 4: "lanes", 5: "leases"}
_NETWORK: Final = 0
"""The process of what concerns all nodes."""
_SLICE_US: Final = 1.0
"""How long an event is drawn; flows must begin and end in slices."""


def to_trace(recording: Recording) -> Row:
    """The recording as the format's JSON object; times are microseconds."""
    rows: list[Row] = [_named(_NETWORK, "the network")]
    for node, info in enumerate(recording.nodes):
        rows.append(_named(node + 1, f"{info.name} ({info.role})"))
    for pid in range(len(recording.nodes) + 1):
        rows += [_named(pid, name, tid) for tid, name in _NAMES.items()]
    for event in recording.events:
        args = {"cause": event.cause} if event.cause else {}
        rows.append(
            _at("X", event.at, event.node + 1, _EVENTS)
            | {"dur": _SLICE_US, "name": event.text, "cat": event.kind.name.lower(), "args": args}
        )
    for number, span in enumerate(recording.spans, 1):
        # Lanes overlap, so they are asynchronous: begin and end are joined by their id.
        tail = {"id": number, "cat": span.kind.name.lower(), "name": span.text}
        pid, tid = span.node + 1, _THREADS[span.kind]
        end = recording.end if span.end is None else span.end
        rows += [_at("b", span.begin, pid, tid) | tail, _at("e", end, pid, tid) | tail]
    rows += _flows(recording)
    for life in recording.lives:
        for at, what in ((life.begin, "starts"), (life.end, life.how)):
            if at is not None:
                text = f"life {life.incarnation} {what}"
                rows.append(_at("i", at, life.node + 1, _EVENTS) | {"name": text, "cat": "life", "s": "p"})
    return {"traceEvents": rows, "displayTimeUnit": "ms", "otherData": {"title": recording.title}}


def write_trace(recording: Recording, path: str | Path) -> Path:
    """Writes the trace; returns where."""
    path = Path(path)
    path.write_text(json.dumps(to_trace(recording), separators=(",", ":")), "utf-8")
    return path


def _flows(recording: Recording) -> list[Row]:
    """Messages from event to event; those that were not heard are told as instants where they were sent."""
    rows: list[Row] = []
    for number, message in enumerate(recording.messages, 1):
        tail = {"name": message.text, "cat": "request" if message.asks else "answer"}
        if message.said and message.heard:
            end = recording.events[message.heard - 1].at
            rows.append(_at("s", message.sent, message.source + 1, _EVENTS) | tail | {"id": number})
            rows.append(_at("f", end, message.target + 1, _EVENTS) | tail | {"id": number, "bp": "e"})
        elif message.fate is Fate.LOST:
            name = f"lost: {message.text}"
            rows.append(_at("i", message.sent, message.source + 1, _EVENTS) | tail | {"name": name, "s": "t"})
    return rows


def _at(phase: str, at: int, pid: int, tid: int) -> Row:
    return {"ph": phase, "ts": at / 1000, "pid": pid, "tid": tid}


def _named(pid: int, name: str, tid: int | None = None) -> Row:
    kind = "process_name" if tid is None else "thread_name"
    return {"ph": "M", "ts": 0, "pid": pid, "tid": tid or 0, "name": kind, "args": {"name": name}}
