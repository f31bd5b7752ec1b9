"""Dealing: which splits an ordered lane gets."""

from __future__ import annotations

import pytest

from tfsvc.protocol.dealing import block_size, deal
from tfsvc.protocol.messages import OrderDef
from tfsvc.protocol.splits import Lease, Span, SplitPlan, SplitPosition

TEN = SplitPlan(10)


@pytest.mark.parametrize(
    ("count", "order", "size"),
    [
        (10, OrderDef(2, 4), 1),
        (128, OrderDef(2, 8), 4),
        (10**9, OrderDef(16, 4096), 4096),
        (0, OrderDef(4, 8), 1),
        (None, OrderDef(4, 8), 8),
    ],
)
def test_a_block_is_small_enough_for_all_lanes_to_end_together(count, order, size):
    assert block_size(SplitPlan(count), order) == size


def test_blocks_go_to_the_lanes_in_turn():
    order = OrderDef(3)
    dealt = [deal(TEN, order, 1, 0, SplitPosition(0, offset)) for offset in range(4)]
    assert dealt == [
        (Lease(0, SplitPosition(0, 0), (Span(1, 2),), False), True),
        (Lease(0, SplitPosition(0, 1), (Span(4, 5),), False), True),
        (Lease(0, SplitPosition(0, 2), (Span(7, 8),), True), True),
        (Lease(0, SplitPosition(0, 3), (), True), False),
    ]


def test_the_rest_of_a_block_begins_no_new_one():
    plan, order = SplitPlan(200), OrderDef(2, 4)
    assert deal(plan, order, 1, 0, SplitPosition(2, 5)) == (
        Lease(0, SplitPosition(2, 5), (Span(13, 16),), False),
        False,
    )


def test_the_last_block_may_be_short():
    at = SplitPosition(0, 64)
    assert deal(SplitPlan(131), OrderDef(2, 4), 0, 0, at) == (Lease(0, at, (Span(128, 131),), True), True)


def test_every_split_is_dealt_once_and_in_turns_they_are_the_source():
    for count in (0, 1, 5, 16, 33, 129):
        for order in (OrderDef(1, 4), OrderDef(3, 1), OrderDef(4, 3)):
            runs: list[tuple[int, int, Span]] = []
            for lane in range(order.lanes):
                at, run = SplitPosition(0, 0), 0
                while True:
                    lease, begins = deal(SplitPlan(count), order, lane, 0, at)
                    run += begins
                    runs += [(run, lane, span) for span in lease.spans]
                    at = SplitPosition(0, at.offset + sum(span.size for span in lease.spans))
                    if lease.ended:
                        break
            assert [i for _, _, span in sorted(runs) for i in range(span.lo, span.hi)] == list(range(count))
