"""Workers that drain, services that are stopped, and nodes that end when there is nothing to do."""

from __future__ import annotations

import pytest

from tests.unit.protocol.conftest import Desk
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import Answered, Asked, Call, Exit, Finish, Produce, Produced, Reply, Stopped, Woke, Word
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import MILLISECOND, SECOND, Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Production, Ready
from tfsvc.protocol.settings import DispatcherSettings, WorkerSettings
from tfsvc.protocol.worker.machine import Worker

OFF, DYNAMIC = m.ShardingPolicy.OFF, m.ShardingPolicy.DYNAMIC


def wake(desk: Desk) -> list[Word]:
    step = desk.machine.handle(Woke(), desk.now)
    desk.records.extend(step.updates)
    return list(step.words)


# --- the dispatcher ---


def test_the_lanes_of_a_draining_worker_move_and_then_it_may_go(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), DYNAMIC)
    desk.beat(reader)
    desk.worker("w1", draining=True)
    assert desk.worker("w1", draining=True).drained
    assert {lane.worker_address for lane in desk.beat(reader).lanes} == {"w2"}


def test_the_last_worker_goes_on_until_its_lanes_are_read(desk):
    desk.worker("w1")
    reader = desk.reader(desk.register(), DYNAMIC)
    (lane,) = desk.beat(reader).lanes
    assert not desk.worker("w1", draining=True).drained
    desk.ask(m.OpenLaneRequest(lane.lane_id, 1, "w1", 16))
    desk.beat(reader, m.LaneProgress(lane.lane_id, 10, True))
    assert desk.worker("w1", draining=True).drained


def test_what_a_worker_gives_whole_is_waited_for_if_somebody_reads_it(desk):
    desk.worker("w1")
    desk.worker("w2")
    reader = desk.reader(desk.register(), OFF, "job")
    assert not desk.worker("w1", draining=True).drained
    desk.ask(m.WorkerUpdateRequest("w1", (m.TaskProgress(4000, True),)))
    assert desk.worker("w1", draining=True).drained
    assert not desk.worker("w2", draining=True).drained
    desk.ask(m.ReleaseIterationClientRequest(reader))
    assert desk.worker("w2", draining=True).drained


def test_a_worker_that_drains_gets_nothing_new(desk):
    desk.worker("w1")
    desk.worker("w1", draining=True)
    desk.reader(desk.register(), OFF)
    assert desk.worker("w1", draining=True).new_tasks == ()
    assert desk.machine.state.tasks == {}


def test_a_worker_that_changed_its_mind_by_starting_again_works(desk):
    desk.worker("w1")
    desk.worker("w1", draining=True)
    desk.reader(desk.register(), OFF)
    assert len(desk.worker("w1", incarnation=2).new_tasks) == 1


def ask_to_stop(desk: Desk, grace_ns: int) -> CallId:
    """The call that waits until the service has ended; its words are in ``desk.words``."""
    call = CallId("trainer", 1, grace_ns)
    step = desk.machine.handle(Asked(call, Address("trainer"), m.StopServiceRequest(grace_ns)), desk.now)
    desk.words = list(step.words)
    return call


def test_a_service_ends_when_its_workers_have_left(desk):
    desk.worker("w1")
    desk.ask(m.WorkerHeartbeatRequest("tensorflow"))
    call = ask_to_stop(desk, 10 * SECOND)
    assert not desk.words or not any(isinstance(word, Reply | Exit) for word in desk.words)
    beat = desk.worker("w1")
    assert (beat.stop, beat.drained) == (True, False)
    assert desk.worker("w1", draining=True).drained
    leaving = m.WorkerHeartbeatRequest("w1", incarnation=1, interval_ns=SECOND, leaving=True)
    words = desk.machine.handle(Asked(CallId("w1", 1, 9), Address("w1"), leaving), desk.now).words
    assert Reply(call, m.StopServiceResponse()) in words
    assert words[-1] == Exit()


def test_nobody_begins_to_read_from_a_service_that_ends_and_who_is_late_is_told(desk):
    desk.worker("w1")
    dataset = desk.register()
    reader = desk.reader(dataset, OFF)
    ask_to_stop(desk, 10 * SECOND)
    assert "being stopped" in desk.refused(m.GetOrCreateJobRequest(dataset)).message
    assert not desk.beat(reader).iteration_finished
    assert not desk.worker("w1", draining=True).drained
    desk.now += 10 * SECOND
    assert "was stopped before" in desk.refused(m.ClientHeartbeatRequest(reader)).message
    assert desk.worker("w1", draining=True).drained


