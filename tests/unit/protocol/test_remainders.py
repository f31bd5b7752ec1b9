"""Consumers that get the same number of elements: the dispatcher's level, and the reader's quota."""

from __future__ import annotations

from tests.unit.protocol.conftest import Desk
from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.quota import Quota
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.reading import EndOfData, MakeUp

DYNAMIC = m.ProcessingModeDef(m.ShardingPolicy.DYNAMIC)
DROP, PAD = m.Remainder.DROP, m.Remainder.PAD


def two(desk: Desk, remainder: m.Remainder) -> tuple[int, int]:
    """Both readers of a job of two consumers and two lanes."""
    desk.worker("w")
    job = desk.ask(
        m.GetOrCreateJobRequest(desk.register(), DYNAMIC, "job", 2, order=m.OrderDef(2, 1, 0, remainder))
    ).job_id
    one, other = (desk.ask(m.GetOrCreateIterationRequest(job, consumer_index=i)).iteration_client_id for i in range(2))
    return one, other


def test_where_the_rest_is_dropped_nobody_goes_farther_than_the_last_surely_gets(desk):
    one, other = two(desk, DROP)
    assert desk.beat(one, ready=5).level == m.Level(0, 0, None, (1,))
    assert desk.beat(other, ready=3).level == m.Level(0, 3, None, (1,))
    assert desk.beat(one, ready=9, total=9).level == m.Level(0, 3, None, (1,))
    assert desk.beat(other, ready=8, total=8).level == m.Level(0, 8, 8, ())
    assert desk.beat(one, ready=9).level == m.Level(0, 8, 8, ())


def test_what_is_dropped_is_nobody_s_and_the_iteration_can_end(desk):
    one, other = two(desk, DROP)
    desk.beat(one, ready=9, total=9)
    desk.beat(other, ready=8, total=8)
    assert desk.beat(other, m.LaneProgress(6001, 8, True), ready=8).iteration_finished
    assert desk.beat(one, m.LaneProgress(6000, 8), ready=9).lanes == ()
    assert desk.beat(one, ready=9).iteration_finished


def test_where_the_rest_is_made_up_all_go_as_far_as_the_first_has_got(desk):
    one, other = two(desk, PAD)
    assert desk.beat(one, ready=5).level == m.Level(0, 5, None, (0, 1))
    assert desk.beat(other, ready=3, total=3).level == m.Level(0, 5, None, (0,))
    assert not desk.beat(other, m.LaneProgress(6001, 3, True), ready=3).iteration_finished
    assert desk.beat(one, ready=6, total=6).level == m.Level(0, 6, 6, ())
    assert desk.beat(other, ready=3).iteration_finished


def test_totals_are_remembered_by_the_next_life_of_the_dispatcher(desk):
    one, other = two(desk, DROP)
    desk.beat(one, ready=9, total=9)
    again = Desk(records=desk.records)
    assert again.beat(other, ready=20).level == m.Level(0, 9, 9, ())


def test_a_consumer_that_has_left_counts_for_the_next_life_of_the_dispatcher(desk):
    """What it had at hand was only in memory; what it had taken is in the journal."""
    one, other = two(desk, DROP)
    desk.beat(one, ready=8, total=8)
    assert desk.beat(other, ready=9).level.final == 8
    desk.beat(other, m.LaneProgress(6001, 8), ready=9)
    desk.ask(m.ReleaseIterationClientRequest(other, (m.LaneProgress(6001, 8),)))
    again = Desk(records=desk.records)
    assert again.beat(one, ready=8).level == m.Level(0, 8, 8, ())


def test_a_quota_waits_for_the_first_level_and_counts_from_what_was_taken():
    quota = Quota(DROP, 0, SECOND)
    assert quota.room() == 0
    quota.take(m.Level(4, 10))
    assert quota.room() == 6
    quota.hand(6)
    assert quota.room() == 0
    assert quota.beyond(False, 0) is None
    assert quota.blocked
    quota.take(m.Level(4, 12, 12))
    assert quota.room() == 2
    quota.hand(2)
    assert not quota.blocked
    assert quota.beyond(False, 0) == EndOfData()


def test_a_consumer_without_elements_makes_up_as_many_as_others_have_got():
    quota = Quota(PAD, 0, SECOND)
    quota.take(m.Level(0, 3))
    assert quota.room() is None
    quota.hand(2)
    assert quota.beyond(True, 0) == MakeUp(0, 1)
    assert (quota.handed, quota.own) == (3, 2)
    assert quota.beyond(True, 0) is None
    quota.take(m.Level(2, 5, 5))
    assert quota.beyond(True, 0) == MakeUp(1, 2)
    assert quota.beyond(True, 0) == EndOfData()


def test_a_quota_that_waits_too_long_names_who_is_missing():
    quota = Quota(DROP, 0, SECOND)
    quota.take(m.Level(0, 2, None, (1, 3)))
    quota.hand(2)
    assert quota.beyond(False, 5) is None
    late = quota.beyond(False, 5 + SECOND)
    assert isinstance(late, RpcError)
    assert late.code == Code.DEADLINE_EXCEEDED
    assert "Consumers 1, 3 have not gone beyond element 2 for 1 s" in late.message


def test_without_a_remainder_there_is_no_quota():
    quota = Quota(m.Remainder.KEEP, 0, SECOND)
    assert quota.room() is None
    assert quota.beyond(True, 0) is None
