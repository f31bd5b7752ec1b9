"""What a worker makes, keeps and sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from prometheus_client.core import Metric

from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    Answered,
    Command,
    Discard,
    Event,
    Produce,
    Produced,
    Reply,
)
from tfsvc.protocol.ids import Instant
from tfsvc.protocol.production import Broken, Production
from tfsvc.protocol.worker.machine import WorkerView
from tfsvc_transports.telemetry import catalogue as c
from tfsvc_transports.telemetry.rpcs import RpcMeter


class WorkerMeter:
    """A watcher of a worker, and a collector of what it saw.

    Args:
      view: gives the worker's picture of itself.
      rpcs: knows what waits for an answer.
      clock: the time of the worker's machine.
    """

    def __init__(self, view: Callable[[], WorkerView], rpcs: RpcMeter, clock: Callable[[], Instant]) -> None:
        self._view = view
        self._rpcs = rpcs
        self._clock = clock
        self._answered: Instant | None = None
        self._pipelines: dict[int, bool] = {}
        """Whether each computes, or waits to."""
        self._produced = self._produced_bytes = self._spent_ns = self._errors = self._written = 0
        self._sent = self._sent_bytes = 0

    def saw(self, now: Instant, event: Event, commands: Sequence[Command]) -> None:
        match event:
            case Produced(producer, production):
                self._pipelines[producer] = False
                self._note(production)
            case Answered(_, m.WorkerHeartbeatResponse()):
                self._answered = now
            case _:
                pass
        for command in commands:
            match command:
                case Produce(producer):
                    self._pipelines[producer] = True
                case Discard(producer):
                    self._pipelines.pop(producer, None)
                case Reply(_, m.GetFramesResponse(frames)):
                    self._sent += sum(frame.count for frame in frames)
                    self._sent_bytes += sum(len(frame.body) for frame in frames)
                case Reply(_, m.GetElementResponse() as answer) if answer.element:
                    self._sent += 1
                    self._sent_bytes += len(answer.element)
                case _:
                    pass

    def _note(self, production: Production) -> None:
        self._produced += sum(frame.count for frame in production.frames)
        self._produced_bytes += sum(len(frame.body) for frame in production.frames)
        self._spent_ns += production.spent_ns
        self._written += production.written
        self._errors += isinstance(production.status, Broken)

    def collect(self) -> Iterable[Metric]:
        view = self._view()
        silence = None if self._answered is None else (self._clock() - self._answered) / 1e9
        yield c.REGISTERED.value(view.registered)
        yield c.DISPATCHER_SILENCE.value(silence)
        yield c.WORKER_TASKS.value(len(view.tasks))
        yield c.PIPELINES.value(len(self._pipelines))
        yield c.PIPELINES_BUSY.value(sum(tuple(self._pipelines.values())))
        yield c.ELEMENTS_PRODUCED.value(self._produced)
        yield c.BYTES_PRODUCED.value(self._produced_bytes)
        yield c.PRODUCTION_SECONDS.value(self._spent_ns / 1e9)
        yield c.PIPELINE_ERRORS.value(self._errors)
        yield c.ELEMENTS_SENT.value(self._sent)
        yield c.BYTES_SENT.value(self._sent_bytes)
        yield c.BUFFERED.value(view.buffered)
        yield c.READS_WAITING.value(self._rpcs.waiting)
        yield c.CACHE_READS.family({("hit",): view.cache.hits, ("miss",): view.cache.misses})
        yield c.CACHE_EVICTED.value(view.cache.evicted_unread)
        yield c.ELEMENTS_WRITTEN.value(self._written)
