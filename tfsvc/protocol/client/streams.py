"""Streams: what a reader fetches from one worker, ahead of its application."""

from __future__ import annotations

from collections import deque
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import NEVER, SECOND, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Encoding
from tfsvc.protocol.splits import Checkpoint

ELEMENT_TIMEOUT_NS: Final = 24 * 3600 * SECOND
"""TensorFlow's workers lose an element whose reader stopped waiting, so it waits as TensorFlow's does."""


class Stream:
    """Elements of one task or lane, in order, each fetched and delivered once.

    Args:
      id: its name in ``Taken``.
      encoding: ``FRAMES`` from our workers, ``ELEMENTS`` from TensorFlow's.
      lane_id: the lane, or 0 for a reader's part of a whole task.
      ordinal: the first element that is wanted.
      index: the number of an ordered lane.
    """

    def __init__(
        self,
        id: int,
        encoding: Encoding,
        address: str,
        task_id: int,
        luck: Luck,
        lane_id: int = 0,
        ordinal: int = 0,
        index: int = 0,
    ) -> None:
        self.answers_again = True
        """Whether a read that was answered into the void may be made again."""
        self.id = id
        self.encoding = encoding
        self.address = address
        self.task_id = task_id
        self.lane_id = lane_id
        self.index = index
        self.attempt = 0
        self.checkpoint: Checkpoint | None = None
        """Of an ordered lane: the newest place, no farther than what was consumed, where it can start again."""
        self._checkpoints: deque[Checkpoint] = deque()
        self._last_checkpoint = 0
        self._run = 0
        self.frames: deque[Frame] = deque()
        self.bytes = 0
        self.first = ordinal
        self.received = ordinal
        """What was fetched ends here."""
        self.delivered = ordinal
        """What the application was given ends here."""
        self.taken = ordinal
        """What the application says it has consumed ends here."""
        self.repeated = 0
        """Elements that came again, made by another worker or sent twice, and were passed over."""
        self.reported: m.LaneProgress | None = None
        """What the dispatcher knows of it."""
        self.ended = False
        self.busy = False
        """Whether a request is on its way."""
        self.asked = 0
        """When it was last asked, counted over the requests of all streams."""
        self.next_try: Instant = 0
        self.failing_since: Instant | None = None
        self.refused: RpcError | None = None
        self._lent: deque[tuple[int, int]] = deque()
        self._given_back = ordinal
        self._room = 0
        self._backoff = Backoff(luck)

    @property
    def fetching(self) -> bool:
        """Whether a request is on its way that may bring elements."""
        return self.busy and self._room > 0

    @property
    def held(self) -> int:
        """Bytes that were fetched and that the application has not consumed."""
        held = self.bytes
        for _, size in self._lent:
            held += size
        return held

    @property
    def done(self) -> bool:
        """Whether the application has consumed everything."""
        return self.ended and self.taken == self.received

    @property
    def dry(self) -> bool:
        """Whether nothing more comes of it unless the dispatcher says otherwise."""
        return not self.frames and (self.ended or self.refused is not None or not self.address)

    def ready_before(self, turn: tuple[int, int]) -> int:
        """How many elements are at hand, and not given yet, that come before ``turn`` or in it."""
        return sum(
            frame.end - max(frame.start, self.delivered)
            for frame in self.frames
            if (frame.run, self.index) <= turn and frame.end > self.delivered
        )

    @property
    def frontier(self) -> tuple[int, int]:
        """The turn in which it may still receive elements."""
        return self._run, self.index

    @property
    def turn(self) -> tuple[int, int]:
        """When an ordered lane is next to be read, at the earliest: by run, then by number."""
        return (self.frames[0].run if self.frames else self._run), self.index

    def progress(self) -> m.LaneProgress:
        """What the application took of the lane."""
        return m.LaneProgress(self.lane_id, self.taken, self.done, self.checkpoint)

    def place(self, ordinal: int) -> m.LanePlace:
        """Where an ordered lane would go on behind ``ordinal`` elements, as far as the reader knows."""
        found = self.checkpoint or Checkpoint()
        for checkpoint in self._checkpoints:
            if checkpoint.ordinal > ordinal:
                break
            found = checkpoint
        return m.LanePlace(self.index, ordinal, found)

    def move(self, address: str, task_id: int, attempt: int) -> None:
        """Goes on at another worker, or another life of one, from what was received."""
        self.address, self.task_id, self.attempt = address, task_id, attempt
        self.busy = False
        self.next_try = 0
        self.failing_since = None
        self.refused = None
        self._backoff.reset()

    def request(self, client_id: int, room: int, trainer_id: str = "") -> m.Request | None:
        """The next thing to ask its worker; ``None`` when there is nothing to ask."""
        self._room = room
        if self.encoding is Encoding.ELEMENTS:
            if room <= 0 or self.ended:
                return None
            if not trainer_id:
                return m.GetElementRequest(self.task_id)
            return m.GetElementRequest(self.task_id, trainer_id=trainer_id, client_id=client_id, ordinal=self.received)
        if self.ended or room <= 0:
            if self._given_back == self.received:
                return None
            self._room = room = 0
        return m.GetFramesRequest(self.task_id, self.lane_id, self.attempt, client_id, self.received, room, self._run)

    def answered(self, request: m.Request, response: m.Response) -> bool:
        """Takes what a worker sent; false when it does not join on to what was received."""
        if isinstance(request, m.GetFramesRequest):
            self._given_back = request.ordinal
        self.failing_since = None
        self._backoff.reset()
        match response:
            case m.GetFramesResponse():
                for frame in response.frames:
                    if frame.start > self.received:
                        return False
                    self.repeated += max(0, min(frame.end, self.received) - frame.start)
                    if frame.end > self.received:
                        self._add(frame)
                self.ended = self.ended or response.end_of_stream
                self._run = max(self._run, response.run)
                checkpoint = response.checkpoint
                if checkpoint is not None and checkpoint.ordinal > self._last_checkpoint:
                    self._last_checkpoint = checkpoint.ordinal
                    self._checkpoints.append(checkpoint)
            case m.GetElementResponse(element, _, end_of_sequence, skip_task, _):
                if end_of_sequence:
                    self.ended = True
                elif not skip_task:
                    self._add(Frame(self.received, 1, element))
            case _:
                raise AssertionError(response)
        return True

    def failed(self, error: RpcError, now: Instant) -> None:
        """Plans another try; ``refused`` when the worker does not have the stream."""
        if error.code in (Code.FAILED_PRECONDITION, Code.NOT_FOUND):
            self.refused = error
            self.next_try = NEVER
        else:
            self.next_try = self._backoff.next(now)
        if self.failing_since is None:
            self.failing_since = now

    def deliver(self, limit: int | None = None) -> tuple[Frame, int] | None:
        """The next frame for the application, and how many of its elements it had before.

        With a ``limit`` it is given no more elements than that, and the others of the frame later.
        """
        if not self.frames:
            return None
        frame = self.frames[0]
        skip = max(0, self.delivered - frame.start)
        if limit is not None and frame.count - skip > limit:
            self.delivered = frame.start + skip + limit
            return frame, skip
        self.frames.popleft()
        self.bytes -= frame.size
        self.delivered = frame.end
        self._lent.append((frame.end, frame.size))
        return frame, skip

    def take(self, ordinal: int) -> None:
        """The application has consumed what lies before ``ordinal``."""
        self.taken = max(self.taken, ordinal)
        while self._checkpoints and self._checkpoints[0].ordinal <= self.taken:
            self.checkpoint = self._checkpoints.popleft()
        while self._lent and self._lent[0][0] <= self.taken:
            self._lent.popleft()

    def _add(self, frame: Frame) -> None:
        self.frames.append(frame)
        self.bytes += frame.size
        self.received = frame.end


def is_native(info: m.TaskInfo) -> bool:
    """Whether the task is on a worker of ours."""
    return m.native_address(info.transfer_servers) is not None
