"""The cache of several trainers: a sliding window over one stream of elements, which each of them reads at its pace.

As TensorFlow's cross-trainer cache. A trainer that falls behind the window goes on at its beginning, and is told how
many elements it missed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import CallId
from tfsvc.protocol.worker.desk import CacheTally, Desk
from tfsvc.protocol.worker.single import single_producer


class CachedStream:
    """Args:
    completed: called once, when a trainer was told of the end.
    """

    def __init__(self, desk: Desk, task: m.TaskDef, completed: Callable[[], None]) -> None:
        self._desk = desk
        self._completed = completed
        self._window: deque[Frame] = deque()
        self._begin = 0
        self._bytes = 0
        self._foreign = False
        self._places: dict[str, int] = {}
        self._given: dict[int, tuple[int, m.GetElementResponse]] = {}
        """The last answer to each reader of ours, and how many it had before."""
        self._waiting: deque[tuple[CallId, m.GetElementRequest]] = deque()
        self.producer = single_producer(desk, task, self._changed)
        self.producer.pump()

    def read(self, call: CallId, request: m.GetElementRequest) -> None:
        if not request.trainer_id:
            self._desk.reply(call, RpcError(Code.INVALID_ARGUMENT, "A read of the trainers' cache needs a trainer_id."))
            return
        self._foreign = self._foreign or not request.client_id
        answer = self._given_before(request) or self._next(request)
        if answer is None:
            self._waiting.append((call, request))
        else:
            self._desk.reply(call, answer)

    def close(self, error: RpcError) -> None:
        for call, _ in self._waiting:
            self._desk.reply(call, error)
        self._waiting.clear()
        self.producer.discard()

    def end_early(self) -> None:
        """What has no end of its own ends with what is there; TensorFlow's readers would not take it for an end."""
        if not self._foreign:
            self.producer.finish()

    def _changed(self) -> None:
        for _ in range(len(self._waiting)):
            call, request = self._waiting.popleft()
            answer = self._given_before(request) or self._next(request)
            if answer is None:
                self._waiting.append((call, request))
            else:
                self._desk.reply(call, answer)

    def _given_before(self, request: m.GetElementRequest) -> m.GetElementResponse | None:
        """What a reader of ours was sent before and never got; nothing for a question that it has asked anew since."""
        ordinal, answer = self._given.get(request.client_id, (-1, None))
        if request.ordinal < ordinal:
            return m.GetElementResponse(skip_task=True)
        return answer if ordinal == request.ordinal else None

    def _next(self, request: m.GetElementRequest) -> m.GetElementResponse | RpcError | None:
        """The trainer's next element, for which the window goes on if it stands at its end."""
        place = self._places.get(request.trainer_id, 0)
        missed = max(0, self._begin - place)
        place += missed
        hit = place < self._begin + len(self._window)
        if place == self._begin + len(self._window):
            frame = self.producer.take()
            if frame is None:
                return self._end(request) if self.producer.ended else None
            self.producer.pump()
            if frame.error is not None:
                return frame.error
            if frame.size > self._desk.settings.cache_bytes:
                return RpcError(
                    Code.INVALID_ARGUMENT,
                    f"An element of {frame.size} bytes does not fit the trainers' cache of "
                    f"{self._desk.settings.cache_bytes} bytes; raise cross_trainer_cache_size_bytes.",
                )
            self._insert(frame)
            missed += max(0, self._begin - place)
            place = max(place, self._begin)
        frame = self._window[place - self._begin]
        self._places[request.trainer_id] = place + 1
        told = self._desk.cache
        self._desk.cache = CacheTally(told.hits + hit, told.misses + (not hit), told.evicted_unread + missed)
        answer = m.GetElementResponse(bytes(frame.body), place, passed_over=missed)
        if request.client_id:
            self._given[request.client_id] = request.ordinal, answer
        return answer

    def _insert(self, frame: Frame) -> None:
        while self._window and self._bytes + frame.size > self._desk.settings.cache_bytes:
            self._bytes -= self._window.popleft().size
            self._begin += 1
        self._window.append(frame)
        self._bytes += frame.size

    def _end(self, request: m.GetElementRequest) -> m.GetElementResponse | RpcError:
        if not request.client_id:
            return RpcError(
                Code.INVALID_ARGUMENT,
                "Cross-trainer caching requires the input dataset to be infinite. However, it reached the end of "
                "sequence.",
            )
        if self.producer.broken is not None:
            return self.producer.broken
        if all(place == self._begin + len(self._window) for place in self._places.values()):
            self._completed()
        return m.GetElementResponse(end_of_sequence=True)
