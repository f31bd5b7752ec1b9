"""A reader alone: what it says again, and what it ignores."""

from __future__ import annotations

from typing import TypeVar

import pytest

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.machine import RELEASE_TIMEOUT_NS, STAKE_TIMEOUT_NS, Client
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.contract import Answered, Call, Event, Failed, Finish, Note, Stopped, Wanted, Woke
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import SECOND, Address
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import DataTransferServerInfo, ShardingPolicy
from tfsvc.protocol.reading import Batch, EndOfData, Taken
from tfsvc.protocol.settings import ClientSettings

UNREACHABLE = RpcError(Code.UNAVAILABLE, "connection refused")
LOST = RpcError(Code.DEADLINE_EXCEEDED, "no answer in time", Outcome.UNKNOWN)
T = TypeVar("T", bound=m.Request)


class Chair:
    """A reader whose calls are answered by hand."""

    def __init__(
        self,
        policy: ShardingPolicy = ShardingPolicy.OFF,
        streams_max: int | None = None,
        job_name: str | None = None,
        target: m.TargetWorkers = m.TargetWorkers.AUTO,
    ) -> None:
        settings = ClientSettings("d", streams_max=streams_max)
        request = ReadRequest("1000", policy, job_name, target_workers=target)
        self.machine = Client(request, settings, "r", 1, Luck(0, "r"))
        self.now = SECOND
        self.calls: list[Call] = []
        self.finished: list[Finish] = []
        self.notes: list[Note] = []
        self.handle(Wanted(1, ()))

    def handle(self, event: Event) -> None:
        for word in self.machine.handle(event, self.now).words:
            if isinstance(word, Call):
                self.calls.append(word)
            elif isinstance(word, Note):
                self.notes.append(word)
            elif isinstance(word, Finish):
                self.finished.append(word)

    def wait(self) -> None:
        """Until the machine wants to be woken."""
        self.now = max(self.now, self.machine.deadline())
        self.handle(Woke())

    def asked(self, kind: type[T]) -> tuple[Call, T]:
        """Takes the oldest open call of a kind."""
        call = next(call for call in self.calls if isinstance(call.request, kind))
        self.calls.remove(call)
        assert isinstance(call.request, kind)
        return call, call.request

    def answer(self, kind: type[m.Request], response: m.Response) -> None:
        self.handle(Answered(self.asked(kind)[0].call, response))

    def fail(self, kind: type[m.Request], error: RpcError) -> None:
        self.handle(Failed(self.asked(kind)[0].call, error))

    def open(self, tasks: int = 1) -> None:
        """Until it reads some tasks, each of one worker."""
        self.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000))
        self.answer(m.GetOrCreateIterationRequest, m.GetOrCreateIterationResponse(3000))
        self.hear(tasks)

    def hear(self, tasks: int) -> None:
        """The dispatcher says which tasks there are."""
        names = [f"w{i}" for i in range(tasks)]
        infos = tuple(
            m.TaskInfo(name, (DataTransferServerInfo("tfsvc", name),), task_id=4000 + i) for i, name in enumerate(names)
        )
        self.answer(m.ClientHeartbeatRequest, m.ClientHeartbeatResponse(infos))


@pytest.fixture
def chair() -> Chair:
    return Chair()


def test_word_that_everything_was_received_is_sent_again_when_it_was_lost(chair: Chair) -> None:
    chair.open()
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((Frame(0, 3, b"abc"),), end_of_stream=True))
    chair.fail(m.GetFramesRequest, LOST)
    chair.wait()
    _, again = chair.asked(m.GetFramesRequest)
    assert (again.ordinal, again.bytes_max) == (3, 0)


def test_a_reader_that_leaves_tries_for_a_while_to_say_so(chair: Chair) -> None:
    chair.open()
    chair.handle(Stopped(9))
    left_at = chair.now
    while chair.now < left_at + RELEASE_TIMEOUT_NS:
        assert Finish(9, None) not in chair.finished
        chair.fail(m.ReleaseIterationClientRequest, UNREACHABLE)
        chair.wait()
    assert chair.finished[-1] == Finish(9, None)


def reads_a_lane(job_name: str | None) -> Chair:
    """A reader that was given the lane's elements 5, 6 and 7."""
    chair = Chair(ShardingPolicy.DYNAMIC, job_name=job_name)
    chair.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000))
    chair.answer(m.GetOrCreateIterationRequest, m.GetOrCreateIterationResponse(3000))
    lane = m.LaneInfo(lane_id=7000, attempt=1, task_id=4000, worker_address="w", ordinal=5)
    chair.answer(m.ClientHeartbeatRequest, m.ClientHeartbeatResponse(lanes=(lane,)))
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((Frame(5, 3, b"abc"),)))
    return chair


