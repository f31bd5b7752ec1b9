"""How a session comes to be: each task it sees tells its devices and makes room for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.cluster.desk import Answer, Desk
from tfsvc.protocol.cluster.names import Task, parse_device
from tfsvc.protocol.cluster.peers import Errand
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages import cluster as c

Devices = dict[Task, c.DeviceAttributes]
Opened = Callable[[Devices | RpcError], None]


def visible_tasks(desk: Desk, filters: tuple[str, ...]) -> tuple[Task, ...]:
    """The tasks that device filters let through, this one always among them.

    Raises:
      ValueError: if a filter is no device's name.
    """
    specs = [parse_device(each) for each in filters]
    own = desk.settings.task
    return tuple(task for task in desk.addresses if task == own or not specs or any(s.takes(task) for s in specs))


class Opening:
    """Opens ``handle`` with all tasks, and waits for those that are not there yet.

    Args:
      config: the session's; its operation timeout bounds the wait.
      then: takes the tasks' devices, or why not all could be had.
    """

    def __init__(self, desk: Desk, handle: str, config: c.SessionConfig, tasks: tuple[Task, ...], then: Opened) -> None:
        self._desk = desk
        self._handle = handle
        self._config = config
        self._then = then
        self._devices: Devices = {}
        self._missing: dict[Task, None] = dict.fromkeys(tasks)
        self._order = tasks
        self._errands: list[Errand] = []
        self.over = False
        if config.operation_timeout_in_ms > 0:
            desk.at(desk.now + config.operation_timeout_in_ms * MILLISECOND, self._late)
        for task in tasks:
            self._ask(task, c.GetStatusRequest(), partial(self._status, task))

    def cancel(self, error: RpcError) -> None:
        """Opens it no more, unless it is open."""
        self._end(error)

    def _ask(self, task: Task, request: c.TaskRequest, then: Callable[[Answer], None]) -> None:
        self._errands.append(Errand(self._desk, task, request, then))

    def _status(self, task: Task, answer: Answer) -> None:
        if isinstance(answer, RpcError):
            self._end(answer.prefixed(f"asking {task} for its devices"))
            return
        assert isinstance(answer, c.GetStatusResponse)
        self._devices[task] = answer.device_attributes[0]
        request = c.CreateWorkerSessionRequest(
            self._handle,
            self._config.isolate_session_state,
            str(self._desk.settings.task),
            self._desk.incarnation,
        )
        self._ask(task, request, partial(self._created, task))

    def _created(self, task: Task, answer: Answer) -> None:
        if isinstance(answer, RpcError):
            self._end(answer.prefixed(f"opening the session with {task}"))
            return
        del self._missing[task]
        if not self._missing:
            self._end({each: self._devices[each] for each in self._order})

    def _late(self) -> None:
        if not self.over:
            missing = ", ".join(map(str, self._missing))
            timeout = self._config.operation_timeout_in_ms
            self._end(RpcError(Code.DEADLINE_EXCEEDED, f"No answer from {missing} within {timeout} ms"))

    def _end(self, outcome: Devices | RpcError) -> None:
        if self.over:
            return
        self.over = True
        for errand in self._errands:
            errand.drop()
        self._then(outcome)
