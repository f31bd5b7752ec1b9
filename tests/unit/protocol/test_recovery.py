"""A dispatcher that restarts: it remembers what was durable, and completes what was cut short."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.unit.protocol.conftest import Desk
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import Woke
from tfsvc.protocol.dispatcher.history import history, shorten
from tfsvc.protocol.dispatcher.state import NONCES_MAX, DispatcherState
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.splits import Checkpoint, SplitPosition

DYNAMIC = m.ShardingPolicy.DYNAMIC


def test_a_step_that_became_durable_in_part_is_completed() -> None:
    """The journal may end between the iteration and the tasks that were made for it."""
    before = Desk()
    before.worker("w1")
    before.worker("w2")
    client_id = before.reader(before.register(), DYNAMIC)
    made = next(i for i, update in enumerate(before.records) if type(update).__name__ == "CreateIteration")
    for kept in range(made + 1, len(before.records)):
        after = Desk(records=before.records[:kept])
        after.machine.handle(Woke(), after.now)
        after.worker("w1")
        after.worker("w2")
        iteration = after.machine.state.iterations[2000]
        workers = [after.machine.state.tasks[task_id].worker_address for task_id in iteration.tasks]
        assert sorted(workers) == ["w1", "w2"]
    assert client_id == 3000


def test_openings_are_remembered_for_a_while() -> None:
    state = DispatcherState()
    state.apply(u.CreateJob(5000, "j", "1000", DYNAMIC, None, False, m.TargetWorkers.AUTO, "job"))
    state.apply(u.CreateIteration(2000, 5000, 0, 7))
    for number in range(NONCES_MAX):
        state.apply(u.AcquireClient(2000, 3000 + number, f"reader{number}"))
    assert len(state.nonces) == NONCES_MAX
    assert "job" not in state.nonces
    assert state.nonces["reader0"] == 3000


def test_recovery_does_not_grow_with_what_is_over() -> None:
    """A thousand passes of a named job, each read to its end, leave one fact about all of them."""
    desk = Desk()
    desk.worker("w")
    dataset_id = desk.register(count=4)
    sizes = []
    for repetition in range(1000):
        reader = desk.reader(dataset_id, DYNAMIC, "job", repetition)
        (lane,) = desk.beat(reader).lanes
        desk.ask(m.OpenLaneRequest(lane.lane_id, 1, "w", 4))
        assert desk.beat(reader, m.LaneProgress(lane.lane_id, 4, True)).iteration_finished
        desk.ask(m.ReleaseIterationClientRequest(reader))
        if repetition in (10, 999):
            sizes.append(len(list(history(desk.machine.state))))
    assert len(desk.records) > 8000
    assert sizes == [5, 5]
    again = Desk(records=list(shorten(desk.records)))
    again.worker("w")
    assert again.beat(again.reader(dataset_id, DYNAMIC, "job", 500)).iteration_finished
    assert not again.beat(again.reader(dataset_id, DYNAMIC, "job", 1000)).iteration_finished


def fold(desk: Desk) -> DispatcherState:
    state = DispatcherState()
    for update in desk.records:
        state.apply(update)
    return state


class Recovery(RuleBasedStateMachine):
    """Whatever is asked of a dispatcher, folding its updates gives its state."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.readers: list[int] = []

    def ask(self, request: m.Request) -> Any:
        return self.desk.ask(request)

    @rule(
        worker=st.integers(0, 2),
        incarnation=st.integers(1, 3),
        tags=st.sampled_from([(), ("COLOCATED",)]),
        draining=st.booleans(),
    )
    def worker_beats(self, worker: int, incarnation: int, tags: tuple[str, ...], draining: bool) -> None:
        servers = (m.DataTransferServerInfo("tfsvc", f"w{worker}"),)
        beat = m.WorkerHeartbeatRequest(
            f"w{worker}", servers, tags, incarnation=incarnation, interval_ns=SECOND, draining=draining
        )
        self.ask(beat)

    @rule(name=st.sampled_from([None, "a", "b"]), policy=st.sampled_from([DYNAMIC, m.ShardingPolicy.OFF]))
    def reader_opens(self, name: str | None, policy: m.ShardingPolicy) -> None:
        dataset_id = self.desk.register(count=20)
        label = None if name is None else f"{name}/{policy.name}"
        self.readers.append(self.desk.reader(dataset_id, policy, label))

    @rule(consumer=st.integers(0, 1), resumes=st.booleans(), index=st.integers(0, 3))
    def consumer_opens(self, consumer: int, resumes: bool, index: int) -> None:
        mode, order = m.ProcessingModeDef(DYNAMIC), m.OrderDef(4, 2, 7)
        job = self.ask(m.GetOrCreateJobRequest(self.desk.register(20), mode, "ordered", 2, order=order))
        places = (m.LanePlace(index, 3, Checkpoint(2, (SplitPosition(0, 2),), b"s")),)
        request = m.GetOrCreateIterationRequest(
            job.job_id, 0, consumer_index=consumer, resumes=resumes, places=places if resumes else ()
        )
        self.readers.append(int(self.ask(request).iteration_client_id))

    @precondition(lambda self: self.readers)
    @rule(data=st.data())
    def reader_beats(self, data: st.DataObject) -> None:
        lanes = list(self.desk.machine.state.lanes.values())
        progress = tuple(
            m.LaneProgress(lane.id, lane.taken + data.draw(st.integers(0, 3)), data.draw(st.booleans()))
            for lane in lanes[:2]
        )
        complaints = tuple(m.LaneComplaint(lane.id, lane.attempt, "slow", True) for lane in lanes[2:3])
        reader = data.draw(st.sampled_from(self.readers))
        nearby = data.draw(st.sampled_from([(), ("w0",), ("w1", "w2")]))
        beat = m.ClientHeartbeatRequest(
            reader, reads_lanes=True, progress=progress, complaints=complaints, nearby=nearby
        )
        self.ask(beat)

    @precondition(lambda self: self.desk.machine.state.lanes)
    @rule(data=st.data(), wanted=st.integers(0, 9))
    def worker_leases(self, data: st.DataObject, wanted: int) -> None:
        state = self.desk.machine.state
        lane = data.draw(st.sampled_from(sorted(state.lanes)))
        if not state.lanes[lane].task_id:
            return
        held = state.lanes[lane]
        self.ask(m.OpenLaneRequest(lane, held.attempt, state.tasks[held.task_id].worker_address, wanted))
        end = SplitPosition(0, held.leased_to(0, 0))
        checkpoint = Checkpoint(held.checkpoints[-1].ordinal + data.draw(st.integers(0, 4)), (end,), b"s")
        self.ask(m.LeaseSplitsRequest(lane, held.attempt, 0, end, wanted, checkpoint))

    @precondition(lambda self: self.readers)
    @rule(data=st.data())
    def reader_leaves(self, data: st.DataObject) -> None:
        reader = data.draw(st.sampled_from(self.readers))
        self.readers.remove(reader)
        self.ask(m.ReleaseIterationClientRequest(reader))

    @rule(seconds=st.sampled_from([1, 4, 400, 700]))
    def time_passes(self, seconds: int) -> None:
        self.desk.now += seconds * SECOND
        self.desk.records.extend(self.desk.machine.handle(Woke(), self.desk.now).updates)

    @rule()
    def dispatcher_restarts(self) -> None:
        self.desk = Desk(records=self.desk.records)

    @rule()
    def journal_is_compacted(self) -> None:
        self.desk.records = list(shorten(self.desk.records))

    @precondition(lambda self: self.desk.records)
    @rule(data=st.data())
    def dispatcher_restarts_in_the_middle_of_a_step(self, data: st.DataObject) -> None:
        """The newest records were not durable yet; those who hold what they say start again too."""
        kept = len(self.desk.records) - data.draw(st.integers(0, 3))
        snapshot = sum(isinstance(update, u.ReserveIds) for update in self.desk.records[kept:])
        if not snapshot:
            self.desk = Desk(records=self.desk.records[:kept])
            self.readers = list(self.desk.machine.state.clients)
            self.time_passes(0)

    @invariant()
    def folding_gives_the_state(self) -> None:
        assert fold(self.desk) == self.desk.machine.state

    @invariant()
    def the_shortest_history_gives_the_state_in_its_order(self) -> None:
        again = DispatcherState()
        for update in history(self.desk.machine.state):
            again.apply(update)
        assert repr(again) == repr(self.desk.machine.state)

    @invariant()
    def nothing_is_kept_of_what_is_over(self) -> None:
        state = self.desk.machine.state
        assert {task.iteration_id for task in state.tasks.values()} <= set(state.iterations)
        assert {lane.iteration_id for lane in state.lanes.values()} <= set(state.iterations)
        assert {i for job in state.jobs.values() for i in job.iterations.values()} == set(state.iterations)
        assert {i for worker in state.workers.values() for i in worker.tasks} <= set(state.tasks)
        for iteration in state.iterations.values():
            assert iteration.clients or not iteration.released or not state.job_of(iteration).anonymous


Recovery.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestRecovery = Recovery.TestCase
