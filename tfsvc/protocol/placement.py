"""Placement: which workers a reader reads from, by their tags and by who is in its own process."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from tfsvc.protocol.messages import DeploymentMode, ShardingPolicy, TargetWorkers

COLOCATED: Final = "COLOCATED"
"""The one tag with a meaning: such a worker shares its machine with a trainer, and works for that alone."""


def reads(target: TargetWorkers, address: str, tags: tuple[str, ...], nearby: Container[str]) -> bool:
    """Whether a reader reads from the worker at ``address``, by TensorFlow's rule.

    Args:
      target: of the reader's job.
      tags: the worker's.
      nearby: addresses of the workers in the reader's own process.
    """
    match target:
        case TargetWorkers.ANY:
            return True
        case TargetWorkers.LOCAL:
            return address in nearby
        case _:
            return not tags or address in nearby or COLOCATED not in (tag.upper() for tag in tags)


def target_of(target: TargetWorkers, policy: ShardingPolicy, mode: DeploymentMode) -> TargetWorkers:
    """The target that is meant: where workers live with the trainers, each trainer reads its own shard."""
    if target is TargetWorkers.AUTO and policy.static and mode is DeploymentMode.COLOCATED:
        return TargetWorkers.LOCAL
    return target
