"""A lane's stream: one pipeline for one reader, kept until the reader has gone past it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import NEVER, CallId, Instant
from tfsvc.protocol.production import Recipe
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.producer import Producer
from tfsvc.protocol.worker.reads import Reads
from tfsvc.protocol.worker.sources import FIRST_GROUP, DealtSource, LaneSource


class LaneStream:
    """Serves ``GetFrames`` for one attempt of a lane.

    Frames stay until a read asks for what lies behind them, so a read that was answered into the void
    is simply made again.
    """

    def __init__(self, desk: Desk, task: m.TaskDef, lane_id: int, attempt: int) -> None:
        self.attempt = attempt
        self.producer: Producer | None = None
        self.refused: RpcError | None = None
        self._desk = desk
        self._task = task
        self._lane_id = lane_id
        self._reads = Reads(desk, self._serve)
        self._backoff = Backoff(desk.luck.stream("open"))
        self._open_at: Instant = NEVER
        self._given_back = 0
        self._closed = False
        self._open()

    def read(self, call: CallId, request: m.GetFramesRequest) -> None:
        if self.refused is not None:
            self._desk.reply(call, self.refused)
        else:
            self._reads.add(call, request)

    def close(self, error: RpcError) -> None:
        """Stops for good: the lane moved on, or its task is gone."""
        self._closed = True
        self.refused = error
        self._reads.refuse(error)
        if self.producer is not None:
            self.producer.discard()

    def end_early(self) -> None:
        """A lane goes on at another worker instead."""

    def deadline(self) -> Instant:
        return self._open_at

    def wake(self) -> None:
        if self._open_at <= self._desk.now:
            self._open_at = NEVER
            self._open()

    @property
    def _ahead(self) -> bool:
        """Whether splits may be leased before they are asked for.

        Where there are several sources, a pipeline that pairs them would be left with splits of one and none of the
        other.
        """
        definition = self._task.dataset_def
        static = self._task.processing_mode_def.sharding_policy.static
        return static or definition is None or len(definition.plans) == 1

    def _open(self) -> None:
        request = m.OpenLaneRequest(
            self._lane_id, self.attempt, self._desk.settings.address, FIRST_GROUP if self._ahead else 0
        )
        self._desk.ask_dispatcher(request, self._opened)

    def _opened(self, answer: m.Response | RpcError) -> None:
        if self._closed:
            return
        match answer:
            case m.OpenLaneResponse():
                self._start(answer)
            case RpcError() as error if error.retriable:
                self._open_at = self._backoff.next(self._desk.now)
                self._desk.alarms.set(self)
            case RpcError() as error:
                self.close(error)
            case _:
                raise AssertionError(answer)

    def _start(self, start: m.OpenLaneResponse) -> None:
        dealt = start.order.lanes > 0
        recipe = Recipe.of(self._task, f"lane/{start.index if dealt else self._lane_id}")
        providers = 1 if recipe.policy.static else len(recipe.dataset.plans)
        recipe = replace(recipe, providers=providers, checkpoint=start.checkpoint, dealt=dealt)
        producer = self.producer = Producer(self._desk, recipe, self._changed, self._task.task_id)
        if dealt:
            producer.source = DealtSource(recipe.dataset.plans, start.order, start.index, producer)
            producer.pump()
        else:
            source = LaneSource(self._desk, self._lane_id, self.attempt, producer, self.close, self._ahead)
            producer.source = source
            source.start(start.leases)
        producer.drop_before(self._given_back)

    def _changed(self) -> None:
        if self.producer is not None:
            self.producer.drop_before(self._given_back)
        self._reads.retry()

    def _serve(self, request: m.GetFramesRequest) -> m.GetFramesResponse | None:
        self._given_back = max(self._given_back, request.ordinal)
        producer = self.producer
        if producer is None:
            return None
        producer.drop_before(self._given_back)
        frames = choose(producer.frames, request.ordinal, request.bytes_max)
        reaches = frames[-1].end if frames else request.ordinal
        last = producer.ended and reaches >= producer.produced
        run = next((frame.run for frame in producer.frames if frame.end > reaches), producer.run)
        if frames or last or run > request.run:
            return m.GetFramesResponse(frames, last, run, producer.checkpoint_before(reaches))
        return None


def choose(frames: deque[Frame], ordinal: int, bytes_max: int) -> tuple[Frame, ...]:
    """The frames that reach beyond ``ordinal``, as many as fit, at least one if any may be sent."""
    chosen: list[Frame] = []
    room = bytes_max
    for frame in frames:
        if frame.end <= ordinal:
            continue
        if room <= 0 or (chosen and frame.size > room):
            break
        chosen.append(frame)
        room -= frame.size
    return tuple(chosen)


def moved_on(lane_id: int, attempt: int, current: int) -> RpcError:
    return RpcError(
        Code.FAILED_PRECONDITION, f"Attempt {attempt} of lane {lane_id} is over here; attempt {current} is running."
    )
