"""The recommended number of workers: TensorFlow's estimate, from what workers and readers tell."""

from __future__ import annotations

import pytest

from tfsvc.protocol import messages as m
from tfsvc.protocol.autoscaling import bounded, estimate
from tfsvc.protocol.contract import Call, Wanted, Woke
from tfsvc.protocol.pace import WEIGHT_MAX, Pace

OFF = m.ShardingPolicy.OFF


@pytest.mark.parametrize(
    ("processing", "target", "expected"),
    [
        ([10.0], [10.0], 1),
        ([10.0], [5.0], 2),
        ([10.0], [3.0], 4),
        ([10.0, 10.0], [5.0, 5.0], 4),
        ([10.0], [1000.0], 1),
        ([10.0, 30.0], [5.0], 3),
        ([], [5.0], None),
        ([10.0], [], None),
        ([0.0, -1.0], [5.0], None),
        ([10.0, 0.0], [0.0, 5.0], 2),
        # One that is a hundred times as fast as the others counts as their median.
        ([10.0, 10.0, 10.0, 10.0, 0.1], [1.0], 10),
    ],
)
def test_enough_workers_of_mean_speed_for_all_readers_together(processing, target, expected):
    assert estimate(processing, target) == expected


@pytest.mark.parametrize(("recommended", "current", "expected"), [(3, 1, 3), (9, 1, 4), (9, 0, 1), (9999, 1000, 1500)])
def test_a_recommendation_goes_one_step_at_a_time(recommended, current, expected):
    assert bounded(recommended, current) == expected


def test_new_elements_count_more_than_old_ones():
    pace = Pace()
    assert pace.element_ns == 0
    pace.note(100, 1)
    assert pace.element_ns == 100
    for _ in range(20):
        pace.note(200 * WEIGHT_MAX, WEIGHT_MAX)
    assert pace.element_ns == pytest.approx(200, rel=0.01)


def test_the_dispatcher_recommends_what_the_hungriest_iteration_asks_for(desk):
    for address in ("w1", "w2"):
        desk.worker(address)
    slow, quick = desk.reader(desk.register(), OFF, "slow"), desk.reader(desk.register(), OFF, "quick")
    assert desk.ask(m.GetScalingRequest()) == m.GetScalingResponse(2)
    for address, first in (("w1", 4000), ("w2", 4001)):
        desk.worker(address, active_tasks=(m.ActiveTask(first, 100.0), m.ActiveTask(first + 2, 100.0)))
    desk.beat(slow, target_processing_time_nsec=1000.0)
    desk.beat(quick, target_processing_time_nsec=20.0)
    answer = desk.ask(m.GetScalingRequest())
    assert (answer.workers, answer.recommended) == (2, 5)
    assert [(i.job_name, i.workers, i.recommended) for i in answer.iterations] == [("slow", 2, 1), ("quick", 2, 5)]
    assert desk.machine.view().scaling == answer
    desk.ask(m.ReleaseIterationClientRequest(quick))
    assert desk.ask(m.GetScalingRequest()).recommended == 1


def test_a_worker_that_drains_is_not_counted(desk):
    desk.worker("w1")
    desk.worker("w2", draining=True)
    assert desk.ask(m.GetScalingRequest()).workers == 1


def test_a_reader_tells_how_fast_its_application_is():
    from tests.unit.protocol.test_client import Chair
    from tfsvc.protocol.frames import Frame

    chair = Chair()
    chair.open()
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((Frame(0, 10, b"x"),)))
    assert len(chair.finished) == 1
    chair.now += 5000
    chair.handle(Wanted(2, ()))
    chair.now += 2_000_000_000
    chair.handle(Woke())
    beats = [c for c in chair.calls if isinstance(c, Call) and isinstance(c.request, m.ClientHeartbeatRequest)]
    assert beats[-1].request.target_processing_time_nsec == 500.0
