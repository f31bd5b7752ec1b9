"""Dealing: an ordered job's splits go to its lanes beforehand, a block to each in turn, like cards.

Which splits a lane gets, and in which order, is a function of the dataset and of the job's order alone. So it
needs no leases, and what all lanes give, merged block by block, is the same for any number of workers.
"""

from __future__ import annotations

from typing import Final

from tfsvc.protocol.messages import OrderDef
from tfsvc.protocol.splits import Lease, Span, SplitPlan, SplitPosition

ROUNDS: Final = 16
"""Blocks that each lane gets at least, of a source that has so many splits; so that all lanes end together."""


def block_size(plan: SplitPlan, order: OrderDef) -> int:
    """How many splits in a row a lane is dealt."""
    if plan.count is None:
        return order.block
    return max(1, min(order.block, plan.count // (order.lanes * ROUNDS)))


def deal(plan: SplitPlan, order: OrderDef, lane: int, provider: int, at: SplitPosition) -> tuple[Lease, bool]:
    """The lane's splits from ``at`` to the end of the block they are in, and whether a block begins there."""
    size = block_size(plan, order)
    block, within = divmod(at.offset, size)
    first = (block * order.lanes + lane) * size
    lo, hi, next_first = first + within, first + size, first + order.lanes * size
    if plan.count is not None:
        hi = min(hi, plan.count)
    spans = (Span(lo, hi),) if lo < hi else ()
    ended = plan.count is not None and next_first >= plan.count
    return Lease(provider, at, spans, ended), bool(spans) and within == 0
