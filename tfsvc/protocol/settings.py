"""Settings of the machines: validated, frozen, with units in the names."""

from __future__ import annotations

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import DataTransferServerInfo, DeploymentMode
from tfsvc.record import record


@record
class DispatcherSettings:
    """What a dispatcher does when; defaults are TensorFlow's where it has one.

    Attributes:
      client_timeout_ns: a reader silent for this long counts as released; 5 min.
      worker_timeout_ns: a worker silent for this long is lost for good; 10 min.
      lease_intervals: a worker of ours that misses this many heartbeats loses its lanes to others; 5.
      lease_ns_min: but not before it was silent for this long; 3 s.
      gc_interval_ns: how often unused iterations are looked for; 10 min.
      gc_timeout_ns: how long an iteration without readers is kept; 5 min. Negative: for ever, and
        readers and workers are never timed out either.
      gc_dynamic_sharding_jobs: whether DYNAMIC iterations are collected too; no.
      deployment_mode: told to readers as it is.
      snapshots_max: how many distributed snapshots a worker writes at once; 3.
      fault_tolerant: whether its updates outlive it, without which it takes no distributed snapshots; no.
      worker_addresses: who may register, and in which place; empty for anybody, in none.
      idle_ns: after how long without readers, once it has had some, it ends the whole service; never where ``None``.
    """

    client_timeout_ns: int = 300 * SECOND
    worker_timeout_ns: int = 600 * SECOND
    lease_intervals: int = 5
    lease_ns_min: int = 3 * SECOND
    gc_interval_ns: int = 600 * SECOND
    gc_timeout_ns: int = 300 * SECOND
    gc_dynamic_sharding_jobs: bool = False
    deployment_mode: DeploymentMode = DeploymentMode.UNSPECIFIED
    snapshots_max: int = 3
    fault_tolerant: bool = False
    worker_addresses: tuple[str, ...] = ()
    idle_ns: int | None = None


@record
class WorkerSettings:
    """How a worker presents itself and how much it holds.

    Attributes:
      address: where readers reach it.
      dispatcher: where it registers.
      tags: labels for placement.
      transfer_servers: the ways to fetch elements from it.
      heartbeat_ns: how often it reports; 1 s.
      dispatcher_timeout_ns: how long a pipeline waits for a dispatcher that gives no splits; 1 h.
      deaf_ns: after how long without an answer its heartbeats say that it leaves; 10 min. They may be heard all the
        same, and a worker that hears nothing must not keep its work from others.
      buffer_bytes: how much finished output it keeps for each stream; 32 MiB.
      frame_bytes: how large a frame grows; 1 MiB.
      cache_bytes: how much of a stream that several trainers share is kept; 10 GiB, as TensorFlow's.
      call_timeout_ns: how long a call may take; 10 s.
      chunk_bytes: how large a chunk of a distributed snapshot grows; 6 GiB, as TensorFlow's.
      chunk_ns: how long one is written to; 60 s. What is not in a chunk is made again when the worker is lost.
      hold_ns: how long a read without elements at hand is held before it is answered empty; 1 s.
      quiet_ns: how long it still answers, in refusal, when it has taken its leave; not at all.
      idle_ns: after how long without a task it ends by itself; never where ``None``.
    """

    address: str
    dispatcher: str
    tags: tuple[str, ...] = ()
    transfer_servers: tuple[DataTransferServerInfo, ...] = ()
    heartbeat_ns: int = SECOND
    dispatcher_timeout_ns: int = 3600 * SECOND
    deaf_ns: int = 600 * SECOND
    buffer_bytes: int = 32 << 20
    frame_bytes: int = 1 << 20
    cache_bytes: int = 10 << 30
    call_timeout_ns: int = 10 * SECOND
    hold_ns: int = SECOND
    chunk_bytes: int = 6 << 30
    chunk_ns: int = 60 * SECOND
    quiet_ns: int = 0
    idle_ns: int | None = None


@record
class ClientSettings:
    """How a reader reads.

    Attributes:
      dispatcher: where its job is kept.
      refresh_ns: how often it reports and asks for news; 1 s, as TensorFlow's.
      buffer_bytes: how much it fetches ahead of the application, over all streams; 64 MiB.
      read_bytes: how much it asks for in one call; 16 MiB.
      streams_max: how many streams it reads at once, ``None`` for all.
      call_timeout_ns: how long a call may take; 10 s.
      patience_ns: how long a worker may be out of reach before another is asked for; 500 ms.
      dispatcher_timeout_ns: how long a dispatcher that does not answer is waited for; 1 h.
      consumers_timeout_ns: how long other consumers are waited for, where all get the same number of elements; 5 min.
    """

    dispatcher: str
    refresh_ns: int = SECOND
    buffer_bytes: int = 64 << 20
    read_bytes: int = 16 << 20
    streams_max: int | None = None
    call_timeout_ns: int = 10 * SECOND
    patience_ns: int = 500 * MILLISECOND
    dispatcher_timeout_ns: int = 3600 * SECOND
    consumers_timeout_ns: int = 300 * SECOND
