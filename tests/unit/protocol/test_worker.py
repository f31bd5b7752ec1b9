"""The worker alone: what it asks, runs and gives, event by event."""

from __future__ import annotations

from typing import Any

import pytest

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    Answered,
    Asked,
    Call,
    Discard,
    Event,
    Exit,
    Failed,
    Note,
    Produce,
    Produced,
    Reply,
    Woke,
    Word,
)
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Encoding, Ended, Hungry, Production, Ready
from tfsvc.protocol.settings import WorkerSettings
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPlan, SplitPosition
from tfsvc.protocol.worker.machine import Worker

MS = 1_000_000
DATASET = m.DatasetDef(program=b"p", plans=(SplitPlan(100),))


def at(offset: int) -> SplitPosition:
    return SplitPosition(0, offset)


class Bench:
    """A worker on a bench; keeps the words of the last step."""

    def __init__(self) -> None:
        self.worker = Worker(WorkerSettings("w", "d", buffer_bytes=1000), 7, Luck(0, "w"))
        self.now = 1
        self.words: list[Word] = []
        self._seq = 0

    def tell(self, event: Event, later_ns: int = MS) -> None:
        self.now += later_ns
        self.words = list(self.worker.handle(event, self.now).words)

    def ask(self, request: m.Request) -> CallId:
        self._seq += 1
        call = CallId("peer", 1, self._seq)
        self.tell(Asked(call, Address("peer"), request))
        return call

    def the(self, kind: type) -> Any:
        """The one word of that kind."""
        found = [word for word in self.words if isinstance(word, kind)]
        assert len(found) == 1, self.words
        return found[0]

    def asked(self, kind: type) -> Call:
        found = [word for word in self.words if isinstance(word, Call) and isinstance(word.request, kind)]
        assert len(found) == 1, self.words
        return found[0]

    def register(self, *tasks: m.TaskDef) -> None:
        self.tell(Woke())
        self.tell(Answered(self.asked(m.WorkerHeartbeatRequest).call, m.WorkerHeartbeatResponse(tasks)))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def task(**more: Any) -> m.TaskDef:
    return m.TaskDef(dataset_def=DATASET, dataset_id="1000", task_id=4000, iteration_id=2000, **more)


def frames(*counts: int, start: int = 0) -> tuple[Frame, ...]:
    made = []
    for count in counts:
        made.append(Frame(start, count, b"x" * count))
        start += count
    return tuple(made)


def open_lane(bench: Bench) -> CallId:
    """A reader has asked for a lane that the dispatcher has opened; the pipeline is running."""
    bench.register(task())
    read = bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 0, 100))
    opened = m.OpenLaneResponse(Checkpoint(), (Lease(0, at(0), (Span(0, 16),)),))
    bench.tell(Answered(bench.asked(m.OpenLaneRequest).call, opened))
    return read


def test_it_reports_at_once_and_then_every_second(bench):
    bench.register()
    assert bench.worker.view().registered
    assert bench.worker.deadline() == bench.now - MS + 1000 * MS


def test_a_reader_that_is_faster_than_the_dispatcher_is_told_to_ask_again(bench):
    bench.register()
    bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 0, 100))
    assert bench.the(Reply).answer.code == Code.UNAVAILABLE
    assert bench.worker.deadline() <= bench.now + 20 * MS


def test_a_task_starts_nothing_before_a_reader_asks(bench):
    bench.register()
    bench.ask(m.ProcessTaskRequest(task()))
    assert [type(word) for word in bench.words] == [Reply]


def test_a_lane_is_opened_and_run_for_its_reader(bench):
    read = open_lane(bench)
    produce = bench.the(Produce)
    assert produce.recipe.providers == 1
    assert produce.leases == (Lease(0, at(0), (Span(0, 16),)),)
    bench.tell(Produced(produce.producer, Production(frames(16), Ready(), (at(16),))))
    reply = bench.the(Reply)
    assert reply.call == read
    assert reply.answer == m.GetFramesResponse(frames(16), False)
    assert bench.asked(m.LeaseSplitsRequest).request == m.LeaseSplitsRequest(6000, 1, 0, at(16), 64, None)


def test_a_frame_is_given_again_until_the_reader_has_gone_past_it(bench):
    open_lane(bench)
    producer = bench.the(Produce).producer
    bench.tell(Produced(producer, Production(frames(8, 8), Ready(), (at(16),))))
    bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 0, 100))
    assert bench.the(Reply).answer.frames == frames(8)
    bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 8, 100))
    assert bench.the(Reply).answer.frames == frames(8, start=8)


