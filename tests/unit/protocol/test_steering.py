"""Steering: what a dispatcher asks, and how it heeds the answers."""

from __future__ import annotations

from tests.unit.protocol.conftest import Desk
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import Woke
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.splits import Span
from tfsvc.protocol.steering import Guided, LeaseQuestion, Shift

DYNAMIC = m.ShardingPolicy.DYNAMIC


class Recorded(Guided):
    """Leases what it is told to, moves what it is told to, and keeps the questions."""

    def __init__(self, lease=1, every_ns=0):
        self.every_ns = every_ns
        self.size = lease
        self.moves = []
        self.questions = []
        self.situations = []

    def lease(self, question):
        self.questions.append(question)
        return self.size

    def shifts(self, situation):
        self.situations.append(situation)
        return self.moves


def steered(steering):
    desk = Desk()
    desk.machine = Dispatcher(desk.settings, "d", 1, Luck(0, "d"), (), 0, steering)
    return desk


def opened(desk, lane_id=6000, attempt=1, worker="w1", wanted=16):
    return desk.ask(m.OpenLaneRequest(lane_id, attempt, worker, wanted))


def test_a_lane_gets_what_steering_says_and_no_more_than_there_is():
    steering = Recorded(lease=7)
    desk = steered(steering)
    desk.worker("w1")
    desk.beat(desk.reader(desk.register(10), DYNAMIC))
    assert opened(desk).leases[0].spans == (Span(0, 7),)
    assert steering.questions == [LeaseQuestion("w1", 16, 0, 10, 10, 1)]
    more = desk.ask(m.LeaseSplitsRequest(6000, 1, 0, opened(desk).leases[0].at._replace(offset=7), 16))
    assert more.lease.spans == (Span(7, 10),)
    assert more.lease.ended
    assert steering.questions[1] == LeaseQuestion("w1", 16, 7, 3, 10, 1)


def test_at_least_one_split_is_leased():
    desk = steered(Recorded(lease=0))
    desk.worker("w1")
    desk.beat(desk.reader(desk.register(10), DYNAMIC))
    assert opened(desk).leases[0].spans == (Span(0, 1),)


def test_guided_leases_shrink_towards_the_end():
    question = LeaseQuestion("w", 16, 0, 1000, 1000, 4)
    assert Guided().lease(question) == 16
    assert Guided().lease(LeaseQuestion("w", 16, 0, 40, 1000, 4)) == 5
    assert Guided().lease(LeaseQuestion("w", 16, 0, None, None, 4)) == 16


def test_a_lease_is_no_smaller_than_a_part_of_what_is_wanted():
    assert Guided().lease(LeaseQuestion("w", 160, 0, 3, 1000, 4)) == 10
    assert Guided().lease(LeaseQuestion("w", 16, 0, 3, 1000, 4)) == 1
    assert Guided().lease(LeaseQuestion("w", 1, 0, 3, 1000, 4)) == 0


def test_lanes_move_where_steering_says_and_are_fenced():
    steering = Recorded(every_ns=SECOND)
    desk = steered(steering)
    desk.worker("w1")
    reader = desk.reader(desk.register(10), DYNAMIC)
    desk.beat(reader)
    desk.worker("w2")
    desk.beat(reader)
    lanes = desk.beat(reader).lanes
    assert [lane.worker_address for lane in lanes] == ["w1", "w2"]
    desk.beat(reader, m.LaneProgress(lanes[1].lane_id, 4, done=True))
    steering.moves = [Shift(6000, "w2"), Shift(6000, "nobody"), Shift(9999, "w1")]
    step = desk.machine.handle(Woke(), desk.now + 2 * SECOND)
    assert step.updates == (u.MoveLane(6000, 2, 4001, reader),)
    (situation,) = steering.situations
    assert situation.idle == ("w2",)
    assert situation.exhausted
    assert [(lane.lane_id, lane.worker, lane.attempt) for lane in situation.lanes] == [(6000, "w1", 1)]
    assert opened(desk).code is not None  # the old attempt is refused
    assert opened(desk, attempt=2, worker="w2").leases


def test_it_is_asked_as_often_as_it_wants_while_somebody_reads():
    steering = Recorded(every_ns=SECOND)
    desk = steered(steering)
    desk.worker("w1")
    desk.machine.handle(Woke(), desk.now)
    assert not steering.situations
    reader = desk.reader(desk.register(10), DYNAMIC)
    desk.beat(reader)
    assert desk.machine.deadline() <= desk.now + SECOND
    for after, asked in ((SECOND, 1), (SECOND * 3 // 2, 1), (2 * SECOND, 2)):
        desk.machine.handle(Woke(), desk.now + after)
        assert len(steering.situations) == asked
    assert steering.situations[1].lanes[0].since == desk.now + SECOND
