"""Static sharding: which worker has which shard, and what becomes of one that nobody comes back for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import About
from tfsvc.protocol.dispatcher import lanes
from tfsvc.protocol.dispatcher.entities import Iteration
from tfsvc.protocol.dispatcher.turn import Turn, precondition
from tfsvc.protocol.ids import NEVER, SECOND, Instant

_ADDRESS: Final = re.compile(r"(?P<host>.*):(?P<port>[a-zA-Z0-9_]+|%port(_[a-zA-Z0-9_]+)?%)")


def place(turn: Turn, address: str) -> int | RpcError | None:
    """Where a worker stands among the configured ones: where it stood before, else in the first place that fits.

    A worker that is lost keeps its place until another one takes it. ``None`` where none are configured.
    """
    configured = turn.settings.worker_addresses
    if not configured:
        return None
    taken = {worker.index: None for worker in turn.state.workers.values() if worker.address != address}
    own = [index for index, last in turn.state.places.items() if last == address and index < len(configured)]
    fitting = (index for index, entry in enumerate(configured) if matches(entry, address))
    for index in (*own, *fitting):
        if index not in taken:
            return index
    return precondition(
        f"Failed to assign an index for worker {address}. Configured workers list: [{', '.join(configured)}]. The "
        "worker's address is not configured, or other workers are already running at the configured host. Add the "
        "address to DispatcherConfig.worker_addresses, where %port% stands for any port."
    )


def matches(entry: str, address: str) -> bool:
    """Whether a worker at ``address`` may have the place of ``entry``, which may leave its port open."""
    if entry == address:
        return True
    host, port = _split(entry)
    worker_host, worker_port = _split(address)
    return host == worker_host and bool(worker_port) and (not port or port.startswith("%port"))


def _split(address: str) -> tuple[str, str]:
    found = _ADDRESS.fullmatch(address)
    return (found["host"], found["port"]) if found else (address, "")


def expire(turn: Turn) -> None:
    """Ends shards without a worker for so long that it counts as lost for good."""
    for iteration, shard, until in tuple(_unserved(turn)):
        if turn.now >= until:
            turn.warn(
                f"no worker has come for shard {shard} of {iteration.shards} of iteration {iteration.id} within "
                f"{turn.settings.worker_timeout_ns // SECOND} s; what is left of it is missing",
                About(turn.state.job_of(iteration).label, iteration.id),
            )
            turn.record(u.GiveUpShard(iteration.id, shard))
            lanes.arrange(turn, iteration)


def deadline(turn: Turn) -> Instant:
    """When the next shard will have been without a worker for too long."""
    return min((until for *_, until in _unserved(turn)), default=NEVER)


def _unserved(turn: Turn) -> Iterator[tuple[Iteration, int, Instant]]:
    """The shards that nobody works at, each with the end of everybody's patience."""
    if turn.settings.gc_timeout_ns < 0:
        return
    for iteration in turn.state.iterations.values():
        if not turn.state.job_of(iteration).policy.static or iteration.finished:
            continue
        read = {turn.state.lanes[lane_id].shard: None for lane_id in iteration.lanes}
        if iteration.exhausted and not read:
            continue
        since = turn.vitals.waiting_since.setdefault(iteration.id, turn.now)
        served = {worker.index: None for worker in turn.state.workers.values()}
        for shard in range(iteration.shards):
            if shard not in served and (shard in read or shard not in iteration.ended_shards):
                heard = turn.vitals.workers.get(turn.state.places.get(shard, ""), 0)
                yield iteration, shard, max(since, heard) + turn.settings.worker_timeout_ns
