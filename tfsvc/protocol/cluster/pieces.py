"""Pieces at work: each runs until it has done all its nodes, and meanwhile gets the values it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.cluster.desk import Answer, Desk, Then
from tfsvc.protocol.cluster.names import Task, parse_key, parse_task
from tfsvc.protocol.cluster.rendezvous import Rendezvous
from tfsvc.protocol.computing import Computation, Failure, Finished, Program, Value, Waiting
from tfsvc.protocol.contract import Compute, Discard
from tfsvc.protocol.messages import cluster as c


@dataclass(slots=True)
class _Piece:
    number: int
    session_handle: str
    step_id: int
    fetches: tuple[str, ...]
    askers: list[Then]
    arrived: list[Value] = field(default_factory=list)
    pulled: dict[str, None] = field(default_factory=dict)
    busy: bool = True
    stalled: bool = False
    stirs: int = 0
    """How often queues had changed when it was last told to run."""
    answer: Answer | None = None


class Pieces:
    """The pieces that a task runs or has run in steps that are not over.

    Args:
      desk: the server's.
      rendezvous: where pieces leave what others take.
    """

    def __init__(self, desk: Desk, rendezvous: Rendezvous) -> None:
        self._desk = desk
        self._rendezvous = rendezvous
        self._pieces: dict[int, _Piece] = {}
        self._by_request: dict[tuple[str, int, str], _Piece] = {}
        self._count = 0
        self._stirs = 0

    def run(self, request: c.RunGraphRequest, program: Program, then: Then) -> None:
        """Runs a piece once, however often it is asked for; each asker has its answer."""
        name = (request.session_handle, request.step_id, request.graph_handle)
        known = self._by_request.get(name)
        if known is not None:
            if known.answer is None:
                known.askers.append(then)
            else:
                then(known.answer)
            return
        self._count += 1
        piece = _Piece(
            self._count, request.session_handle, request.step_id, request.recv_key, [then], stirs=self._stirs
        )
        self._pieces[piece.number] = self._by_request[name] = piece
        values = tuple(Value(fed.name, fed.tensor) for fed in request.send)
        self._desk.say(Compute(piece.number, program, values))

    def computed(self, number: int, computation: Computation) -> None:
        """Takes what a piece has come to."""
        piece = self._pieces.get(number)
        if piece is not None and piece.answer is None:
            piece.busy = False
            for value in computation.sent:
                self._rendezvous.put(piece.step_id, value)
            match computation.status:
                case Finished():
                    self._finish(piece)
                case Failure(error):
                    self._fail(piece, error)
                case Waiting(keys, stalled):
                    piece.stalled = stalled
                    for key in keys:
                        self._pull(piece, key)
                    self._go_on(piece, stirred=stalled and piece.stirs < self._stirs)
        if computation.stirred:
            self._stirs += 1
            for other in tuple(self._pieces.values()):
                if other.stalled:
                    self._go_on(other, stirred=True)

    def left(self, asker: Then) -> int | None:
        """An asker waits no longer; the number of the piece under way that nobody waits for now, if so."""
        for piece in self._pieces.values():
            if asker in piece.askers:
                piece.askers.remove(asker)
                return None if piece.askers else piece.number
        return None

    def orphan(self, number: int) -> int | None:
        """The step of a piece that is under way and that nobody waits for."""
        piece = self._pieces.get(number)
        return piece.step_id if piece is not None and piece.answer is None and not piece.askers else None

    def end_step(self, step_id: int) -> None:
        """The step is over, for good or ill: its pieces stop and are forgotten."""
        self._end([piece for piece in self._pieces.values() if piece.step_id == step_id])

    def end_session(self, session_handle: str, error: RpcError) -> None:
        """All pieces of a session fail and are forgotten."""
        ended = [piece for piece in self._pieces.values() if piece.session_handle == session_handle]
        for piece in ended:
            self._fail(piece, error)
        self._end(ended)
        for step_id in dict.fromkeys(piece.step_id for piece in ended):
            self._rendezvous.drop(step_id)

    def __len__(self) -> int:
        return len(self._pieces)

    def _end(self, pieces: list[_Piece]) -> None:
        numbers = dict.fromkeys(piece.number for piece in pieces)
        self._by_request = {name: piece for name, piece in self._by_request.items() if piece.number not in numbers}
        for piece in pieces:
            del self._pieces[piece.number]
            if piece.answer is None:
                self._desk.say(Discard(piece.number))
                self._answer(piece, RpcError(Code.CANCELLED, "the step was cancelled"))

    def _finish(self, piece: _Piece) -> None:
        fetched = []
        for key in piece.fetches:
            value = self._rendezvous.found(piece.step_id, key)
            if value is None or value.dead:
                name = key.split(";")[3]
                self._fail(piece, RpcError(Code.INVALID_ARGUMENT, f"Retval[0] does not have value ({name})"))
                return
            fetched.append(c.NamedTensor(key, value.tensor))
        self._answer(piece, c.RunGraphResponse(tuple(fetched)))

    def _fail(self, piece: _Piece, error: RpcError) -> None:
        if piece.answer is None:
            self._desk.say(Discard(piece.number))
            self._rendezvous.fail(piece.step_id, error)
            self._answer(piece, error)

    def _answer(self, piece: _Piece, answer: Answer) -> None:
        piece.answer = answer
        piece.stalled = False
        askers, piece.askers = piece.askers, []
        for asker in askers:
            asker(answer)

    def _go_on(self, piece: _Piece, stirred: bool = False) -> None:
        if piece.answer is None and not piece.busy and (piece.arrived or stirred):
            values, piece.arrived = tuple(piece.arrived), []
            piece.busy, piece.stalled, piece.stirs = True, False, self._stirs
            self._desk.say(Compute(piece.number, None, values))

    # --- values of other tasks ---

    def _pull(self, piece: _Piece, key: str) -> None:
        if key in piece.pulled:
            return
        piece.pulled[key] = None
        try:
            source = parse_task(parse_key(key).source)
        except ValueError as error:
            self._fail(piece, RpcError(Code.INVALID_ARGUMENT, str(error)))
            return
        if source == self._desk.settings.task:
            self._rendezvous.take(piece.step_id, key, lambda taken: self._pulled(piece, taken))
        elif source not in self._desk.addresses:
            self._fail(piece, RpcError(Code.INVALID_ARGUMENT, f"{source} is not a task of this cluster"))
        else:
            self._ask(piece, source, key)

    def _ask(self, piece: _Piece, source: Task, key: str) -> None:
        def then(answer: Answer) -> None:
            if piece.answer is not None:
                return
            match answer:
                case c.RecvTensorResponse(tensor, dead):
                    self._pulled(piece, Value(key, tensor, dead))
                case RpcError(Code.DEADLINE_EXCEEDED | Code.CANCELLED, _, Outcome.UNKNOWN):
                    self._ask(piece, source, key)
                case RpcError():
                    self._pulled(piece, answer.prefixed(f"receiving from {source}"))
                case _:
                    raise AssertionError(answer)

        request_id = self._desk.luck.bits() >> 1
        self._desk.ask(source, c.RecvTensorRequest(piece.step_id, key, request_id), then)

    def _pulled(self, piece: _Piece, taken: Value | RpcError) -> None:
        if isinstance(taken, RpcError):
            self._fail(piece, taken)
        else:
            piece.arrived.append(taken)
            self._go_on(piece)
