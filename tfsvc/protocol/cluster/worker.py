"""The worker half of a cluster's server: sessions of masters, their graphs, and the values that peers take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.cluster.desk import Desk, Then
from tfsvc.protocol.cluster.names import CPU, parse_key
from tfsvc.protocol.cluster.pieces import Pieces
from tfsvc.protocol.cluster.rendezvous import Rendezvous
from tfsvc.protocol.computing import Computation, Program, Value
from tfsvc.protocol.contract import Wipe
from tfsvc.protocol.messages import cluster as c

RETIRED_MAX: Final = 10_000
"""How many steps that are over are remembered, so that a late copy of a request does not run one again."""
MEMORY: Final = 1 << 28
"""What a device says of its memory, as TensorFlow's processors do."""


@dataclass(slots=True)
class _Session:
    master_task: str
    master_incarnation: int
    scope: str
    graphs: dict[str, Program] = field(default_factory=dict)


class Worker:
    """What a task does for masters, its own among them."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sessions: dict[str, _Session] = {}
        self._rendezvous = Rendezvous()
        self._pieces = Pieces(desk, self._rendezvous)
        self._retired: dict[int, None] = {}
        self._graphs = 0

    @property
    def sessions(self) -> int:
        return len(self._sessions)

    @property
    def steps(self) -> int:
        """How many steps hold something here."""
        return len(self._rendezvous) + len(self._pieces)

    def asked(self, request: c.TaskRequest, then: Then) -> None:
        match request:
            case c.GetStatusRequest():
                device = c.DeviceAttributes(self._desk.settings.task.device, CPU, MEMORY, self._desk.incarnation)
                then(c.GetStatusResponse((device,)))
            case c.CreateWorkerSessionRequest():
                self._create_session(request)
                then(c.CreateWorkerSessionResponse())
            case c.DeleteWorkerSessionRequest(handle):
                self._delete_session(handle)
                then(c.DeleteWorkerSessionResponse())
            case c.RegisterGraphRequest():
                self._register(request, then)
            case c.DeregisterGraphRequest():
                self._deregister(request, then)
            case c.RunGraphRequest():
                self._run(request, then)
            case c.CleanupGraphRequest(step_id):
                self._cleanup(step_id)
                then(c.CleanupGraphResponse())
            case c.CleanupAllRequest(containers):
                self._desk.say(Wipe(containers))
                then(c.CleanupAllResponse())
            case c.RecvTensorRequest():
                self._recv(request, then)
            case c.LoggingRequest():
                then(c.LoggingResponse())

    def computed(self, piece: int, computation: Computation) -> None:
        self._pieces.computed(piece, computation)

    def left(self, asker: Then) -> None:
        """An asker waits no longer; a step whose master does not ask again ends soon."""
        number = self._pieces.left(asker)
        if number is not None:
            self._desk.at(self._desk.now + self._desk.settings.orphan_ns, lambda: self._end_orphan(number))

    def _end_orphan(self, number: int) -> None:
        step_id = self._pieces.orphan(number)
        if step_id is not None:
            self._cleanup(step_id)

    # --- sessions and graphs ---

    def _create_session(self, request: c.CreateWorkerSessionRequest) -> None:
        outlived = [
            handle
            for handle, session in self._sessions.items()
            if session.master_task == request.master_task and session.master_incarnation < request.master_incarnation
        ]
        for handle in outlived:
            self._delete_session(handle)
        if request.session_handle not in self._sessions:
            scope = request.session_handle if request.isolate_session_state else ""
            self._sessions[request.session_handle] = _Session(request.master_task, request.master_incarnation, scope)

    def _delete_session(self, handle: str) -> None:
        session = self._sessions.pop(handle, None)
        if session is None:
            return
        self._pieces.end_session(handle, RpcError(Code.CANCELLED, "Session was closed."))
        if session.scope:
            self._desk.say(Wipe((), session.scope))

    def _session(self, handle: str, then: Then) -> _Session | None:
        session = self._sessions.get(handle)
        if session is None:
            task = self._desk.settings.task
            text = f'Session handle is not found: {handle}. Possibly this worker ("{task}") just restarted.'
            then(RpcError(Code.ABORTED, text))
        return session

    def _register(self, request: c.RegisterGraphRequest, then: Then) -> None:
        session = self._session(request.session_handle, then)
        if session is not None:
            self._graphs += 1
            handle = f"{self._graphs:016x}"
            task = self._desk.settings.task
            session.graphs[handle] = Program(
                request.graph_def, request.session_handle, session.scope, task.job, str(task)
            )
            then(c.RegisterGraphResponse(handle))

    def _deregister(self, request: c.DeregisterGraphRequest, then: Then) -> None:
        session = self._session(request.session_handle, then)
        if session is not None:
            found = session.graphs.pop(request.graph_handle, None)
            then(c.DeregisterGraphResponse() if found is not None else _unknown_graph(request.graph_handle))

    # --- steps ---

    def _run(self, request: c.RunGraphRequest, then: Then) -> None:
        session = self._session(request.session_handle, then)
        if session is None:
            return
        program = session.graphs.get(request.graph_handle)
        if program is None:
            then(_unknown_graph(request.graph_handle))
        elif request.step_id in self._retired:
            then(RpcError(Code.ABORTED, f"Step {request.step_id} is over."))
        else:
            self._pieces.run(request, program, then)

    def _cleanup(self, step_id: int) -> None:
        self._retired[step_id] = None
        if len(self._retired) > RETIRED_MAX:
            del self._retired[next(iter(self._retired))]
        self._pieces.end_step(step_id)
        self._rendezvous.drop(step_id)

    def _recv(self, request: c.RecvTensorRequest, then: Then) -> None:
        try:
            key = parse_key(request.rendezvous_key)
        except ValueError as error:
            then(RpcError(Code.INVALID_ARGUMENT, str(error)))
            return
        if key.incarnation != self._desk.incarnation:
            text = (
                f"RecvTensor expects a different device incarnation: {key.incarnation} vs. {self._desk.incarnation}. "
                f'Your worker job ("{self._desk.settings.task}") was probably restarted. Check your worker job for '
                "the reason why it was restarted."
            )
            then(RpcError(Code.ABORTED, text))
            return
        if request.step_id in self._retired:
            then(RpcError(Code.ABORTED, f"Step {request.step_id} is over."))
            return

        def taker(taken: Value | RpcError) -> None:
            then(taken if isinstance(taken, RpcError) else c.RecvTensorResponse(taken.tensor, taken.dead))

        self._rendezvous.take(request.step_id, request.rendezvous_key, taker)
        until = self._desk.now + self._desk.settings.call_timeout_ns
        self._desk.at(until, lambda: self._rendezvous.give_up(request.step_id, request.rendezvous_key, taker))


def _unknown_graph(handle: str) -> RpcError:
    return RpcError(Code.ABORTED, f"Graph handle is not found: {handle}")