@pytest.mark.parametrize(
    ("job_name", "taken", "patience_ns"),
    [("shared", 7, STAKE_TIMEOUT_NS), ("shared", 5, RELEASE_TIMEOUT_NS), (None, 7, RELEASE_TIMEOUT_NS)],
)
def test_a_reader_tries_longer_to_say_goodbye_where_others_would_get_elements_again(job_name, taken, patience_ns):
    chair = reads_a_lane(job_name)
    stream = next(f.result for f in chair.finished if isinstance(f.result, Batch)).stream
    chair.handle(Stopped(9, (Taken(stream, taken),)))
    left_at = chair.now
    while not any(f.token == 9 for f in chair.finished):
        chair.fail(m.ReleaseIterationClientRequest, UNREACHABLE)
        chair.wait()
    assert chair.now == left_at + patience_ns


def test_a_reader_that_leaves_unheard_says_what_may_come_of_it():
    chair = reads_a_lane("shared")
    stream = next(f.result for f in chair.finished if isinstance(f.result, Batch)).stream
    chair.handle(Stopped(9, (Taken(stream, 7),)))
    call, goodbye = chair.asked(m.ReleaseIterationClientRequest)
    assert goodbye.progress == (m.LaneProgress(7000, 7),)
    chair.handle(Failed(call.call, RpcError(Code.NOT_FOUND, "Unknown iteration client id 3000")))
    warning = (
        "the dispatcher at d could not be told what was taken last; other readers of job 'shared' may get up to 2 "
        "elements again"
    )
    assert chair.notes == [Note("warning", warning)]
    assert chair.finished[-1] == Finish(9, RpcError(Code.UNAVAILABLE, warning))


def test_a_reader_that_leaves_while_it_opens_stays_away(chair: Chair) -> None:
    chair.handle(Stopped(9))
    chair.wait()
    assert Finish(9, None) in chair.finished
    chair.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000))
    chair.handle(Woke())
    assert not chair.calls


def test_streams_take_turns_when_not_all_may_fetch() -> None:
    """Two workers without elements at hand must not keep a third from being read."""
    chair = Chair(streams_max=2)
    chair.open(tasks=3)
    asked = []
    for _ in range(6):
        call, request = chair.asked(m.GetFramesRequest)
        asked.append(request.task_id)
        chair.handle(Answered(call.call, m.GetFramesResponse()))
    assert asked == [4000, 4001, 4002, 4000, 4001, 4002]


def test_a_stream_that_may_not_fetch_gives_back_all_the_same() -> None:
    """A worker takes a reader that does not say that it got its frames for one that is gone."""
    chair = Chair(streams_max=1)
    chair.open(tasks=2)
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((Frame(0, 3, b"abc"),)))
    requests = [chair.asked(m.GetFramesRequest)[1] for _ in range(2)]
    assert [(r.task_id, r.ordinal, r.bytes_max > 0) for r in requests] == [(4001, 0, True), (4000, 3, False)]


def test_a_reader_that_leaves_while_it_is_let_in_still_says_goodbye():
    chair = Chair()
    chair.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000))
    chair.handle(Stopped(2, ()))
    assert [f.token for f in chair.finished] == []
    chair.answer(m.GetOrCreateIterationRequest, m.GetOrCreateIterationResponse(3000))
    call, request = chair.asked(m.ReleaseIterationClientRequest)
    assert request.iteration_client_id == 3000
    chair.handle(Answered(call.call, m.ReleaseIterationClientResponse()))
    assert sorted(f.token for f in chair.finished) == [1, 2]


def test_a_reader_that_leaves_does_not_wait_for_a_door_that_stays_shut():
    chair = Chair()
    chair.handle(Stopped(2, ()))
    chair.fail(m.GetOrCreateJobRequest, UNREACHABLE)
    assert sorted(f.token for f in chair.finished) == [1, 2]
    assert chair.machine.deadline() > chair.now


def test_news_of_a_task_that_is_over_is_asked_for_at_once():
    chair = Chair()
    chair.open()
    chair.fail(m.GetFramesRequest, RpcError(Code.FAILED_PRECONDITION, "Task 4000 is over."))
    chair.wait()
    before = chair.now
    assert any(isinstance(call.request, m.ClientHeartbeatRequest) for call in chair.calls)
    assert before - SECOND < SECOND // 10


def warnings(chair: Chair) -> list[str]:
    return [note.text for note in chair.notes if note.level == "warning"]


