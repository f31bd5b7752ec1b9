"""Machines alone: what happened goes in, what to do comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Asked, Reply, Word
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.protocol.splits import SplitPlan
from tfsvc.protocol.updates import Update


def servers(address: str) -> tuple[m.DataTransferServerInfo, ...]:
    """How elements are fetched from a worker of ours."""
    return m.DataTransferServerInfo("grpc", address), m.DataTransferServerInfo("tfsvc", address)


class Desk:
    """A dispatcher that is asked one thing after the other, each a millisecond after the last."""

    def __init__(self, settings: DispatcherSettings | None = None, records: Sequence[Update] = ()) -> None:
        self.settings = settings or DispatcherSettings()
        self.machine = Dispatcher(self.settings, "d", 1, Luck(0, "d"), records)
        self.now = 1_000_000
        self.records: list[Update] = list(records)
        self.words: list[Word] = []
        self._seq = 0

    def ask(self, request: m.Request) -> Any:
        """The answer; other words of the step are kept in ``words``."""
        self.now += 1_000_000
        self._seq += 1
        call = CallId("peer", 1, self._seq)
        step = self.machine.handle(Asked(call, Address("peer"), request), self.now)
        self.records.extend(step.updates)
        answers = [w.answer for w in step.words if isinstance(w, Reply) and w.call == call]
        self.words = [w for w in step.words if not isinstance(w, Reply)]
        assert len(answers) == 1, "a question is answered once"
        return answers[0]

    def refused(self, request: m.Request) -> RpcError:
        answer = self.ask(request)
        assert isinstance(answer, RpcError), answer
        return answer

    def worker(self, address: str, incarnation: int = 1, **more: Any) -> m.WorkerHeartbeatResponse:
        """A heartbeat of a worker of ours."""
        said = {"incarnation": incarnation, "interval_ns": 1_000_000_000, **more}
        answer = self.ask(m.WorkerHeartbeatRequest(address, servers(address), **said))
        assert isinstance(answer, m.WorkerHeartbeatResponse), answer
        return answer

    def register(self, count: int | None = 10) -> str:
        definition = m.DatasetDef(program=b"p", plans=(SplitPlan(count),))
        answer = self.ask(m.GetOrRegisterDatasetRequest(definition))
        return str(answer.dataset_id)

    def reader(
        self, dataset_id: str, policy: m.ShardingPolicy, job_name: str | None = None, repetition: int = 0
    ) -> int:
        """Opens an iteration; gives the reader's id."""
        job = self.ask(m.GetOrCreateJobRequest(dataset_id, m.ProcessingModeDef(policy), job_name))
        return int(self.ask(m.GetOrCreateIterationRequest(job.job_id, repetition)).iteration_client_id)

    def beat(self, client_id: int, *progress: m.LaneProgress, **more: Any) -> m.ClientHeartbeatResponse:
        """A heartbeat of a reader of ours."""
        answer = self.ask(m.ClientHeartbeatRequest(client_id, reads_lanes=True, progress=progress, **more))
        assert isinstance(answer, m.ClientHeartbeatResponse), answer
        return answer


@pytest.fixture
def desk() -> Desk:
    return Desk()
