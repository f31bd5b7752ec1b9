"""A cluster's server as a machine: a master and a worker behind one address."""

from __future__ import annotations

from typing import assert_never, get_args

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.calls import Calls
from tfsvc.protocol.cluster.desk import Answer, Desk, TaskSettings, Then
from tfsvc.protocol.cluster.master import Master
from tfsvc.protocol.cluster.planning import Planner
from tfsvc.protocol.cluster.worker import Worker
from tfsvc.protocol.contract import (
    NOTHING,
    Answered,
    Asked,
    Cancelled,
    Computed,
    Event,
    Executed,
    Failed,
    Finish,
    Invoked,
    Posed,
    Produced,
    Pulled,
    Reply,
    Step,
    Stopped,
    Stored,
    Synced,
    Wanted,
    Woke,
)
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import CANCELLABLE, Request
from tfsvc.protocol.messages import cluster as c
from tfsvc.record import record

_MASTER = get_args(c.MasterRequest)
_WORKER = get_args(c.TaskRequest)


@record
class ClusterServerView:
    """A picture of a server: the sessions it is the master of, and what it holds as a worker."""

    sessions: tuple[str, ...]
    worker_sessions: int
    steps: int


class ClusterServer:
    """A role of the machine contract.

    Args:
      settings: who it is, and who its peers are.
      incarnation: which life this is; a later one has a higher number.
      luck: its random streams.
      planner: reads its clients' graphs.
    """

    def __init__(self, settings: TaskSettings, incarnation: int, luck: Luck, planner: Planner) -> None:
        addresses = dict(settings.addresses)
        calls: Calls[Then] = Calls(addresses[settings.task], incarnation)
        self._desk = Desk(settings, incarnation, luck, calls, self._ask_locally, addresses=addresses)
        self._worker = Worker(self._desk)
        self._master = Master(self._desk, planner)
        self._replies: dict[CallId, Then] = {}

    def handle(self, event: Event, now: Instant) -> Step:
        desk = self._desk
        desk.now = now
        match event:
            case Asked(call, _, request):
                self._asked(call, request)
            case Cancelled(call):
                reply = self._replies.pop(call, None)
                if reply is not None:
                    self._master.left(reply)
                    self._worker.left(reply)
            case Answered(call, response):
                self._answered(call, response)
            case Failed(call, error):
                self._answered(call, error)
            case Computed(piece, computation):
                self._worker.computed(piece, computation)
            case Woke():
                desk.wake()
            case Stopped(token):
                desk.say(Finish(token, None))
            case Synced() | Wanted() | Produced() | Stored() | Executed() | Pulled() | Posed() | Invoked():
                return NOTHING
            case _:
                assert_never(event)
        words, desk.words = desk.words, []
        return Step(words=tuple(words))

    def deadline(self) -> Instant:
        return self._desk.deadline()

    def view(self) -> ClusterServerView:
        return ClusterServerView(self._master.sessions, self._worker.sessions, self._worker.steps)

    def _ask_locally(self, request: Request, then: Then) -> None:
        assert isinstance(request, _WORKER)
        self._worker.asked(request, then)

    def _answered(self, call: CallId, answer: Answer) -> None:
        made = self._desk.calls.close(call)
        if made is not None:
            made.about(answer)

    def _asked(self, call: CallId, request: Request) -> None:
        def reply(answer: Answer) -> None:
            self._replies.pop(call, None)
            self._desk.say(Reply(call, _in_body(request, answer)))

        if type(request) in CANCELLABLE:
            self._replies[call] = reply
        if isinstance(request, _MASTER):
            self._master.asked(request, reply)
        elif isinstance(request, _WORKER):
            self._worker.asked(request, reply)
        else:
            reply(RpcError(Code.UNIMPLEMENTED, "This is a cluster's server; a data service answers elsewhere."))


def _in_body(request: Request, answer: Answer) -> Answer:
    """An error as a field of the response, where the asker wishes it so."""
    if isinstance(answer, RpcError):
        if isinstance(request, c.RunStepRequest) and request.store_errors_in_response_body:
            return c.RunStepResponse((), answer.code, answer.message)
        if isinstance(request, c.RunGraphRequest) and request.store_errors_in_response_body:
            return c.RunGraphResponse((), answer.code, answer.message)
    return answer
