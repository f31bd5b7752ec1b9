"""The tempo: the settings of all machines, and how fast networks and disks are around them.

All are faster and smaller than in production, so that little data meets every limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc_sim.kernel.disk import SYNC_NS
from tfsvc_sim.kernel.network import Latency

DISPATCHER: Final = "dispatcher"
"""The address of the dispatcher of every world."""


def _dispatcher() -> DispatcherSettings:
    return DispatcherSettings(
        lease_intervals=4,
        lease_ns_min=SECOND,
        worker_timeout_ns=10 * SECOND,
        client_timeout_ns=8 * SECOND,
        fault_tolerant=True,
    )


def _worker() -> WorkerSettings:
    return WorkerSettings(
        address="",
        dispatcher=DISPATCHER,
        heartbeat_ns=250 * MILLISECOND,
        deaf_ns=10 * SECOND,
        buffer_bytes=2048,
        frame_bytes=512,
        chunk_bytes=64,
        call_timeout_ns=SECOND,
        hold_ns=300 * MILLISECOND,
    )


def _client() -> ClientSettings:
    return ClientSettings(
        dispatcher=DISPATCHER,
        refresh_ns=250 * MILLISECOND,
        buffer_bytes=4096,
        read_bytes=1024,
        call_timeout_ns=SECOND,
        patience_ns=250 * MILLISECOND,
    )


@dataclass(frozen=True, slots=True)
class Tempo:
    """How a world goes about its work; a worker's ``address`` is filled in for each."""

    dispatcher: DispatcherSettings = field(default_factory=_dispatcher)
    worker: WorkerSettings = field(default_factory=_worker)
    client: ClientSettings = field(default_factory=_client)
    latency: Latency = field(default_factory=Latency)
    sync_ns: int = SYNC_NS


TEMPOS: Final[dict[str, Tempo]] = {
    "usual": Tempo(),
    "slow network": Tempo(latency=Latency(5 * MILLISECOND, 40 * MILLISECOND)),
    "slow disk": Tempo(sync_ns=40 * MILLISECOND),
    "small buffers": Tempo(
        worker=replace(_worker(), buffer_bytes=200, frame_bytes=16),
        client=replace(_client(), buffer_bytes=400, read_bytes=100, streams_max=2),
    ),
    "impatient": Tempo(
        dispatcher=replace(_dispatcher(), lease_intervals=1, lease_ns_min=100 * MILLISECOND, worker_timeout_ns=SECOND),
        worker=replace(_worker(), call_timeout_ns=150 * MILLISECOND, hold_ns=50 * MILLISECOND),
        client=replace(_client(), call_timeout_ns=150 * MILLISECOND, patience_ns=10 * MILLISECOND),
    ),
}
"""By name; the first is meant where none is named."""
