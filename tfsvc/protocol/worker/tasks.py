"""Tasks: what this worker was given to do, and the streams that come out of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Note
from tfsvc.protocol.ids import CallId
from tfsvc.protocol.pace import Pace
from tfsvc.protocol.production import Production
from tfsvc.protocol.worker.cached import CachedStream
from tfsvc.protocol.worker.desk import Desk
from tfsvc.protocol.worker.lanes import LaneStream, moved_on
from tfsvc.protocol.worker.rounds import RoundStream
from tfsvc.protocol.worker.shared import SharedStream
from tfsvc.protocol.worker.single import SingleStream

Elements = SingleStream | RoundStream | CachedStream
Stream = LaneStream | SharedStream | Elements


class Task:
    """One task and its streams, each made when the first reader asks for it."""

    def __init__(self, definition: m.TaskDef) -> None:
        self.definition = definition
        self.lanes: dict[int, LaneStream] = {}
        self.pace = Pace()
        self.shared: SharedStream | None = None
        self.single: Elements | None = None

    def streams(self) -> Iterator[Stream]:
        yield from self.lanes.values()
        if self.shared is not None:
            yield self.shared
        if self.single is not None:
            yield self.single


def _elements(desk: Desk, task: m.TaskDef, completed: Callable[[], None]) -> Elements:
    if task.num_consumers is not None:
        return RoundStream(desk, task, completed)
    if task.use_cross_trainer_cache:
        return CachedStream(desk, task, completed)
    return SingleStream(desk, task, completed)


class Tasks:
    """All tasks of a worker.

    Args:
      completed: called with a task's id once it has given all it had.
    """

    def __init__(self, desk: Desk, completed: Callable[[int], None]) -> None:
        self._desk = desk
        self._completed = completed
        self._tasks: dict[int, Task] = {}
        self._finished: dict[int, None] = {}
        self._fetching: dict[int, None] = {}
        """Tasks whose datasets were asked for."""
        self._draining = False

    @property
    def current(self) -> tuple[int, ...]:
        return tuple(self._tasks)

    @property
    def held(self) -> int:
        """How many bytes are kept for readers."""
        streams = (stream for task in self._tasks.values() for stream in task.streams())
        return sum(stream.producer.bytes for stream in streams if stream.producer is not None)

    def add(self, definition: m.TaskDef) -> None:
        """Takes a task on; asks for its dataset where that is kept in a file, as by a dispatcher of TensorFlow's."""
        if definition.task_id in self._tasks or definition.task_id in self._fetching:
            return
        if definition.dataset_def is None:
            self._fetching[definition.task_id] = None
            request = m.GetDatasetDefRequest(definition.dataset_id)
            self._desk.ask_dispatcher(request, lambda answer: self._fetched(definition, answer))
            return
        if not definition.seed:
            # TensorFlow's dispatcher draws none, and all workers of an iteration must draw the same luck.
            definition = replace(definition, seed=definition.iteration_id)
        self._tasks[definition.task_id] = Task(definition)

    def _fetched(self, definition: m.TaskDef, answer: m.Response | RpcError) -> None:
        del self._fetching[definition.task_id]
        if isinstance(answer, m.GetDatasetDefResponse):
            self.add(replace(definition, dataset_def=answer.dataset_def))
        else:
            assert isinstance(answer, RpcError), answer
            self._desk.say(
                Note("warning", f"the dataset of task {definition.task_id} is not to be had: {answer.message}")
            )

    def drain(self) -> None:
        """Ends what has no end of its own, where its readers can be told of the end like any other."""
        self._draining = True
        for task in self._tasks.values():
            self._cut(task)

    def _cut(self, task: Task) -> None:
        whole = task.definition.processing_mode_def.sharding_policy is m.ShardingPolicy.OFF
        if self._draining and whole and task.definition.endless:
            for stream in tuple(task.streams()):
                stream.end_early()

    def active(self) -> tuple[m.ActiveTask, ...]:
        """The tasks, and how long an element of each takes."""
        return tuple(m.ActiveTask(task_id, task.pace.element_ns) for task_id, task in self._tasks.items())

    def delete(self, task_id: int) -> None:
        task = self._tasks.pop(task_id, None)
        if task is not None:
            self._finished[task_id] = None
            for stream in task.streams():
                stream.close(_over(task_id))

    def get_frames(self, call: CallId, request: m.GetFramesRequest) -> bool:
        """Serves a read; false when the task is not known here."""
        task = self._tasks.get(request.task_id)
        if task is None:
            if request.task_id in self._finished:
                self._desk.reply(call, _over(request.task_id))
                return True
            return False
        if request.lane_id:
            self._lane(task, call, request)
        else:
            if task.shared is None:
                task.shared = SharedStream(self._desk, task.definition, lambda: self._completed(request.task_id))
                self._cut(task)
            task.shared.read(call, request)
        return True

    def _lane(self, task: Task, call: CallId, request: m.GetFramesRequest) -> None:
        lane = task.lanes.get(request.lane_id)
        if lane is not None and lane.attempt > request.attempt:
            self._desk.reply(call, moved_on(request.lane_id, request.attempt, lane.attempt))
            return
        if lane is None or lane.attempt < request.attempt:
            if lane is not None:
                lane.close(moved_on(request.lane_id, lane.attempt, request.attempt))
            lane = LaneStream(self._desk, task.definition, request.lane_id, request.attempt)
            task.lanes[request.lane_id] = lane
        lane.read(call, request)

    def get_element(self, call: CallId, request: m.GetElementRequest) -> bool:
        """Serves a read of TensorFlow's; false when the task is not known here."""
        task = self._tasks.get(request.task_id)
        if task is None:
            if request.task_id not in self._finished:
                return False
            if request.consumer_index is None:
                self._desk.reply(call, m.GetElementResponse(end_of_sequence=True))
            else:  # those who read in rounds must all leave the task out from the same round on
                self._desk.reply(call, _over(request.task_id, Code.UNAVAILABLE))
            return True
        if task.single is None:
            task.single = _elements(self._desk, task.definition, lambda: self._completed(request.task_id))
        self._cut(task)
        task.single.read(call, request)
        return True

    def produced(self, producer_id: int, production: Production) -> None:
        producer = self._desk.running.get(producer_id)
        if producer is not None:
            task = self._tasks.get(producer.task_id)
            if task is not None:
                task.pace.note(production.spent_ns, sum([frame.count for frame in production.frames]))
            producer.produced_more(production)

    def describe(self) -> tuple[m.TaskInfo, ...]:
        address = self._desk.settings.address
        return tuple(
            m.TaskInfo(worker_address=address, task_id=task_id, iteration_id=task.definition.iteration_id)
            for task_id, task in self._tasks.items()
        )

    def close(self) -> None:
        for task_id in self.current:
            self.delete(task_id)


def _over(task_id: int, code: Code = Code.FAILED_PRECONDITION) -> RpcError:
    return RpcError(code, f"Task {task_id} is over.")
