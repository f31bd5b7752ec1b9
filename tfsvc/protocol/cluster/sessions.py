"""A session as its master keeps it: its graph, the tasks it sees, and how steps are registered there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.cluster.desk import Answer, Desk, Then
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.planning import Graph, Piece, Places, Signature
from tfsvc.protocol.messages import cluster as c

TWICE = RpcError(Code.ABORTED, "The same RunStep (Master) request was received twice.")
ANSWER_BYTES: Final = 16 << 20
"""How much of answered steps a session keeps for clients that ask again."""
FACTS_MAX: Final = 10_000
"""Of how many answered requests a session knows that they were."""
ORPHANED = RpcError(Code.CANCELLED, "Step was cancelled: nobody waits for it any more.")
Registered = Callable[[tuple[str, ...] | RpcError], None]
"""Takes the graph handles of a plan's pieces, or why they could not be had."""


class Plan:
    """The pieces of a step, registered with their tasks when first needed."""

    def __init__(self, desk: Desk, session_handle: str, pieces: tuple[Piece, ...]) -> None:
        self.pieces = pieces
        self._desk = desk
        self._session_handle = session_handle
        self._handles: dict[int, str] = {}
        self._asking: dict[int, None] = {}
        self._waiting: list[Registered] = []

    def register(self, then: Registered) -> None:
        """Hands over the pieces' handles once all tasks have given theirs; a failure is not remembered."""
        self._waiting.append(then)
        for index, piece in enumerate(self.pieces):
            if index not in self._handles and index not in self._asking:
                self._asking[index] = None
                request = c.RegisterGraphRequest(self._session_handle, graph_def=piece.graph)
                self._desk.ask(piece.task, request, partial(self._answered, index))
        self._settle()

    def _answered(self, index: int, answer: Answer) -> None:
        del self._asking[index]
        if isinstance(answer, RpcError):
            self._tell(answer)
            return
        assert isinstance(answer, c.RegisterGraphResponse)
        self._handles[index] = answer.graph_handle
        self._settle()

    def _settle(self) -> None:
        if len(self._handles) == len(self.pieces):
            self._tell(tuple(handle for _, handle in sorted(self._handles.items())))

    def _tell(self, outcome: tuple[str, ...] | RpcError) -> None:
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then(outcome)


@dataclass(slots=True)
class Asking:
    """A request under way.

    Attributes:
      answer: gives the answer to all who wait for it, once.
      askers: who waits.
      cancel: ends what was begun for it.
    """

    answer: Then
    askers: list[Then]
    cancel: Callable[[RpcError], None] = lambda _: None


@dataclass(slots=True)
class Session:
    """One session.

    Attributes:
      places: the tasks it sees, and where its steps run.
      devices: of these tasks.
      steps: how to cancel each step under way.
      asking: the requests under way, by their ids; those without one have numbers below 0.
      answers: to the last requests, by id, with ``answer_bytes`` in all.
      answered: the ids of requests that were answered, of more than there are answers of.
    """

    handle: str
    config: c.SessionConfig
    graph: Graph
    places: Places
    devices: tuple[c.DeviceAttributes, ...] = ()
    version: int = 0
    extended_by: bytes | None = None
    plans: dict[Signature, Plan] = field(default_factory=dict)
    callables: dict[int, c.CallableOptions] = field(default_factory=dict)
    callables_made: int = 0
    steps: dict[int, Callable[[RpcError], None]] = field(default_factory=dict)
    asking: dict[int, Asking] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    answer_bytes: int = 0
    answered: dict[int, None] = field(default_factory=dict)

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(self.places.incarnations)

    def once(self, request_id: int, then: Then, remembered: int) -> Asking | None:
        """A request that is to be carried out; ``None`` if it came before, and ``then`` is served.

        Args:
          request_id: names the request; 0 is never a repetition.
          remembered: how many answers are kept.
        """
        if request_id in self.asking:
            self.asking[request_id].askers.append(then)
            return None
        if request_id in self.answered:
            then(self.answers.get(request_id, TWICE))
            return None
        number = request_id or min(self.asking, default=0) - 1

        def answer(given: Answer) -> None:
            asking = self.asking.pop(number)
            if request_id:
                self._remember(request_id, given, remembered)
            for asker in asking.askers:
                asker(given)

        self.asking[number] = Asking(answer, [then])
        return self.asking[number]

    def left(self, asker: Then) -> int | None:
        """An asker waits no longer; the number of the request under way that nobody waits for now, if so."""
        for number, asking in self.asking.items():
            if asker in asking.askers:
                asking.askers.remove(asker)
                return None if asking.askers else number
        return None

    def orphaned(self, number: int) -> None:
        """Ends a request, unless somebody waits for it again."""
        asking = self.asking.get(number)
        if asking is not None and not asking.askers:
            asking.cancel(ORPHANED)

    def _remember(self, request_id: int, answer: Answer, remembered: int) -> None:
        """Keeps an answer as long as there is room, and for longer the fact that there was one."""
        self.answered[request_id] = None
        self.answers[request_id] = answer
        self.answer_bytes += _size(answer)
        while len(self.answers) > remembered or self.answer_bytes > ANSWER_BYTES:
            self.answer_bytes -= _size(self.answers.pop(next(iter(self.answers))))
        if len(self.answered) > FACTS_MAX:
            del self.answered[next(iter(self.answered))]


def _size(answer: Answer) -> int:
    match answer:
        case c.RunStepResponse(tensors):
            return sum(len(named.tensor) for named in tensors)
        case c.RunCallableResponse(fetched):
            return sum(map(len, fetched))
        case _:
            return 0
