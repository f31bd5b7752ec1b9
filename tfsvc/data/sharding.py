"""Static sharding: one worker's share of a dataset, as a rewrite of its graph.

The rules are those of TensorFlow's auto-sharding, which every worker applies to the same graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from tfsvc.data.operator import Operator, UnaryOperator, remade
from tfsvc.data.ops.prefetch import Prefetch
from tfsvc.data.ops.shard import SHARD_HINT, Shard
from tfsvc.data.ops.shuffle import Shuffle
from tfsvc.data.ops.with_options import WithOptions
from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.protocol.messages import ShardingPolicy


@dataclass(frozen=True, slots=True)
class Share:
    """Which part: that of worker ``index`` of ``workers``."""

    workers: int
    index: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.workers:
            raise InvalidArgumentError(message=f"There is no worker {self.index} among {self.workers} workers.")

    def of(self, operator: Operator) -> Operator:
        """Every so-many-th element."""
        return Shard(operator, self.workers, self.index, for_worker=True)


def share_of(operator: Operator, policy: ShardingPolicy, share: Share) -> Operator:
    """The dataset of one worker; ``operator`` itself where the policy leaves the graph alone.

    Raises:
      NotFoundError: if ``FILE`` meets an operator or a source that cannot be sharded by file; the message names it.
    """
    match policy:
        case ShardingPolicy.OFF | ShardingPolicy.DYNAMIC:
            return operator
        case ShardingPolicy.FILE:
            return _by_file(operator, share)
        case ShardingPolicy.DATA:
            return _by_data(operator, share)
        case ShardingPolicy.FILE_OR_DATA:
            try:
                return _by_file(operator, share)
            except NotFoundError:
                return _by_data(operator, share)
        case ShardingPolicy.HINT:
            return _by_hint(operator, share)
        case _:
            assert_never(policy)


def _by_file(operator: Operator, share: Share) -> Operator:
    if share.workers == 1:
        return operator
    return operator.by_file(lambda names: _divided(names, share))


def _divided(names: Operator, share: Share) -> Operator:
    """The worker's share of file names, with shuffles behind it: all must divide one and the same order."""
    bare, shuffles = _without_shuffles(names)
    share_of_names = share.of(bare)
    for shuffle in shuffles:
        share_of_names = remade(shuffle, input=share_of_names)
    return share_of_names


def _without_shuffles(operator: Operator) -> tuple[Operator, tuple[Shuffle, ...]]:
    """The chain of operators without its shuffles, and these from the source on."""
    if not isinstance(operator, UnaryOperator):
        return operator, ()
    input, shuffles = _without_shuffles(operator.input)
    if isinstance(operator, Shuffle):
        return input, (*shuffles, operator)
    return remade(operator, input=input), shuffles


def _by_data(operator: Operator, share: Share) -> Operator:
    # Options and prefetching concern what is sent, which is the share.
    if isinstance(operator, (Prefetch, WithOptions)):
        return remade(operator, input=_by_data(operator.input, share))
    return share.of(operator)


def _by_hint(operator: Operator, share: Share) -> Operator:
    rewritten = operator.with_inputs(tuple(_by_hint(input, share) for input in operator.inputs))
    if isinstance(rewritten, Shard) and rewritten.num_shards == SHARD_HINT:
        return share.of(rewritten.input)
    return rewritten
