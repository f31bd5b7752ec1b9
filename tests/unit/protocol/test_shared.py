"""A whole task read by several readers: everything reaches somebody, and nobody waits for ever."""

from __future__ import annotations

import pytest

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Asked, Call, Produce, Produced, Reply, Woke
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import SECOND, Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Broken, Ended, Production
from tfsvc.protocol.settings import WorkerSettings
from tfsvc.protocol.worker.machine import Worker
from tfsvc.protocol.worker.shared import FORGOTTEN_NS, TELL_NS

TASK = 4000


class Bench:
    """A worker with one task, whose pipeline gives two frames and ends."""

    def __init__(self) -> None:
        self.machine = Worker(WorkerSettings("w", "d"), 1, Luck(0, "w"))
        self.now = SECOND
        self.answers: dict[int, object] = {}
        self.completed: list[int] = []
        self._seq = 0
        self._handle(self._asked(m.ProcessTaskRequest(m.TaskDef(m.DatasetDef(program=b"p"), task_id=TASK))))

    def read(self, client_id: int, ordinal: int, bytes_max: int = 1) -> int:
        """Asks for frames; gives the question's number, under which the answer comes."""
        event = self._asked(m.GetFramesRequest(TASK, client_id=client_id, ordinal=ordinal, bytes_max=bytes_max))
        self._handle(event)
        return event.call.seq

    def produce(self) -> None:
        frames = (Frame(0, 5, b"a"), Frame(5, 5, b"b"))
        self._handle(Produced(1, Production(frames, Ended())))

    def fail(self, error: RpcError) -> None:
        self._handle(Produced(1, Production((Frame(0, 5, b"a"),), Broken(error))))

    def element(self) -> int:
        """Asks for an element, as a reader of TensorFlow's does."""
        event = self._asked(m.GetElementRequest(TASK))
        self._handle(event)
        return event.call.seq

    def wait(self, ns: int) -> None:
        self.now += ns
        self._handle(Woke())

    def _asked(self, request: m.Request) -> Asked:
        self._seq += 1
        return Asked(CallId("reader", 1, self._seq), Address("reader"), request)

    def _handle(self, event: Asked | Produced | Woke) -> None:
        for word in self.machine.handle(event, self.now).words:
            match word:
                case Reply(call, answer):
                    self.answers[call.seq] = answer
                case Call(_, _, m.WorkerUpdateRequest(_, updates)):
                    self.completed += [update.task_id for update in updates]
                case Produce() | Call():
                    pass


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_end_is_told_once_every_reader_has_what_it_was_sent(bench: Bench) -> None:
    one, other = bench.read(1, 0), bench.read(2, 0)
    bench.produce()
    assert bench.answers[one] == m.GetFramesResponse((Frame(0, 5, b"a"),))
    assert bench.answers[other] == m.GetFramesResponse((Frame(0, 5, b"b"),))
    waiting = bench.read(1, 5)
    assert waiting not in bench.answers, "what the other reader was sent may still come back"
    bench.read(2, 5)
    assert bench.answers[waiting] == m.GetFramesResponse(end_of_stream=True)
    assert bench.completed == [TASK]


def test_what_a_reader_that_left_was_sent_goes_to_the_others(bench: Bench) -> None:
    bench.read(1, 0)
    bench.read(2, 0)
    bench.produce()
    bench.read(1, 5)
    bench.wait(FORGOTTEN_NS)
    again = bench.read(1, 5)
    assert bench.answers[again] == m.GetFramesResponse((Frame(5, 5, b"b"),), end_of_stream=True)
    bench.read(1, 10, bytes_max=0)
    assert bench.completed == [TASK]


def test_why_a_pipeline_cannot_go_on_reaches_every_reader(bench: Bench) -> None:
    error = RpcError(Code.INVALID_ARGUMENT, "no such file")
    first = bench.read(1, 0)
    bench.fail(error)
    assert bench.answers[first] == m.GetFramesResponse((Frame(0, 5, b"a"),))
    second = bench.read(2, 0)
    assert bench.answers[second].frames == (Frame(0, 1, b"", error),)
    third = bench.read(1, 5)
    assert bench.answers[third].frames == (Frame(5, 1, b"", error),)
    bench.read(1, 6, 0)
    bench.read(2, 1, 0)
    assert bench.completed == []
    late = bench.read(3, 0)
    assert bench.answers[late] == m.GetFramesResponse((Frame(0, 1, b"", error),), end_of_stream=True)
    bench.read(3, 1, 0)
    bench.wait(TELL_NS)
    assert bench.completed == [TASK]


def test_readers_of_single_elements_are_all_told_too(bench: Bench) -> None:
    error = RpcError(Code.INVALID_ARGUMENT, "no such file")
    waiting = bench.element()
    bench._handle(Produced(1, Production((), Broken(error))))
    assert bench.answers[waiting] == error
    for _ in range(2):
        assert bench.answers[bench.element()] == error
    assert bench.completed == []
