"""A whole task's stream: one pipeline whose frames go to whichever reader asks first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import NEVER, SECOND, CallId, Instant
from tfsvc.protocol.production import Encoding
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.lanes import choose
from tfsvc.protocol.worker.reads import Reads
from tfsvc.protocol.worker.single import whole_producer

FORGOTTEN_NS: Final = 10 * SECOND
"""A reader that does not say for this long that it got its frames is gone; they go to the others.

A reader of ours says so as soon as it has them, however slow its application is.
"""


TELL_NS: Final = 2 * SECOND
"""How long a task that broke is kept for readers who have not heard of it; then they are told of its end alone."""


@dataclass(slots=True)
class _Outbox:
    """The frames of one reader, numbered as that reader counts, until it says that it has them."""

    heard: Instant
    frames: deque[Frame] = field(default_factory=deque)
    given: int = 0
    told: bool = False
    """Whether the reader was sent the error that ended the pipeline."""

    def put(self, frame: Frame) -> None:
        self.frames.append(replace(frame, start=self.given))
        self.given += frame.count

    def drop_before(self, ordinal: int) -> None:
        while self.frames and self.frames[0].end <= ordinal:
            self.frames.popleft()


class SharedStream:
    """Serves ``GetFrames`` for a task that is not split among readers beforehand.

    Args:
      completed: called once, when all frames have reached their readers.
    """

    def __init__(self, desk: Desk, task: m.TaskDef, completed: Callable[[], None]) -> None:
        self._desk = desk
        self._completed = completed
        self._reads = Reads(desk, self._serve)
        self._outboxes: dict[int, _Outbox] = {}
        self._orphans: deque[Frame] = deque()
        self._done = False
        self._broken_at: Instant | None = None
        self.producer = whole_producer(desk, task, self._reads.retry, Encoding.FRAMES)
        self.producer.pump()

    def read(self, call: CallId, request: m.GetFramesRequest) -> None:
        was_done = self._done
        self._reads.add(call, request)
        if self._done and not was_done:
            self._reads.retry()

    def close(self, error: RpcError) -> None:
        self._done = True
        self._reads.refuse(error)
        self.producer.discard()

    def end_early(self) -> None:
        """What has no end of its own ends with what is there, which a reader takes for an end like any other."""
        self.producer.finish()

    def deadline(self) -> Instant:
        waiting = (box.heard + FORGOTTEN_NS for box in self._outboxes.values() if box.frames)
        telling = NEVER if self._broken_at is None or self._done else self._broken_at + TELL_NS
        return min(min(waiting, default=NEVER), telling)

    def wake(self) -> None:
        for client_id, box in tuple(self._outboxes.items()):
            if box.frames and box.heard + FORGOTTEN_NS <= self._desk.now:
                self._orphans.extend(frame for frame in box.frames if not self._breaks(frame))
                del self._outboxes[client_id]
                self._reads.retry()
        if self._broken_at is not None:
            self._complete()

    def _complete(self) -> None:
        """Says that the task is over once nobody needs anything of it any more."""
        if self._done or any(box.frames for box in self._outboxes.values()):
            return
        if self.producer.broken is not None:
            self._broken_at = self._desk.now if self._broken_at is None else self._broken_at
            self._desk.alarms.set(self)
            if self._desk.now < self._broken_at + TELL_NS or not all(b.told for b in self._outboxes.values()):
                return
        self._done = True
        self._completed()

    def _serve(self, request: m.GetFramesRequest) -> m.GetFramesResponse | None:
        box = self._outboxes.get(request.client_id)
        if box is None:
            box = self._outboxes[request.client_id] = _Outbox(self._desk.now, given=request.ordinal)
        box.heard = self._desk.now
        box.drop_before(request.ordinal)
        if not box.frames and request.bytes_max > 0:
            self._fill(box, request.bytes_max)
            self._tell(box)
        frames = choose(box.frames, request.ordinal, request.bytes_max)
        ended = self.producer.ended and not self.producer.frames and not self._orphans
        # What another reader was sent may still come back, so nobody has reached the end before it has that.
        ended = ended and not any(b.frames for b in self._outboxes.values() if b is not box)
        last = ended and (not box.frames or (bool(frames) and frames[-1].end == box.given))
        if ended:
            self._complete()
        if frames or last:
            return m.GetFramesResponse(frames, last)
        return None

    def _breaks(self, frame: Frame) -> bool:
        """Whether it is the error that ended the pipeline."""
        return frame.error is not None and frame.error is self.producer.broken

    def _tell(self, box: _Outbox) -> None:
        """That the pipeline could not go on is every reader's to know, whoever was told first."""
        spent = not (self.producer.frames or self._orphans or box.frames)
        if spent and self.producer.broken is not None and not box.told:
            box.told = True
            box.put(Frame(0, 1, b"", self.producer.broken))

    def _fill(self, box: _Outbox, bytes_max: int) -> None:
        room = bytes_max
        while room > 0:
            frame = self._orphans.popleft() if self._orphans else self.producer.take()
            if frame is None:
                break
            box.told = box.told or self._breaks(frame)
            box.put(frame)
            self._desk.alarms.set(self)
            room -= frame.size
            if len(self._outboxes) > 1:
                break
        self.producer.pump()
