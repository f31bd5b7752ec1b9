"""What a reader asks of its streams, and when."""

from __future__ import annotations

from tfsvc.protocol import messages as m
from tfsvc.protocol.client.intake import Intake
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.reading import Taken
from tfsvc.protocol.settings import ClientSettings

FRAME_BYTES = 100


def frames(request: m.GetFramesRequest) -> m.GetFramesResponse:
    """What a lane's worker has ready: as many blocks of one element as were asked for, and at least one."""
    at = range(request.ordinal, request.ordinal + max(1, request.bytes_max // FRAME_BYTES))
    body = bytes(FRAME_BYTES - Frame().size)
    return m.GetFramesResponse(tuple(Frame(i, 1, body, run=i) for i in at), run=at.stop)


def test_a_lane_is_asked_for_half_of_what_it_may_hold_or_more() -> None:
    """Each read costs the same, and what is not at its turn can wait for company."""
    intake = Intake(ClientSettings("d", buffer_bytes=800), Luck(0, "r"), in_order=True)
    lanes = tuple(m.LaneInfo(6000 + index, 1, 4000, "w", index=index) for index in range(2))
    intake.reconcile(m.ClientHeartbeatResponse(lanes=lanes), has_lanes=True)
    asked: list[tuple[int, int]] = []
    given: list[tuple[int, int]] = []
    while len(given) < 40:
        batch = intake.next_batch()
        if batch is not None:
            given.append((batch.frame.run, batch.place.index))
            intake.note((Taken(batch.stream, batch.frame.end),))
        if batch is None or len(given) > 20:  # at first the application has to wait, which opens the windows
            for stream, request in tuple(intake.requests(3000, 0)):
                assert isinstance(request, m.GetFramesRequest)
                asked.append((len(given), request.bytes_max))
                intake.answered(stream, request, frames(request), 0)
    assert given == [(run, lane) for run in range(20) for lane in range(2)]
    assert [room for at, room in asked if at > 20] == 10 * [200]
