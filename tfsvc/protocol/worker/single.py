"""Element by element: TensorFlow's ``GetElement`` for TensorFlow's readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import CallId
from tfsvc.protocol.production import Encoding, Recipe
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.producer import Producer
from tfsvc.protocol.worker.sources import SingleSplits


def single_producer(desk: Desk, task: m.TaskDef, changed: Callable[[], None]) -> Producer:
    """Runs a task's pipeline for reads of single elements; it makes nothing before it is pumped."""
    return whole_producer(desk, task, changed, Encoding.ELEMENTS)


def whole_producer(desk: Desk, task: m.TaskDef, changed: Callable[[], None], encoding: Encoding) -> Producer:
    """Runs the one pipeline of a task, which fetches split by split where it is fed with splits."""
    providers = task.num_split_providers
    recipe = Recipe.of(task, f"task/{task.task_id}")
    compressed = task.compressed or recipe.dataset.compressed
    recipe = replace(recipe, providers=providers, encoding=encoding, compressed=compressed)
    producer = Producer(desk, recipe, changed, task.task_id)
    if providers:
        producer.source = SingleSplits(desk, task.iteration_id, recipe.dataset.plans, producer)
    return producer


class SingleStream:
    """First come, first served; an element that was answered into the void is lost, as in TensorFlow.

    That the pipeline cannot go on is every reader's to know.

    Args:
      completed: called once, when a reader was told of the end.
    """

    def __init__(self, desk: Desk, task: m.TaskDef, completed: Callable[[], None]) -> None:
        self._desk = desk
        self._completed = completed
        self._waiting: list[CallId] = []
        self.producer = single_producer(desk, task, self._changed)
        self.producer.pump()

    def read(self, call: CallId, request: m.GetElementRequest) -> None:
        answer = self._next()
        if answer is not None:
            self._desk.reply(call, answer)
        elif request.allow_skip:
            self._desk.reply(call, m.GetElementResponse(skip_task=True))
        else:
            self._waiting.append(call)

    def close(self, error: RpcError) -> None:
        for call in self._waiting:
            self._desk.reply(call, error)
        self._waiting.clear()
        self.producer.discard()

    def end_early(self) -> None:
        """What has no end of its own ends with what is there, which a reader takes for an end like any other."""
        self.producer.finish()

    def _changed(self) -> None:
        while self._waiting:
            answer = self._next()
            if answer is None:
                return
            self._desk.reply(self._waiting.pop(0), answer)

    def _next(self) -> m.GetElementResponse | RpcError | None:
        frame = self.producer.take()
        if frame is None:
            if not self.producer.ended:
                return None
            if self.producer.broken is not None:
                return self.producer.broken
            self._completed()
            return m.GetElementResponse(end_of_sequence=True)
        self.producer.pump()
        if frame.error is not None:
            return frame.error
        return m.GetElementResponse(bytes(frame.body), frame.start)