def test_a_read_with_nothing_to_give_is_held_and_then_answered_empty(bench):
    open_lane(bench)
    assert not [word for word in bench.words if isinstance(word, Reply)]
    bench.tell(Woke(), 1001 * MS)
    assert bench.the(Reply).answer == m.GetFramesResponse()


def test_the_pipeline_rests_while_its_reader_is_slow(bench):
    open_lane(bench)
    produce = bench.the(Produce)
    bench.tell(Produced(produce.producer, Production((Frame(0, 1, b"x" * 990),), Ready(), (at(1),))))
    assert not [word for word in bench.words if isinstance(word, Produce)]
    bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 1, 100))
    assert bench.the(Produce).producer == produce.producer


def test_a_hungry_pipeline_waits_for_its_splits(bench):
    open_lane(bench)
    producer = bench.the(Produce).producer
    bench.tell(Produced(producer, Production(frames(16), Hungry(0, at(16)), (at(16),))))
    lease = bench.asked(m.LeaseSplitsRequest)
    assert not [word for word in bench.words if isinstance(word, Produce)]
    given = m.LeaseSplitsResponse(Lease(0, at(16), (Span(16, 80),)))
    bench.tell(Answered(lease.call, given))
    assert bench.the(Produce).leases == (given.lease,)


def test_how_much_is_wanted_goes_by_how_fast_the_splits_that_came_were_read(bench):
    open_lane(bench)
    producer = bench.the(Produce).producer
    bench.tell(Produced(producer, Production(frames(16), Hungry(0, at(16)), (at(16),))))
    assert bench.asked(m.LeaseSplitsRequest).request.wanted == 64
    # Few came of those that were wanted, and were read in a short time; so many would have taken long.
    for begin, took_ms, wanted in ((16, 20, 64), (20, 40, 32), (24, 4, 128)):
        bench.tell(
            Answered(
                bench.asked(m.LeaseSplitsRequest).call,
                m.LeaseSplitsResponse(Lease(0, at(begin), (Span(begin, begin + 4),))),
            )
        )
        more = Production(frames(4, start=begin), Hungry(0, at(begin + 4)), (at(begin + 4),))
        bench.tell(Produced(producer, more), took_ms * MS)
        assert bench.asked(m.LeaseSplitsRequest).request.wanted == wanted


def test_a_lease_that_nobody_answered_is_asked_again(bench):
    open_lane(bench)
    bench.tell(Produced(bench.the(Produce).producer, Production(frames(16), Hungry(0, at(16)), (at(16),))))
    first = bench.asked(m.LeaseSplitsRequest)
    bench.tell(Failed(first.call, RpcError(Code.DEADLINE_EXCEEDED, "late", Outcome.UNKNOWN)))
    bench.tell(Woke(), 20 * MS)
    assert bench.asked(m.LeaseSplitsRequest).request == first.request


def test_a_lane_that_moved_on_is_dropped(bench):
    open_lane(bench)
    produce = bench.the(Produce)
    bench.tell(Produced(produce.producer, Production(frames(16), Hungry(0, at(16)), (at(16),))))
    over = RpcError(Code.FAILED_PRECONDITION, "attempt 1 is over")
    bench.tell(Failed(bench.asked(m.LeaseSplitsRequest).call, over))
    assert bench.the(Discard) == Discard(produce.producer)
    bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 16, 100))
    assert bench.the(Reply).answer == over


def test_an_older_attempt_is_refused_and_a_newer_one_starts_anew(bench):
    open_lane(bench)
    bench.ask(m.GetFramesRequest(4000, 6000, 2, 3000, 0, 100))
    assert bench.asked(m.OpenLaneRequest).request.attempt == 2
    bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 0, 100))
    assert bench.the(Reply).answer.code == Code.FAILED_PRECONDITION


def test_the_end_is_told_with_the_last_frame_and_again(bench):
    open_lane(bench)
    bench.tell(Produced(bench.the(Produce).producer, Production(frames(16), Ended(), (at(16),))))
    assert bench.the(Reply).answer == m.GetFramesResponse(frames(16), True)
    bench.ask(m.GetFramesRequest(4000, 6000, 1, 3000, 16, 0))
    assert bench.the(Reply).answer == m.GetFramesResponse((), True)


def test_the_newest_checkpoint_travels_with_the_next_lease(bench):
    open_lane(bench)
    checkpoint = Checkpoint(16, (at(16),), b"s")
    production = Production(frames(16), Ready(), (at(16),), checkpoint)
    bench.tell(Produced(bench.the(Produce).producer, production))
    assert bench.asked(m.LeaseSplitsRequest).request.checkpoint == checkpoint


