"""What a reader tells of its application: elements taken, and time waited for them."""

from __future__ import annotations

from tests.unit.protocol.test_client import Chair
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Stopped, Wanted, Woke
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.reading import Batch, Taken


def beat(chair: Chair) -> m.Consumption:
    """What the next heartbeat says."""
    while True:
        chair.wait()
        beats = [call for call in chair.calls if isinstance(call.request, m.ClientHeartbeatRequest)]
        if beats:
            assert isinstance(beats[0].request, m.ClientHeartbeatRequest)
            assert beats[0].request.consumption is not None
            return beats[0].request.consumption


def give(chair: Chair, *frames: Frame) -> Batch:
    chair.answer(m.GetFramesRequest, m.GetFramesResponse(frames))
    batch = chair.finished[-1].result
    assert isinstance(batch, Batch)
    return batch


def test_waiting_counts_from_the_wish_to_the_batch_and_taking_from_the_next_wish():
    chair = Chair()
    asked_at = chair.now
    chair.now += 30 * MILLISECOND
    chair.open()
    chair.now += 20 * MILLISECOND
    batch = give(chair, Frame(0, 10, b"0123456789"))
    chair.now += 400 * MILLISECOND  # the application works
    chair.handle(Wanted(2, (Taken(batch.stream, 10),)))
    chair.now += 5 * MILLISECOND  # and waits again
    told = beat(chair)
    waits_again = chair.now - asked_at - 450 * MILLISECOND
    assert told == m.Consumption(10, 10, 50 * MILLISECOND + waits_again, chair.now - asked_at)


def test_an_application_that_leaves_in_the_middle_of_a_batch_took_half_of_it():
    chair = Chair()
    chair.open()
    batch = give(chair, Frame(0, 10, b"0123456789"))
    chair.handle(Stopped(9, (Taken(batch.stream, 5),)))
    _, release = chair.asked(m.ReleaseIterationClientRequest)
    assert release.consumption == m.Consumption(elements=5, bytes=5)


def test_what_is_seen_of_a_slow_application_counts_before_it_wants_more():
    chair = Chair()
    chair.open()
    batch = give(chair, Frame(0, 10, b"0123456789" * 3))
    told = []
    for seen in (3, 2, 7, 99):  # it never goes back, nor beyond what it was given
        chair.now = max(chair.now, chair.machine.deadline())
        chair.handle(Woke((Taken(batch.stream + 1, 9), Taken(batch.stream, seen))))
        call, request = chair.asked(m.ClientHeartbeatRequest)
        chair.handle(Answered(call.call, m.ClientHeartbeatResponse()))
        told.append((request.consumption.elements, request.consumption.bytes, request.progress))
    assert told == [(3, 9, ()), (3, 9, ()), (7, 21, ()), (10, 30, ())]
    chair.handle(Wanted(2, (Taken(batch.stream, 10),)))
    last = beat(chair)
    assert (last.elements, last.bytes) == (10, 30)


def test_elements_that_came_again_were_not_taken():
    chair = Chair()
    chair.open()
    batch = give(chair, Frame(0, 4, b"abcd"))
    chair.answer(m.GetFramesRequest, m.GetFramesResponse((Frame(2, 4, b"cdef"),)))
    chair.handle(Wanted(2, (Taken(batch.stream, 4),)))
    again = chair.finished[-1].result
    assert isinstance(again, Batch)
    chair.handle(Wanted(3, (Taken(batch.stream, 6),)))
    told = beat(chair)
    assert (told.elements, told.discarded) == (6, 2)
