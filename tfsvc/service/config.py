"""Configurations of the two servers, as ``tf.data.experimental.service``'s, checked when they are made."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tfsvc.errors import FailedPreconditionError, InvalidArgumentError
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages import DataTransferServerInfo, DeploymentMode
from tfsvc.protocol.settings import DispatcherSettings, WorkerSettings
from tfsvc.service.backend import HttpAddress
from tfsvc.service.security import Security, check_host, is_loopback

_log = logging.getLogger("tfsvc")

DEFAULT_PROTOCOL = "grpc"
_ADDRESS = re.compile(r"(\[[^\s\[\]]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})")
_MS_MAX = 2**43
"""Two centuries; more does not fit 64 bits as nanoseconds."""


@dataclass(frozen=True)
class DispatcherConfig:
    """How a dispatcher is set up.

    Attributes:
      port: the port to bind; 0 for any free one.
      protocol: how it is reached; ``"grpc"`` when not given.
      work_dir: where to keep what a restart must remember: a directory, or a bucket such as
        ``"s3://bucket/path"``, which needs ``tfsvc[bucket]``.
      fault_tolerant_mode: whether it remembers its work through restarts, in ``work_dir``.
      worker_addresses: the workers of static sharding, in order; others are refused. ``host:%port%`` stands for any
        port, and is given to workers of that host as they register. One that comes back to the same address has the
        same share as before.
      job_gc_check_interval_ms: how often unused jobs are looked for; 10 min when not given.
      job_gc_timeout_ms: how long an unused job is kept; 5 min when not given, for ever when negative.
      worker_timeout_ms: silence after which a worker is lost for good; 10 min when not given.
      worker_max_concurrent_snapshots: distributed snapshots that a worker writes at once; 3 when not positive.
      client_timeout_ms: silence after which a reader is gone; 5 min when not given.
      gc_dynamic_sharding_jobs: whether unused DYNAMIC jobs are dropped too.
      deployment_mode: where workers live: ``"COLOCATED"`` with the trainers, ``"REMOTE"``, or ``"HYBRID"`` for both.
        With the first, a statically sharded dataset is read from workers of the reader's own process unless
        ``target_workers`` says otherwise.
      exit_when_idle_ms: after how long without readers and snapshots, once it has had some, the dispatcher stops the
        whole service; never when not given.
      host: the interface to bind; the loopback one when not given.
      insecure: allow another interface although ``security`` does not encrypt or does not say whom to let in.
      own_process: whether it runs in a process of its own, which ends with this one. When not given, it does
        where TensorFlow is loaded: a TensorFlow worker of this process would never let it answer.
      record_dir: a directory in which to record what it is told and says, for ``tfsvc replay``; nothing when not given,
        unless the environment names one as ``TFSVC_RECORD_DIR``.
      http_port: where it answers HTTP: the dashboard at ``/``, metrics at ``/metrics``, health at ``/healthz`` and
        ``/readyz``; 0 for any free port, none when not given.
      http_host: the interface for that; the loopback one when not given.
      security: how it shows who it is, and whom it lets in; as the environment says when not given.
    """

    port: int = 0
    protocol: str | None = None
    work_dir: str | None = None
    fault_tolerant_mode: bool = False
    worker_addresses: Sequence[str] | None = None
    job_gc_check_interval_ms: int | None = None
    job_gc_timeout_ms: int | None = None
    worker_timeout_ms: int | None = None
    worker_max_concurrent_snapshots: int = 0
    client_timeout_ms: int | None = None
    gc_dynamic_sharding_jobs: bool = False
    deployment_mode: str | None = None
    exit_when_idle_ms: int | None = None
    host: str = "localhost"
    insecure: bool = False
    own_process: bool | None = None
    record_dir: str | None = None
    http_port: int | None = None
    http_host: str = "localhost"
    security: Security = Security()

    def __post_init__(self) -> None:
        _check_port(self.port)
        check_host(self.host, self.secured())
        check_http(self.http_port, self.http_host, self.secured())
        if self.deployment_mode is not None and self.deployment_mode not in DeploymentMode.__members__:
            known = ", ".join(repr(mode.name) for mode in DeploymentMode if mode)
            raise InvalidArgumentError(message=f"deployment_mode must be one of {known}; got {self.deployment_mode!r}")
        if self.fault_tolerant_mode and not self.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in "
                "the `config` object passed to `DispatchServer`."
            )

    def secured(self) -> Security:
        """``security`` with what is said of it besides."""
        return replace(self.security, insecure=True) if self.insecure else self.security

    def settings(self) -> DispatcherSettings:
        """The same for the machine."""
        default = DispatcherSettings()
        return DispatcherSettings(
            client_timeout_ns=_ns(self.client_timeout_ms, default.client_timeout_ns),
            worker_timeout_ns=_ns(self.worker_timeout_ms, default.worker_timeout_ns),
            gc_interval_ns=_ns(self.job_gc_check_interval_ms, default.gc_interval_ns),
            gc_timeout_ns=_ns(self.job_gc_timeout_ms, default.gc_timeout_ns),
            gc_dynamic_sharding_jobs=self.gc_dynamic_sharding_jobs,
            deployment_mode=DeploymentMode[self.deployment_mode or "UNSPECIFIED"],
            snapshots_max=self.worker_max_concurrent_snapshots
            if self.worker_max_concurrent_snapshots > 0
            else default.snapshots_max,
            worker_addresses=tuple(self.worker_addresses or ()),
            idle_ns=None if self.exit_when_idle_ms is None else _ns(self.exit_when_idle_ms, 0),
        )

    def http_address(self) -> HttpAddress | None:
        """Where it answers HTTP; ``None`` where it does not."""
        return None if self.http_port is None else HttpAddress(self.http_host, self.http_port)

    def journal_dir(self) -> str | None:
        """Where the dispatcher keeps its journal; ``None`` when it keeps none."""
        return self.work_dir if self.fault_tolerant_mode else None


@dataclass(frozen=True)
class WorkerConfig:
    """How a worker is set up.

    Attributes:
      dispatcher_address: ``host:port`` of its dispatcher, with or without ``protocol://`` in front.
      worker_address: where readers reach it; ``%port%`` stands for the bound port. ``"localhost:%port%"``
        when not given, with this machine's name in its place where other machines may connect.
      port: the port to bind; 0 for any free one.
      protocol: how it is reached; ``"grpc"`` when not given.
      heartbeat_interval_ms: how often it reports; 1 s when not given (TensorFlow: 30 s), so that a lost
        worker is noticed in seconds.
      dispatcher_timeout_ms: how long its pipelines wait for a dispatcher that does not answer; 1 h when
        not given.
      data_transfer_protocol: ``"grpc"``: elements leave the worker over the network alone. When not given, large ones
        go to readers of the same host through shared memory. Another name is warned of, and counts as not given.
      data_transfer_address: where tfsvc's readers fetch elements, if not at ``worker_address``; ``%dts_port%`` stands
        for ``data_transfer_port``, or for ``port`` where that is not given.
      data_transfer_port: a second port to bind, for elements; 0 for any free one. None when not given.
      cross_trainer_cache_size_bytes: how much of a stream that several trainers share is kept; 10 GiB when not given.
      snapshot_max_chunk_size_bytes: how large a chunk of a distributed snapshot grows; 6 GiB when not given.
      worker_tags: labels that readers see. ``"COLOCATED"``, in any case, marks a worker that works only for readers
        of its own process, unless they ask for ``target_workers="ANY"``.
      shutdown_quiet_period_ms: how long the worker still answers, in refusal, when it has stopped; not at all when not
        given.
      exit_when_idle_ms: after how long without a task the worker ends by itself; never when not given.
      host: the interface to bind; the loopback one when not given.
      insecure: allow another interface although ``security`` does not encrypt or does not say whom to let in.
      record_dir: a directory in which to record what it is told and says, for ``tfsvc replay``; nothing when not given,
        unless the environment names one as ``TFSVC_RECORD_DIR``.
      http_port: where it answers HTTP: metrics at ``/metrics``, health at ``/healthz`` and ``/readyz``; 0 for any free
        port, none when not given.
      http_host: the interface for that; the loopback one when not given.
      security: how it shows who it is, and whom it lets in; as the environment says when not given.
    """

    dispatcher_address: str
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = None
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None
    data_transfer_port: int | None = None
    cross_trainer_cache_size_bytes: int | None = None
    snapshot_max_chunk_size_bytes: int | None = None
    worker_tags: Sequence[str] = ()
    shutdown_quiet_period_ms: int | None = None
    exit_when_idle_ms: int | None = None
    host: str = "localhost"
    insecure: bool = False
    record_dir: str | None = None
    http_port: int | None = None
    http_host: str = "localhost"
    security: Security = Security()

    def __post_init__(self) -> None:
        if not self.dispatcher_address:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        _check_port(self.port)
        check_host(self.host, self.secured())
        check_http(self.http_port, self.http_host, self.secured())
        split_target(self.dispatcher_address)
        if self.worker_address is not None:
            check_address(self.worker_address.replace("%port%", "1"))
        if self.data_transfer_address is not None:
            check_address(self.data_transfer_address.replace("%dts_port%", "1"))
        if self.data_transfer_port is not None:
            _check_port(self.data_transfer_port)
        if self.data_transfer_protocol not in (None, "", "grpc", "tfsvc"):
            _log.warning(
                "data_transfer_protocol=%r is not known; elements go the usual ways", self.data_transfer_protocol
            )
        if isinstance(self.worker_tags, str) or not all(isinstance(tag, str) for tag in self.worker_tags):
            raise InvalidArgumentError(message=f"worker_tags must be a list of strings, not {self.worker_tags!r}")
        if not all(self.worker_tags):
            raise FailedPreconditionError(message="Worker tags cannot be empty; leave the empty one out.")

    def secured(self) -> Security:
        """``security`` with what is said of it besides."""
        return replace(self.security, insecure=True) if self.insecure else self.security

    def settings(self) -> WorkerSettings:
        """The same for the machine."""
        name = "localhost" if is_loopback(self.host) else socket.gethostname()
        address = self.worker_address or f"{name}:%port%"
        data_address = self.data_transfer_address
        if data_address is None:
            data_address = address if self.data_transfer_port is None else f"{name}:%dts_port%"
        default = WorkerSettings("", "")
        return WorkerSettings(
            address=address,
            dispatcher=split_target(self.dispatcher_address)[1],
            tags=tuple(self.worker_tags),
            transfer_servers=(DataTransferServerInfo("grpc", address), DataTransferServerInfo("tfsvc", data_address)),
            heartbeat_ns=_ns(self.heartbeat_interval_ms, default.heartbeat_ns),
            dispatcher_timeout_ns=_ns(self.dispatcher_timeout_ms, default.dispatcher_timeout_ns),
            cache_bytes=self.cross_trainer_cache_size_bytes or default.cache_bytes,
            chunk_bytes=self.snapshot_max_chunk_size_bytes or default.chunk_bytes,
            quiet_ns=_ns(self.shutdown_quiet_period_ms or None, default.quiet_ns),
            idle_ns=None if self.exit_when_idle_ms is None else _ns(self.exit_when_idle_ms, 0),
        )

    def http_address(self) -> HttpAddress | None:
        """Where it answers HTTP; ``None`` where it does not."""
        return None if self.http_port is None else HttpAddress(self.http_host, self.http_port)


def split_target(target: str) -> tuple[str, str]:
    """Protocol and address of ``[protocol://]address``.

    Raises:
      ValueError: if it is malformed.
    """
    if not isinstance(target, str):
        raise ValueError(f"an address must be a string, but this one is of type {type(target)}: {target!r}")
    parts = target.split("://")
    if len(parts) == 1:
        return DEFAULT_PROTOCOL, check_address(target)
    if len(parts) == 2 and all(parts):
        return parts[0], check_address(parts[1])
    raise ValueError(
        f"Malformed `service` string has multiple or empty '://' parts: {target}. Use protocol://host:port."
    )


@dataclass(frozen=True)
class CrossTrainerCache:
    """Lets several trainers of one job read the same elements, each at its pace, from a window that workers keep.

    Args:
      trainer_id: tells the trainers apart; each trainer of a job has one of its own.

    Raises:
      ValueError: if it is empty.
    """

    trainer_id: str

    def __post_init__(self) -> None:
        if not self.trainer_id or not isinstance(self.trainer_id, str):
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")


def check_address(address: str) -> str:
    """``address`` itself, which must have the form ``host:port``; a wrong one would be waited for in vain.

    Raises:
      ValueError: if it has not.
    """
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None or not 0 < int(found["port"]) <= 65535:
        raise ValueError(f"Malformed address {address!r}: use host:port, with a port from 1 to 65535.")
    return address


def reachable(host: str) -> str:
    """By which name a server of this machine that binds ``host`` is reached from here."""
    return host if host not in ("0.0.0.0", "::", "[::]") else "localhost"


def check_http(port: int | None, host: str, security: Security) -> None:
    """Refuses to show strangers the names of datasets, jobs and machines by accident.

    Raises:
      InvalidArgumentError: for an interface that others reach, without credentials or ``insecure``.
    """
    if port is not None:
        _check_port(port)
        check_host(host, security, "http_host")


def _check_port(port: int) -> None:
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port <= 65535:
        raise InvalidArgumentError(message=f"port must be a whole number from 0 to 65535, not {port!r}")


def _ns(value_ms: int | None, default_ns: int) -> int:
    """Milliseconds as nanoseconds; as in TensorFlow, ``None`` is the default and 0 the least."""
    if value_ms is None:
        return default_ns
    if not isinstance(value_ms, int) or value_ms > _MS_MAX:
        raise InvalidArgumentError(message=f"a time must be a whole number of milliseconds, not {value_ms!r}")
    return max(value_ms, 1) * MILLISECOND if value_ms >= 0 else -1