def test_tensorflow_readers_get_one_element_at_a_time(bench):
    bench.register(task(compressed=True))
    bench.ask(m.GetElementRequest(4000, allow_skip=True))
    assert bench.the(Reply).answer == m.GetElementResponse(skip_task=True)
    produce = bench.the(Produce)
    assert (produce.recipe.encoding, produce.recipe.compressed) == (Encoding.ELEMENTS, True)
    bench.tell(Produced(produce.producer, Production((Frame(0, 1, b"a"), Frame(1, 1, b"b")), Ended())))
    for element, index in ((b"a", 0), (b"b", 1)):
        bench.ask(m.GetElementRequest(4000))
        assert bench.the(Reply).answer == m.GetElementResponse(element, index)
    bench.ask(m.GetElementRequest(4000))
    assert bench.the(Reply).answer == m.GetElementResponse(end_of_sequence=True)
    assert bench.asked(m.WorkerUpdateRequest).request.updates == (m.TaskProgress(4000, True),)


def test_a_tensorflow_reader_of_a_dynamic_task_is_fed_split_by_split(bench):
    bench.register(task(num_split_providers=1))
    bench.ask(m.GetElementRequest(4000))
    producer = bench.the(Produce).producer
    bench.tell(Produced(producer, Production((), Hungry(0, at(0)), (at(0),))))
    call = bench.asked(m.GetSplitRequest)
    assert call.request == m.GetSplitRequest(2000, 0, 0)
    bench.tell(Answered(call.call, m.GetSplitResponse(split=5)))
    assert bench.the(Produce).leases == (Lease(0, at(0), (Span(5, 6),)),)


def test_a_task_that_is_deleted_ends_its_streams(bench):
    read = open_lane(bench)
    bench.tell(Woke(), 1000 * MS)
    beat = bench.asked(m.WorkerHeartbeatRequest)
    assert beat.request.current_tasks == (4000,)
    bench.tell(Answered(beat.call, m.WorkerHeartbeatResponse((), (4000,))))
    assert isinstance(bench.the(Discard), Discard)
    bench.ask(m.GetElementRequest(4000))
    assert bench.the(Reply).answer == m.GetElementResponse(end_of_sequence=True)
    assert read


def test_a_worker_that_was_replaced_stops_reporting(bench):
    bench.tell(Woke())
    beat = bench.asked(m.WorkerHeartbeatRequest)
    bench.tell(Failed(beat.call, RpcError(Code.FAILED_PRECONDITION, "started again")))
    refusal = "the dispatcher does not take this worker: started again"
    assert bench.words == [Note("error", refusal), Exit(RpcError(Code.FAILED_PRECONDITION, refusal))]
    bench.tell(Woke(), 5000 * MS)
    assert bench.words == []


@pytest.mark.parametrize("code", [Code.UNAUTHENTICATED, Code.PERMISSION_DENIED])
def test_a_worker_that_is_not_let_in_says_so_and_ends(bench, code):
    bench.tell(Woke())
    bench.tell(Failed(bench.asked(m.WorkerHeartbeatRequest).call, RpcError(Code.UNAVAILABLE, "not there")))
    bench.tell(Woke(), 5000 * MS)
    bench.tell(Failed(bench.asked(m.WorkerHeartbeatRequest).call, RpcError(code, "no token")))
    refusal = "the dispatcher does not take this worker: no token"
    assert bench.words == [Note("error", refusal), Exit(RpcError(code, refusal))]


@pytest.mark.parametrize("code", [Code.UNAUTHENTICATED, Code.PERMISSION_DENIED])
def test_a_dispatcher_that_comes_back_with_other_credentials_is_told_of_and_waited_for(bench, code):
    open_lane(bench)
    refused = RpcError(code, "wrong token")
    bench.tell(Produced(bench.the(Produce).producer, Production(frames(16), Hungry(0, at(16)), (at(16),))))
    lease = bench.asked(m.LeaseSplitsRequest)
    bench.tell(Failed(lease.call, refused))
    assert bench.words == [], "its reader is told nothing"
    bench.tell(Woke(), 1000 * MS)
    assert bench.asked(m.LeaseSplitsRequest).request == lease.request
    bench.tell(Failed(bench.asked(m.WorkerHeartbeatRequest).call, refused))
    told = "the dispatcher at d refuses this worker, which it took before; still trying: wrong token"
    assert bench.words == [Note("error", told)]
    bench.tell(Woke(), 1000 * MS)
    assert bench.asked(m.WorkerHeartbeatRequest)
