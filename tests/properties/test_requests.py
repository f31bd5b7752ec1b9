"""No request, however senseless, ends the node that it is sent to."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Asked, Call, Event, Failed, Machine, Produce, Produced, Reply, Role, Woke
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import MILLISECOND, Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Ended, Hungry, Production
from tfsvc.protocol.settings import DispatcherSettings, WorkerSettings
from tfsvc.protocol.splits import ORIGIN, SplitPlan
from tfsvc.protocol.worker.machine import Worker

IDS = st.sampled_from([1000, 2000, 3000, 3001, 4000, 4001, 5000, 6000, 6001])
NUMBERS = st.one_of(IDS, st.integers(-2, 3), st.sampled_from([-(2**63), 2**63 - 1]))
TEXTS = st.sampled_from(["", "1000", "w", "d", "nonsense"])


@pytest.fixture(autouse=True, scope="module")
def _small_values() -> Any:
    st.register_type_strategy(int, NUMBERS)
    st.register_type_strategy(str, TEXTS)
    st.register_type_strategy(bytes, st.sampled_from([b"", b"p"]))
    yield
    for kind, plain in ((int, st.integers()), (str, st.text()), (bytes, st.binary())):
        st.register_type_strategy(kind, plain)


REQUESTS = st.one_of([st.from_type(kind) for kind in get_args(m.Request)])


PLANS = (SplitPlan(10), SplitPlan(None))
DATASET = m.DatasetDef(program=b"p", plans=PLANS)
DYNAMIC = m.ProcessingModeDef(m.ShardingPolicy.DYNAMIC)
FOR_A_DISPATCHER = [
    m.GetOrRegisterDatasetRequest(DATASET),
    m.WorkerHeartbeatRequest("w", (m.DataTransferServerInfo("tfsvc", "w"),), incarnation=1, interval_ns=1),
    m.GetOrCreateJobRequest("1000", DYNAMIC, nonce="job"),
    m.GetOrCreateIterationRequest(5000, 0, nonce="reader"),
    m.ClientHeartbeatRequest(3000, reads_lanes=True),
]
"""So that the ids below mean something."""
FOR_A_WORKER = [
    m.ProcessTaskRequest(m.TaskDef(DATASET, None, "1000", 4000, 2000, 2, "w", DYNAMIC)),
    m.ProcessTaskRequest(m.TaskDef(DATASET, None, "1000", 4001, 2000, 0, "w")),
]


def _play(role: Role, requests: list[Any], luck: int) -> None:
    """Asks one after the other; calls of the node fail, its pipelines give nothing."""
    machine: Machine = Gate(role)
    now = 0
    events: list[Event] = [Woke()]
    for number, request in enumerate(requests):
        events.append(Asked(CallId("peer", 1, number), Address("peer"), request))
        for _ in range(30):
            if not events:
                break
            now += 1 + (MILLISECOND << (luck + number) % 15)
            asked = isinstance(event := events.pop(0), Asked)
            replies = 0
            for command in machine.handle(event, now):
                match command:
                    case Call(call):
                        events.append(Failed(call, RpcError(Code.UNAVAILABLE, "nobody is there")))
                    case Produce(producer):
                        status = Ended() if luck % 2 else Hungry(0, ORIGIN)
                        events.append(Produced(producer, Production((), status, (ORIGIN,))))
                    case Reply():
                        replies += 1
            assert not asked or replies <= 1
            if machine.deadline() <= now:
                events.append(Woke())
    machine.view()


@given(st.lists(REQUESTS, max_size=25), st.integers(0, 30))
@settings(max_examples=200)
def test_a_dispatcher_answers_whatever_it_is_asked(requests: list[Any], luck: int) -> None:
    dispatcher = Dispatcher(DispatcherSettings(), "d", 1, Luck(0, "d"))
    _play(dispatcher, [*FOR_A_DISPATCHER, *requests], luck)


@given(st.lists(REQUESTS, max_size=25), st.integers(0, 30))
@settings(max_examples=200)
def test_a_worker_answers_whatever_it_is_asked(requests: list[Any], luck: int) -> None:
    _play(Worker(WorkerSettings("w", "d"), 1, Luck(0, "w")), [*FOR_A_WORKER, *requests], luck)
