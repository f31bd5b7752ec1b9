"""One step of a session: its pieces are run where they belong, and what they give is gathered.

The first failure ends the step: every other piece is told to stop. A call to a worker that is not
answered in time is made again, since a worker runs a piece once however often it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.cluster.desk import Answer, Desk
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.peers import Errand
from tfsvc.protocol.cluster.planning import Piece
from tfsvc.protocol.cluster.sessions import Plan, Session
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages import cluster as c

Fetched = dict[str, bytes]
Ended = Callable[[Fetched | RpcError], None]


class Step:
    """One step, from now until ``then`` has the fetched tensors by name, or an error.

    Args:
      feeds: serialized tensors by the names that the plan's signature has.
      timeout_ms: after how long it ends with ``DEADLINE_EXCEEDED``; 0 for never.
    """

    def __init__(
        self, desk: Desk, session: Session, plan: Plan, feeds: Mapping[str, bytes], timeout_ms: int, then: Ended
    ) -> None:
        self._desk = desk
        self._session = session
        self._plan = plan
        self._feeds = feeds
        self._then: Ended | None = then
        self._fetched: Fetched = {}
        self._missing = len(plan.pieces)
        self._started = False
        self._id = desk.luck.bits() >> 8
        session.steps[self._id] = self.cancel
        if timeout_ms > 0:
            text = f"The step did not end within {timeout_ms} ms"
            late = RpcError(Code.DEADLINE_EXCEEDED, text)
            desk.at(desk.now + timeout_ms * MILLISECOND, lambda: self.cancel(late))
        plan.register(self._registered)

    def cancel(self, error: RpcError) -> None:
        """Ends the step with ``error``, unless it has ended."""
        if self._then is not None:
            self._end(error)

    def _registered(self, outcome: tuple[str, ...] | RpcError) -> None:
        if self._then is None:
            return
        if isinstance(outcome, RpcError):
            self._end(outcome)
            return
        self._started = True
        for piece, handle in zip(self._plan.pieces, outcome, strict=True):
            if self._then is not None:
                self._run(piece, self._request(piece, handle))

    def _request(self, piece: Piece, graph_handle: str) -> c.RunGraphRequest:
        return c.RunGraphRequest(
            session_handle=self._session.handle,
            graph_handle=graph_handle,
            step_id=self._id,
            send=tuple(c.NamedTensor(port.key, self._feeds[port.name]) for port in piece.feeds),
            recv_key=tuple(port.key for port in piece.fetches),
            request_id=self._desk.luck.bits() >> 1,
        )

    def _run(self, piece: Piece, request: c.RunGraphRequest) -> None:
        def answered(answer: Answer) -> None:
            if self._then is None:
                return
            match answer:
                case c.RunGraphResponse(recv):
                    by_key = {named.name: named.tensor for named in recv}
                    self._fetched.update((port.name, by_key[port.key]) for port in piece.fetches)
                    self._missing -= 1
                    if not self._missing:
                        self._end(self._fetched)
                case RpcError(Code.DEADLINE_EXCEEDED | Code.CANCELLED, _, Outcome.UNKNOWN):
                    self._run(piece, request)
                case RpcError(code, text, outcome):
                    self._end(RpcError(code, f"From {piece.task}:\n{text}", outcome))
                case _:
                    raise AssertionError(answer)

        self._desk.ask(piece.task, request, answered)

    def _end(self, result: Fetched | RpcError) -> None:
        then, self._then = self._then, None
        assert then is not None
        self._session.steps.pop(self._id, None)
        if self._started:
            self._cleanup()
        self._feeds, self._fetched = {}, {}  # a timer may hold the step for long
        # A worker's failure is the step's: it has ended, whatever is known of the call.
        then(RpcError(result.code, result.message) if isinstance(result, RpcError) else result)

    def _cleanup(self) -> None:
        give_up = self._desk.now + self._desk.settings.grace_ns
        tasks: dict[Task, None] = dict.fromkeys(piece.task for piece in self._plan.pieces)
        for task in tasks:
            Errand(self._desk, task, c.CleanupGraphRequest(self._id), lambda _: None, give_up)
