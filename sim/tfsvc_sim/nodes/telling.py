"""Telling: events in a few words, for traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.computing import Computation, Failure, Waiting
from tfsvc.protocol.messages import cluster as c
from tfsvc.protocol.production import Broken, Ended, Hungry, Production
from tfsvc.protocol.splits import Checkpoint, Lease


def tell(body: m.Request | m.Response | RpcError | None) -> str:
    """A message: its name and what matters most in it; ``None``: nobody waits for the answer any more."""
    if body is None:
        return "waits no longer"
    kind = type(body)
    told = _TOLD.get(kind)
    if told is None:
        name = kind.__name__.removesuffix("Request").replace("Response", "'s answer")
        told = _TOLD[kind] = name, _DETAILS.get(kind)
    name, details = told
    return name if details is None else f"{name} {details(body)}"


def tell_production(production: Production) -> str:
    """What a pipeline gave, and whether it goes on."""
    first = production.frames[0].start if production.frames else 0
    given = production.written + sum([frame.count for frame in production.frames])
    match production.status:
        case Hungry(provider, at):
            how = f"hungry for splits of {provider} from {at.repetition}:{at.offset}"
        case Ended():
            how = "ended"
        case Broken(error):
            how = f"broken: {error.message}"
        case _:
            how = "ready"
    return f"{given} elements from {first}, {how}{_checkpoint(production.checkpoint)}"


def tell_computation(computation: Computation) -> str:
    """What a piece sent, and whether it goes on."""
    match computation.status:
        case Waiting(keys, stalled):
            how = f"waits for {len(keys)} values{' and a queue' if stalled else ''}"
        case Failure(error):
            how = f"failed: {error.message.splitlines()[0]}"
        case _:
            how = "finished"
    return f"{len(computation.sent)} values, {how}"


def _lease(lease: Lease) -> str:
    spans = " ".join([f"{lo}-{hi}" for lo, hi in lease.spans]) or "none"
    return f"{lease.provider}/{lease.at.repetition}:{lease.at.offset} {spans}{' end' if lease.ended else ''}"


def _checkpoint(checkpoint: Checkpoint | None) -> str:
    return "" if checkpoint is None else f", checkpoint at {checkpoint.ordinal}"


def _frames(body: m.GetFramesResponse) -> str:
    frames = " ".join([f"{frame.start}-{frame.end}" for frame in body.frames]) or "nothing"
    return f"{frames}{' end' if body.end_of_stream else ''}"


def _lanes(body: m.ClientHeartbeatResponse) -> str:
    lanes = " ".join(f"{lane.lane_id}.{lane.attempt}@{lane.worker_address}" for lane in body.lanes)
    return f"[{lanes}]{' finished' if body.iteration_finished else ''}"


def _progress(progress: tuple[m.LaneProgress, ...]) -> str:
    return " ".join(f"{p.lane_id}:{p.ordinal}{' done' if p.done else ''}" for p in progress)


def _client_heartbeat(body: m.ClientHeartbeatRequest) -> str:
    complaints = "".join(
        f" complains of {c.lane_id}.{c.attempt}{' refused' if c.refused else ''}" for c in body.complaints
    )
    return f"{body.iteration_client_id} [{_progress(body.progress)}]{complaints}"


_TOLD: Final[dict[type, tuple[str, Callable[[Any], str] | None]]] = {}
"""The name of each kind of message that was met, and what tells what matters most in it."""
_DETAILS: Final[dict[type, Callable[[Any], str]]] = {
    RpcError: lambda b: f"{b.code.name} {b.outcome.value}: {b.message}",
    m.WorkerHeartbeatRequest: lambda b: f"{b.worker_address}.{b.incarnation} {list(b.current_tasks)}",
    m.WorkerHeartbeatResponse: lambda b: f"new {[t.task_id for t in b.new_tasks]} gone {list(b.tasks_to_delete)}",
    m.WorkerUpdateRequest: lambda b: f"{[p.task_id for p in b.updates]}",
    m.ProcessTaskRequest: lambda b: f"{b.task.task_id}",
    m.OpenLaneRequest: lambda b: f"{b.lane_id}.{b.attempt}",
    m.OpenLaneResponse: lambda b: f"at {b.checkpoint.ordinal} {'; '.join(map(_lease, b.leases))}",
    m.LeaseSplitsRequest: lambda b: (
        f"{b.lane_id}.{b.attempt} {b.provider}/{b.at.repetition}:{b.at.offset} x{b.wanted}{_checkpoint(b.checkpoint)}"
    ),
    m.LeaseSplitsResponse: lambda b: _lease(b.lease),
    m.SnapshotRequest: lambda b: b.path,
    m.OpenStreamRequest: lambda b: f"{b.lane_id}.{b.attempt}",
    m.OpenStreamResponse: lambda b: f"at {b.checkpoint.ordinal} chunk {b.chunks} {'; '.join(map(_lease, b.leases))}",
    m.CommitChunkRequest: lambda b: (
        f"{b.lane_id}.{b.attempt} {b.number}: {b.elements} to {b.checkpoint.ordinal}{' done' if b.done else ''}"
    ),
    m.GetFramesRequest: lambda b: f"{b.task_id} lane {b.lane_id}.{b.attempt} from {b.ordinal} max {b.bytes_max}",
    m.GetFramesResponse: _frames,
    m.ClientHeartbeatRequest: _client_heartbeat,
    m.ClientHeartbeatResponse: _lanes,
    m.ReleaseIterationClientRequest: lambda b: f"{b.iteration_client_id} [{_progress(b.progress)}]",
    c.RunStepRequest: lambda b: f"{b.request_id & 0xFFFF:04x} {' '.join((*b.fetch, *b.target))}",
    c.RunGraphRequest: lambda b: f"{b.step_id & 0xFFFF:04x} graph {b.graph_handle.lstrip('0')}",
    c.CleanupGraphRequest: lambda b: f"{b.step_id & 0xFFFF:04x}",
    c.RecvTensorRequest: lambda b: f"{b.step_id & 0xFFFF:04x} {b.rendezvous_key.split(';')[3]}",
    m.GetOrCreateJobResponse: lambda b: f"{b.job_id}",
    m.GetOrCreateIterationResponse: lambda b: f"{b.iteration_client_id}",
    m.CallRequest: lambda b: f"{b.method} {b.session}/{b.seq} floor {b.floor}",
    m.CallResponse: lambda b: f"{len(b.output_tensors)} tensors" if not b.refusal else f"refused: {b.refusal.name}",
    m.FetchItemsRequest: lambda b: f"{b.session}/{b.seq} from {b.ordinal}",
    m.FetchItemsResponse: lambda b: (
        f"{len(b.items)} items{' end' if b.ended else ''}" if not b.refusal else f"refused: {b.refusal.name}"
    ),
    m.CancelCallRequest: lambda b: f"{b.session}/{b.seq}",
}
