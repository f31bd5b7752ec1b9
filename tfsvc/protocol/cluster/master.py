"""The master half of a cluster's server: sessions, their graphs and their steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tfsvc.errors import Code, OpError, RpcError
from tfsvc.protocol.cluster.desk import Answer, Desk, Then
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.opening import Devices, Opening, visible_tasks
from tfsvc.protocol.cluster.peers import Errand
from tfsvc.protocol.cluster.planning import Graph, Places, Planner, Signature
from tfsvc.protocol.cluster.sessions import Asking, Plan, Session
from tfsvc.protocol.cluster.steps import Fetched, Step
from tfsvc.protocol.messages import cluster as c

CLOSED = RpcError(Code.CANCELLED, "Step was cancelled by an explicit call to `Session::Close()`.")


class Master:
    """What a task does for clients.

    Args:
      planner: reads their graphs.
    """

    def __init__(self, desk: Desk, planner: Planner) -> None:
        self._desk = desk
        self._planner = planner
        self._sessions: dict[str, Session] = {}
        self._openings: dict[Then, Opening] = {}

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(self._sessions)

    def asked(self, request: c.MasterRequest, then: Then) -> None:
        match request:
            case c.CreateSessionRequest():
                self._create(request, then)
            case c.ResetRequest():
                self._reset(request, then)
            case c.PartialRunSetupRequest():
                then(RpcError(Code.UNIMPLEMENTED, "Partial runs are not supported; use `run`."))
            case _:
                session = self._sessions.get(request.session_handle)
                if session is None:
                    text = f"Session {request.session_handle} is not found."
                    if isinstance(request, c.CloseSessionRequest):
                        text += " Possibly, this master has restarted."
                    then(RpcError(Code.ABORTED, text))
                else:
                    self._of_session(session, request, then)

    def left(self, asker: Then) -> None:
        """An asker waits no longer. A step that nobody asks for again ends soon, a session is not opened."""
        opening = self._openings.pop(asker, None)
        if opening is not None:
            opening.cancel(RpcError(Code.CANCELLED, "nobody waits for the session any more"))
        for session in self._sessions.values():
            number = session.left(asker)
            if number is not None:
                after = self._desk.settings.orphan_ns if number > 0 else 0
                self._desk.at(self._desk.now + after, partial(session.orphaned, number))

    def _of_session(self, session: Session, request: c.MasterRequest, then: Then) -> None:
        match request:
            case c.ExtendSessionRequest():
                then(self._extend(session, request))
            case c.RunStepRequest():
                self._run(session, request, then)
            case c.CloseSessionRequest():
                self._close(session)
                then(c.CloseSessionResponse())
            case c.ListDevicesRequest():
                then(c.ListDevicesResponse(session.devices))
            case c.MakeCallableRequest():
                asking = session.once(request.request_id, then, self._desk.settings.remembered)
                if asking is not None:
                    session.callables_made += 1
                    session.callables[session.callables_made] = request.options
                    asking.answer(c.MakeCallableResponse(session.callables_made))
            case c.RunCallableRequest():
                self._run_callable(session, request, then)
            case c.ReleaseCallableRequest(_, handle):
                session.callables.pop(handle, None)
                then(c.ReleaseCallableResponse())
            case _:
                raise AssertionError(request)

    # --- a session's life ---

    def _create(self, request: c.CreateSessionRequest, then: Then) -> None:
        config = request.config.over(self._desk.settings.defaults)
        if config.cluster_def.job:
            text = "A session's own `cluster_def` is not supported; describe the cluster to its servers."
            then(RpcError(Code.UNIMPLEMENTED, text))
            return
        try:
            graph = self._planner.extend(None, request.graph_def)
            tasks = visible_tasks(self._desk, config.device_filters)
        except OpError as error:
            then(RpcError(Code(error.error_code), error.message))
            return
        except ValueError as error:
            then(RpcError(Code.INVALID_ARGUMENT, str(error)))
            return
        handle = f"{self._desk.luck.bits():016x}"

        def opened(outcome: Devices | RpcError) -> None:
            self._openings.pop(then, None)
            if isinstance(outcome, RpcError):
                self._delete_at(handle, tasks)
                then(outcome)
                return
            incarnations = {task: device.incarnation for task, device in outcome.items()}
            places = Places(self._desk.settings.task, incarnations, config.allow_soft_placement)
            session = Session(handle, config, graph, places, tuple(outcome.values()))
            self._sessions[handle] = session
            then(c.CreateSessionResponse(handle, 0))

        opening = Opening(self._desk, handle, config, tasks, opened)
        if not opening.over:
            self._openings[then] = opening

    def _extend(self, session: Session, request: c.ExtendSessionRequest) -> Answer:
        expected = request.current_graph_version
        if expected == session.version - 1 and request.graph_def == session.extended_by:
            return c.ExtendSessionResponse(session.version)
        if expected != session.version:
            text = f"Current version is {session.version} but caller expected {expected}."
            return RpcError(Code.ABORTED, text)
        try:
            graph: Graph = self._planner.extend(session.graph, request.graph_def)
        except OpError as error:
            return RpcError(Code(error.error_code), error.message)
        session.graph = graph
        session.extended_by = request.graph_def
        session.version += 1
        return c.ExtendSessionResponse(session.version)

    def _close(self, session: Session, why: RpcError = CLOSED) -> None:
        del self._sessions[session.handle]
        for cancel in tuple(session.steps.values()):
            cancel(why)
        self._delete_at(session.handle, session.tasks)

    def _delete_at(self, handle: str, tasks: tuple[Task, ...]) -> None:
        give_up = self._desk.now + self._desk.settings.grace_ns
        for task in tasks:
            Errand(self._desk, task, c.DeleteWorkerSessionRequest(handle), lambda _: None, give_up)

    def _reset(self, request: c.ResetRequest, then: Then) -> None:
        try:
            tasks = visible_tasks(self._desk, request.device_filters)
        except ValueError as error:
            then(RpcError(Code.INVALID_ARGUMENT, str(error)))
            return
        for session in tuple(self._sessions.values()):
            self._close(session, RpcError(Code.ABORTED, f"Session {session.handle} is not found."))
        waiting = dict.fromkeys(tasks)
        give_up = self._desk.now + self._desk.settings.grace_ns

        def wiped(task: Task, answer: Answer) -> None:
            if task not in waiting:
                return
            del waiting[task]
            if isinstance(answer, RpcError):
                waiting.clear()
                then(answer.prefixed(f"clearing the containers of {task}"))
            elif not waiting:
                then(c.ResetResponse())

        for task in tasks:
            Errand(self._desk, task, c.CleanupAllRequest(request.container), partial(wiped, task), give_up)

    # --- steps ---

    def _run(self, session: Session, request: c.RunStepRequest, then: Then) -> None:
        asking = session.once(request.request_id, then, self._desk.settings.remembered)
        if asking is None:
            return
        feeds = {_tensor_name(feed.name): feed.tensor for feed in request.feed}
        if len(feeds) < len(request.feed):
            text = f"A tensor is fed twice: {[feed.name for feed in request.feed]}"
            asking.answer(RpcError(Code.INVALID_ARGUMENT, text))
            return

        def respond(fetched: Fetched) -> Answer:
            names = dict.fromkeys(request.fetch)
            return c.RunStepResponse(tuple(c.NamedTensor(name, fetched[_tensor_name(name)]) for name in names))

        timeout_ms = request.options.timeout_in_ms
        self._step(session, asking, feeds, request.fetch, request.target, timeout_ms, respond)

    def _run_callable(self, session: Session, request: c.RunCallableRequest, then: Then) -> None:
        options = session.callables.get(request.handle)
        if options is None:
            then(RpcError(Code.INVALID_ARGUMENT, f"No such callable handle: {request.handle}"))
            return
        asking = session.once(request.request_id, then, self._desk.settings.remembered)
        if asking is None:
            return
        if len(options.feed) != len(request.feed):
            text = f"The callable takes {len(options.feed)} feeds, not {len(request.feed)}"
            asking.answer(RpcError(Code.INVALID_ARGUMENT, text))
            return
        feeds = dict(zip(map(_tensor_name, options.feed), request.feed, strict=True))

        def respond(fetched: Fetched) -> Answer:
            return c.RunCallableResponse(tuple(fetched[_tensor_name(name)] for name in options.fetch))

        timeout_ms = options.run_options.timeout_in_ms
        self._step(session, asking, feeds, options.fetch, options.target, timeout_ms, respond)

    def _step(
        self,
        session: Session,
        asking: Asking,
        feeds: Mapping[str, bytes],
        fetches: tuple[str, ...],
        targets: tuple[str, ...],
        timeout_ms: int,
        respond: Callable[[Fetched], Answer],
    ) -> None:
        fetched = tuple(dict.fromkeys(map(_tensor_name, fetches)))
        signature = Signature(tuple(sorted(feeds)), fetched, tuple(dict.fromkeys(targets)))
        plan = session.plans.get(signature)
        if plan is None:
            try:
                pieces = self._planner.plan(session.graph, signature, session.places)
            except OpError as error:
                asking.answer(RpcError(Code(error.error_code), error.message))
                return
            plan = session.plans[signature] = Plan(self._desk, session.handle, pieces)

        def ended(result: Fetched | RpcError) -> None:
            asking.answer(result if isinstance(result, RpcError) else respond(result))

        timeout_ms = timeout_ms or session.config.operation_timeout_in_ms
        asking.cancel = Step(self._desk, session, plan, feeds, timeout_ms, ended).cancel


def _tensor_name(name: str) -> str:
    """``name`` with the number of the output, 0 where it has none."""
    return name if ":" in name else f"{name}:0"