def test_a_service_waits_for_nobody_who_is_silent_and_missed_by_nobody(desk):
    desk.worker("w1")
    desk.worker("w2")
    desk.now += 6 * SECOND
    desk.worker("w2")
    wake(desk)
    call = ask_to_stop(desk, 60 * SECOND)
    assert not any(isinstance(word, Reply | Exit) for word in desk.words)
    leaving = m.WorkerHeartbeatRequest("w2", incarnation=1, interval_ns=SECOND, leaving=True)
    words = desk.machine.handle(Asked(CallId("w2", 1, 9), Address("w2"), leaving), desk.now).words
    assert Reply(call, m.StopServiceResponse()) in words


def test_a_service_ends_without_workers_that_do_not_answer(desk):
    desk.worker("w1")
    desk.reader(desk.register(), OFF, "job")
    call = ask_to_stop(desk, 20 * SECOND)
    asked, words = desk.now, []
    while Exit() not in words:
        desk.now = desk.machine.deadline()
        words = wake(desk)
    assert words[-2:] == [Reply(call, m.StopServiceResponse()), Exit()]
    assert desk.now - asked == 26 * SECOND, "its time, its worker's heartbeat, and some more"
    assert wake(desk) == []


def test_a_service_without_workers_ends_at_once(desk):
    call = ask_to_stop(desk, SECOND)
    assert desk.words[-2:] == [Reply(call, m.StopServiceResponse()), Exit()]


def test_a_dispatcher_that_is_idle_for_long_enough_ends():
    desk = Desk(DispatcherSettings(idle_ns=60 * SECOND))
    desk.now += 1000 * SECOND
    assert Exit() not in wake(desk), "it never had a reader"
    reader = desk.reader(desk.register(), OFF)
    desk.now += 1000 * SECOND
    desk.beat(reader)
    assert Exit() not in wake(desk)
    desk.ask(m.ReleaseIterationClientRequest(reader))
    wake(desk)
    for _ in range(10):
        desk.now = desk.machine.deadline()
        if Exit() in wake(desk):
            break
    assert 60 * SECOND <= desk.now - 2000 * SECOND <= 80 * SECOND


def test_what_a_worker_says_anew_is_folded_like_everything_else(desk):
    desk.worker("w1")
    desk.worker("w1", worker_tags=("gpu",))
    assert u.RefreshWorker("w1", desk.machine.state.workers["w1"].transfer_servers, ("gpu",), 0) in desk.records
    assert Desk(records=desk.records).machine.state == desk.machine.state


# --- the worker ---


class Bench:
    """A worker whose calls to the dispatcher are answered by hand."""

    def __init__(self, **more: int) -> None:
        settings = WorkerSettings("w", "d", heartbeat_ns=SECOND, **more)
        self.machine = Worker(settings, 1, Luck(0, "w"))
        self.now = SECOND
        self.words: list[Word] = []
        self._seq = 0
        self.handle(Woke())

    def handle(self, event) -> list[Word]:
        self.words = list(self.machine.handle(event, self.now).words)
        return self.words

    def beat(self, *tasks: m.TaskDef, **more: bool) -> m.WorkerHeartbeatRequest:
        """Waits for the next heartbeat, and answers it."""
        while True:
            for word in self.words:
                if isinstance(word, Call) and isinstance(word.request, m.WorkerHeartbeatRequest):
                    self.handle(Answered(word.call, m.WorkerHeartbeatResponse(tasks, **more)))
                    return word.request
            assert self.machine.deadline() < self.now + 100 * SECOND, "it says nothing more"
            self.now = max(self.now, self.machine.deadline())
            self.handle(Woke())

    def ask(self, request: m.Request) -> CallId:
        self._seq += 1
        call = CallId("reader", 1, self._seq)
        self.handle(Asked(call, Address("reader"), request))
        return call


def test_a_worker_drains_until_it_may_go_and_then_takes_its_leave():
    bench = Bench()
    assert not bench.beat().draining
    bench.handle(Stopped(7, grace_ns=60 * SECOND))
    assert bench.beat().draining
    assert bench.now < 2 * SECOND
    bench.beat(drained=True)
    (goodbye,) = [word for word in bench.words if isinstance(word, Call)]
    assert goodbye.request.leaving
    assert bench.handle(Answered(goodbye.call, m.WorkerHeartbeatResponse())) == [Finish(7, None)]


