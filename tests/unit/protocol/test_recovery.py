"""A dispatcher that restarts: it remembers what was durable, and completes what was cut short."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.unit.protocol.conftest import Desk
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Woke
from tfsvc.protocol.dispatcher.state import DispatcherState
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

    @rule(worker=st.integers(0, 2), incarnation=st.integers(1, 3))
    def worker_beats(self, worker: int, incarnation: int) -> None:
        servers = (m.DataTransferServerInfo("tfsvc", f"w{worker}"),)
        beat = m.WorkerHeartbeatRequest(f"w{worker}", servers, incarnation=incarnation, interval_ns=SECOND)
        self.ask(beat)

    @rule(name=st.sampled_from([None, "a", "b"]), policy=st.sampled_from([DYNAMIC, m.ShardingPolicy.OFF]))
    def reader_opens(self, name: str | None, policy: m.ShardingPolicy) -> None:
        dataset_id = self.desk.register(count=20)
        label = None if name is None else f"{name}/{policy.name}"
        self.readers.append(self.desk.reader(dataset_id, policy, label))

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
        self.ask(m.ClientHeartbeatRequest(reader, reads_lanes=True, progress=progress, complaints=complaints))

    @precondition(lambda self: self.desk.machine.state.lanes)
    @rule(data=st.data(), wanted=st.integers(0, 9))
    def worker_leases(self, data: st.DataObject, wanted: int) -> None:
        state = self.desk.machine.state
        lane = data.draw(st.sampled_from(sorted(state.lanes)))
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

    @invariant()
    def folding_gives_the_state(self) -> None:
        assert fold(self.desk) == self.desk.machine.state


Recovery.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestRecovery = Recovery.TestCase