def test_a_reader_without_workers_says_what_it_waits_for():
    chair = Chair()
    chair.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000))
    chair.answer(m.GetOrCreateIterationRequest, m.GetOrCreateIterationResponse(3000))
    for _ in range(20):
        chair.answer(m.ClientHeartbeatRequest, m.ClientHeartbeatResponse())
        chair.wait()
    assert chair.now > 3 * SECOND
    assert "no worker of the dispatcher at d can run the dataset" in warnings(chair)[0]


def test_a_reader_that_comes_to_an_end_that_others_had_says_so():
    chair = Chair(job_name="epoch")
    chair.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000))
    chair.answer(m.GetOrCreateIterationRequest, m.GetOrCreateIterationResponse(3000))
    task = m.TaskInfo("w", task_id=4000, finished=True)
    chair.answer(m.ClientHeartbeatRequest, m.ClientHeartbeatResponse((task,), iteration_finished=True))
    (warning,) = warnings(chair)
    assert "have read pass 0 of job 'epoch' to its end; nothing is left of it" in warning
    assert "job_name of its own" in warning


def test_a_reader_of_another_dataset_than_the_jobs_is_told_twice_where_nothing_is_left_of_it():
    chair = Chair(job_name="epoch")
    chair.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000, "job 'epoch' was made for dataset 1"))
    assert warnings(chair) == ["job 'epoch' was made for dataset 1"]
    chair.answer(m.GetOrCreateIterationRequest, m.GetOrCreateIterationResponse(3000))
    task = m.TaskInfo("w", task_id=4000, finished=True)
    chair.answer(m.ClientHeartbeatRequest, m.ClientHeartbeatResponse((task,), iteration_finished=True))
    assert chair.notes[-1].level == "error"
    assert (
        "nothing is left of it. Give each run a job_name of its own. Beside that, job 'epoch'" in chair.notes[-1].text
    )


def test_elements_that_come_again_are_counted_and_told_at_the_end(chair: Chair) -> None:
    chair.open()
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((Frame(0, 4, b"abcd"),)))
    chair.handle(Wanted(2, ()))
    chair.answer(m.GetFramesRequest, m.GetFramesResponse())
    chair.wait()
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((Frame(2, 4, b"cdef"),), end_of_stream=True))
    assert chair.machine.view().repeated == 2
    chair.handle(Wanted(3, ()))
    chair.wait()
    chair.answer(m.ClientHeartbeatRequest, m.ClientHeartbeatResponse(iteration_finished=True))
    assert [note.text for note in chair.notes] == ["2 elements came again, since work had moved, and were passed over"]


def test_a_reader_that_passes_workers_by_ends_when_its_own_have() -> None:
    chair = Chair(target=m.TargetWorkers.LOCAL)
    chair.handle(Wanted(1, (), (Address("w1"),)))
    chair.open(3)
    call, _ = chair.asked(m.GetFramesRequest)
    assert call.peer == "w1"
    assert not any(isinstance(call.request, m.GetFramesRequest) for call in chair.calls)
    chair.handle(Answered(call.call, m.GetFramesResponse((), end_of_stream=True)))
    assert chair.finished == [Finish(1, EndOfData())]


def test_news_of_a_worker_nearby_are_told_at_once() -> None:
    chair = Chair(target=m.TargetWorkers.LOCAL)
    chair.open(2)
    assert not chair.finished
    chair.handle(Wanted(1, (), (Address("w0"),)))
    _, beat = chair.asked(m.ClientHeartbeatRequest)
    assert beat.nearby == ("w0",)


def test_a_dispatcher_that_is_gone_does_not_keep_a_reader_from_the_end_of_whole_tasks(chair: Chair) -> None:
    chair.open()
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((), end_of_stream=True))
    while not chair.finished:
        chair.wait()
        if any(isinstance(call.request, m.ClientHeartbeatRequest) for call in chair.calls):
            chair.fail(m.ClientHeartbeatRequest, UNREACHABLE)
    (finish,) = chair.finished
    assert isinstance(finish.result, EndOfData)
    assert "did not answer for 3600 s" in finish.result.warning
    chair.handle(Stopped(2))


def test_who_cannot_know_that_all_was_read_is_given_an_error() -> None:
    chair = Chair(ShardingPolicy.DYNAMIC)
    chair.answer(m.GetOrCreateJobRequest, m.GetOrCreateJobResponse(5000))
    chair.answer(m.GetOrCreateIterationRequest, m.GetOrCreateIterationResponse(3000, has_lanes=True))
    while not chair.finished:
        if any(isinstance(call.request, m.ClientHeartbeatRequest) for call in chair.calls):
            chair.fail(m.ClientHeartbeatRequest, UNREACHABLE)
        chair.wait()
    (finish,) = chair.finished
    assert isinstance(finish.result, RpcError)