def test_a_worker_whose_time_to_drain_is_over_says_so():
    bench = Bench()
    bench.beat()
    bench.handle(Stopped(7, grace_ns=SECOND))
    while bench.now < 2 * SECOND and not any(isinstance(word, Finish) for word in bench.words):
        leaving = bench.beat().leaving
    assert leaving or bench.beat().leaving
    (finish,) = [word for word in bench.words if isinstance(word, Finish)]
    assert "time to drain was over" in finish.result.message


def test_a_worker_that_is_told_to_stop_drains_and_ends_its_node():
    bench = Bench()
    bench.beat(stop=True)
    assert bench.beat(drained=True, stop=True).draining
    assert bench.beat().leaving
    assert bench.words == [Exit()]


def test_a_worker_ends_when_it_has_been_idle_for_long_enough():
    bench = Bench(idle_ns=30 * SECOND)
    bench.beat(m.TaskDef(m.DatasetDef(program=b"p"), dataset_id="1000", task_id=4000))
    for _ in range(50):
        assert not bench.beat().leaving
    deleted = bench.now
    bench.words = []
    bench.now = bench.machine.deadline()
    bench.handle(Woke())
    (call,) = [word for word in bench.words if isinstance(word, Call)]
    bench.handle(Answered(call.call, m.WorkerHeartbeatResponse(tasks_to_delete=(4000,))))
    while not bench.beat().leaving:
        assert bench.now < deleted + 40 * SECOND
    assert bench.now >= deleted + 30 * SECOND
    assert bench.words == [Exit()]


def test_a_worker_still_answers_for_its_quiet_period():
    bench = Bench(quiet_ns=2 * SECOND)
    bench.beat()
    bench.handle(Stopped(7))
    assert bench.beat().leaving
    assert bench.words == []
    call = bench.ask(m.GetFramesRequest(4000, client_id=1, bytes_max=1))
    assert isinstance(bench.words[0], Reply)
    assert bench.words[0].call == call
    left = bench.now
    bench.now = bench.machine.deadline()
    assert bench.handle(Woke()) == [Finish(7, None)]
    assert bench.now - left == 2 * SECOND


@pytest.mark.parametrize(("endless", "ends"), [(True, True), (False, False)])
def test_a_draining_worker_ends_what_has_no_end_and_nothing_else(endless, ends):
    bench = Bench()
    task = m.TaskDef(m.DatasetDef(program=b"p"), dataset_id="1000", task_id=4000, endless=endless)
    bench.beat(task)
    call = bench.ask(m.GetFramesRequest(4000, client_id=1, bytes_max=1 << 20))
    (produce,) = [word for word in bench.words if isinstance(word, Produce)]
    words = bench.handle(Produced(produce.producer, Production((Frame(0, 2, b"ab"),), Ready())))
    assert Reply(call, m.GetFramesResponse((Frame(0, 2, b"ab"),))) in words
    bench.handle(Stopped(7, grace_ns=60 * SECOND))
    bench.now += 10 * MILLISECOND
    call = bench.ask(m.GetFramesRequest(4000, client_id=1, ordinal=2, bytes_max=1 << 20))
    assert (Reply(call, m.GetFramesResponse((), end_of_stream=True)) in bench.words) == ends


def test_a_worker_that_is_dismissed_hears_so_and_leaves_when_nothing_is_lost(desk):
    for address in ("w1", "w2"):
        desk.worker(address)
    assert desk.ask(m.DrainWorkerRequest("w1", 10**9)) == m.DrainWorkerResponse()
    assert [desk.worker(address).stop for address in ("w1", "w2")] == [True, False]
    assert desk.worker("w1", draining=True).drained


def test_a_dismissed_worker_goes_when_its_time_is_over(desk):
    desk.worker("w1")
    desk.beat(desk.reader(desk.register(), m.ShardingPolicy.OFF))
    desk.worker("w1", current_tasks=(4000,))
    desk.ask(m.DrainWorkerRequest("w1", 10**9))
    assert not desk.worker("w1", draining=True, current_tasks=(4000,)).drained
    desk.now += 10**9
    assert desk.worker("w1", draining=True, current_tasks=(4000,)).drained


def test_a_new_life_of_a_dismissed_worker_stays(desk):
    desk.worker("w1")
    desk.ask(m.DrainWorkerRequest("w1", 10**9))
    assert not desk.worker("w1", incarnation=2).stop


def test_who_cannot_be_dismissed_is_named(desk):
    desk.worker("w1")
    desk.ask(m.WorkerHeartbeatRequest("theirs:1"))
    assert "'w3'. Workers that there are: w1, theirs:1." in desk.refused(m.DrainWorkerRequest("w3")).message
    assert "TensorFlow's" in desk.refused(m.DrainWorkerRequest("theirs:1")).message
