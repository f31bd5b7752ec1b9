"""Splits: the feed of a pipeline, and TensorFlow's ``GetSplit``."""

from __future__ import annotations

import pytest

from tfsvc.errors import Code
from tfsvc.protocol import messages as m
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPlan, SplitPosition, Starved, merge_spans


def at(offset: int, repetition: int = 0) -> SplitPosition:
    return SplitPosition(repetition, offset)


def test_a_feed_gives_what_was_leased_and_then_starves():
    feed = SplitFeed(0)
    feed.add(Lease(0, at(0), (Span(3, 5), Span(9, 10))))
    assert [feed.next(), feed.next(), feed.next()] == [3, 4, 9]
    with pytest.raises(Starved) as starved:
        feed.next()
    assert (starved.value.provider, starved.value.at) == (0, at(3))


def test_a_feed_ends_with_its_repetition():
    feed = SplitFeed(0)
    feed.add(Lease(0, at(0), (Span(0, 1),), True))
    assert feed.next() == 0
    with pytest.raises(StopIteration):
        feed.next()
    feed.reset()
    with pytest.raises(Starved) as starved:
        feed.next()
    assert starved.value.at == at(0, 1)


def test_a_lease_that_came_before_is_passed_over():
    feed = SplitFeed(0)
    feed.add(Lease(0, at(0), (Span(0, 4),)))
    feed.add(Lease(0, at(2), (Span(2, 6),)))
    assert [feed.next() for _ in range(6)] == [0, 1, 2, 3, 4, 5]


def test_a_feed_starts_where_a_checkpoint_says():
    feed = SplitFeed(0, at(2))
    feed.add(Lease(0, at(0), (Span(10, 14),)))
    assert feed.next() == 12


def test_a_span_is_taken_at_once():
    feed = SplitFeed(0)
    feed.add(Lease(0, at(0), (Span(0, 10), Span(20, 22)), True))
    assert [feed.take_span(4), feed.take_span(100), feed.take_span(100)] == [Span(0, 4), Span(4, 10), Span(20, 22)]
    assert feed.at == at(12)


def test_neighbours_are_merged():
    assert list(merge_spans([Span(0, 2), Span(2, 5), Span(7, 8)])) == [Span(0, 5), Span(7, 8)]


def tensorflow_iteration(desk, plan: SplitPlan) -> int:
    desk.ask(m.WorkerHeartbeatRequest("tensorflow"))
    definition = m.DatasetDef(graph=b"g", plans=(plan,))
    desk.reader(desk.ask(m.GetOrRegisterDatasetRequest(definition)).dataset_id, m.ShardingPolicy.DYNAMIC)
    return 2000


def test_get_split_hands_out_each_value_once(desk):
    iteration = tensorflow_iteration(desk, SplitPlan(3, start=5, step=-2))
    got = [desk.ask(m.GetSplitRequest(iteration)) for _ in range(4)]
    assert [(a.split, a.end_of_splits) for a in got] == [(5, False), (3, False), (1, False), (None, True)]


def test_each_repetition_has_its_own_splits(desk):
    iteration = tensorflow_iteration(desk, SplitPlan(1))
    ask = [desk.ask(m.GetSplitRequest(iteration, r)) for r in (0, 0, 1, 1, 0)]
    assert [(a.split, a.end_of_splits) for a in ask] == [
        (0, False),
        (None, True),
        (0, False),
        (None, True),
        (None, True),
    ]


def test_an_endless_source_does_not_end(desk):
    iteration = tensorflow_iteration(desk, SplitPlan(None))
    assert [desk.ask(m.GetSplitRequest(iteration)).split for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("request_", "code"),
    [(m.GetSplitRequest(9999), Code.NOT_FOUND), (m.GetSplitRequest(2000, 0, 1), Code.INVALID_ARGUMENT)],
)
def test_a_split_of_nothing_is_refused(desk, request_, code):
    tensorflow_iteration(desk, SplitPlan(1))
    assert desk.refused(request_).code == code


def test_a_split_of_an_off_iteration_is_refused(desk):
    desk.worker("w1")
    desk.reader(desk.register(), m.ShardingPolicy.OFF)
    assert desk.refused(m.GetSplitRequest(2000)).code == Code.FAILED_PRECONDITION
