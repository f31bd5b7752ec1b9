"""The RPC server as a machine: admits calls, has their functions run, and answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    Abandon,
    Asked,
    Cancelled,
    Event,
    Execute,
    Executed,
    Finish,
    Pulled,
    Reply,
    Step,
    Stopped,
    Woke,
    Word,
)
from tfsvc.protocol.ids import NEVER, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.rpc.admitted import Admitted
from tfsvc.protocol.rpc.queues import Queue
from tfsvc.protocol.rpc.sessions import Session, Sessions
from tfsvc.protocol.rpc.settings import MethodSettings, RpcServerSettings
from tfsvc.protocol.rpc.streams import Stream
from tfsvc.record import record

CANCELLED: Final = RpcError(Code.CANCELLED, "the call was cancelled by its caller")
LATE: Final = RpcError(Code.DEADLINE_EXCEEDED, "the call's time was over before it began")
OPENED: Final = m.CallResponse()
"""The answer to the call that begins a stream."""


@record
class RpcServerView:
    """What an RPC server has at hand.

    Attributes:
      sessions: how many callers are remembered.
      running: runs and open streams under way, by method.
      waiting: calls that have not begun, by method.
    """

    sessions: int
    running: dict[str, int]
    waiting: dict[str, int]


class RpcServer:
    """A role that answers ``Call`` and ``List``, for TensorFlow's clients and ours.

    Args:
      methods: what is registered.
      settings: what is remembered.
      luck: of this life; sessions get their numbers from it.
    """

    def __init__(self, methods: Sequence[MethodSettings], settings: RpcServerSettings, luck: Luck) -> None:
        self._settings = settings
        self._listing = tuple(method.listing for method in methods)
        self._queues = {method.name: Queue(method) for method in methods}
        self._sessions = Sessions(settings, luck)
        self._runs: dict[int, tuple[Queue, list[Admitted]]] = {}
        self._streams: dict[int, tuple[Queue, Stream]] = {}
        self._run = 0
        self._stopped = False
        self._stopping: list[int] = []
        self._words: list[Word] = []

    def handle(self, event: Event, now: Instant) -> Step:
        match event:
            case Asked(call, _, m.CallRequest() as request):
                self._call(call, request, now)
            case Asked(call, _, m.ListRequest(open_session)):
                session = self._sessions.open(now) if open_session else 0
                self._reply(call, m.ListResponse(self._listing, session))
            case Asked(call, _, m.FetchItemsRequest() as request):
                self._fetch(call, request, now)
            case Asked(call, _, m.CancelCallRequest(session, seq)):
                self._cancel(self._sessions.find(session, now), seq, now)
                self._reply(call, m.CancelCallResponse())
            case Asked(call, _, m.EndSessionRequest(session)):
                self._give_up(self._sessions.end(session), now)
                self._reply(call, m.EndSessionResponse())
            case Asked(call, _, request):
                text = f"an RPC server does not answer {type(request).__name__}"
                self._reply(call, RpcError(Code.UNIMPLEMENTED, text))
            case Cancelled(call):
                self._left(call, now)
            case Executed(run, results):
                self._executed(run, results, now)
            case Pulled() as news if news.run in self._streams:
                self._pulled(news, now)
            case Stopped(token):
                self._stopped = True
                self._stopping.append(token)
            case Woke():
                self._woke(now)
            case _:
                pass
        if self._stopping and not self._runs and not any(map(len, self._queues.values())):
            self._words.extend(Finish(token, None) for token in self._stopping)
            self._stopping.clear()
        words, self._words = tuple(self._words), []
        return Step(words=words)

    def deadline(self) -> Instant:
        queues = min((queue.deadline() for queue in self._queues.values()), default=NEVER)
        streams = min((stream.deadline() for _, stream in self._streams.values()), default=NEVER)
        return min(queues, streams, self._sessions.deadline())

    def view(self) -> RpcServerView:
        return RpcServerView(
            len(self._sessions),
            {name: queue.running for name, queue in self._queues.items()},
            {name: len(queue) for name, queue in self._queues.items()},
        )

    # --- calls ---

    def _call(self, call: CallId, request: m.CallRequest, now: Instant) -> None:
        session = self._sessions.find(request.session, now) if request.session else None
        if session is not None:
            for given_up in session.release(request.floor):
                self._end(given_up, now)
            known = session.calls.get(request.seq)
            if known is not None:
                self._repeated(known, call)
                return
        refusal = self._refusal(request, session)
        if refusal is not m.Refusal.NONE:
            self._reply(call, m.CallResponse(refusal=refusal))
            return
        expires = now + request.timeout_ns if request.timeout_ns else NEVER
        admitted = Admitted(request.method, call, request.input_tensors, now, expires)
        if session is not None:
            session.add(request.seq, admitted)
        error = self._objection(request)
        if error is None:
            queue = self._queues[request.method]
            queue.add(admitted)
            self._begin(queue, now)
        else:
            self._answer(admitted, error)

    def _repeated(self, known: Admitted, call: CallId) -> None:
        if known.answer is None:
            known.asked.append(call)
        else:
            self._reply(call, known.answer)

    def _refusal(self, request: m.CallRequest, session: Session | None) -> m.Refusal:
        """Why the call is not begun, of those that only callers of ours understand."""
        if not request.session:
            return m.Refusal.NONE
        if session is None:
            return m.Refusal.SESSION
        if not session.begins(request.seq):
            return m.Refusal.FORGOTTEN
        return m.Refusal.STOPPING if self._stopped else m.Refusal.NONE

    def _objection(self, request: m.CallRequest) -> RpcError | None:
        """Why the call ends with an error at once, if so."""
        queue = self._queues.get(request.method)
        if queue is None:
            return RpcError(Code.INVALID_ARGUMENT, f"{request.method} is not registered.")
        if self._stopped:
            return RpcError(Code.UNAVAILABLE, "the server is being stopped")
        if queue.settings.listing.streams and not request.session:
            return RpcError(Code.UNIMPLEMENTED, f"{request.method} streams its results, to clients of tfsvc only")
        return queue.refusal()

    def _begin(self, queue: Queue, now: Instant) -> None:
        """Starts what the queue lets start."""
        while True:
            batch, late = queue.take(now)
            for call in late:
                self._answer(call, LATE)
            if batch:
                self._run += 1
                if queue.settings.listing.streams:
                    self._open(queue, batch[0])
                else:
                    self._runs[self._run] = queue, batch
                    calls = tuple(call.inputs for call in batch)
                    self._words.append(Execute(self._run, queue.settings.name, calls))
            elif not late:
                return

    def _executed(self, run: int, results: Iterable[m.CallResponse | RpcError], now: Instant) -> None:
        queue, batch = self._runs.pop(run)
        queue.running -= 1
        for call, result in zip(batch, results, strict=True):
            self._answer(call, result)
        self._begin(queue, now)

    def _answer(self, call: Admitted, answer: m.CallResponse | RpcError) -> None:
        if call.answer is None:
            call.answer = answer
            call.inputs = ()
            for asked in call.asked:
                self._reply(asked, answer)
            call.asked.clear()
            if call.session is not None:
                call.session.keep(call)

    def _reply(self, call: CallId, answer: m.Response | RpcError) -> None:
        self._words.append(Reply(call, answer))

    # --- the end of calls that nobody wants ---

    def _cancel(self, session: Session | None, seq: int, now: Instant) -> None:
        if session is None or not session.begins(seq):
            return
        call = session.calls.get(seq)
        if call is None:
            # The cancellation has overtaken the call, which must not begin.
            call = Admitted("", None, (), now, NEVER)
            session.add(seq, call)
        self._end(call, now)

    def _left(self, asked: CallId, now: Instant) -> None:
        """A request is not waited for any more. A caller with a session may make it again, or says what it gives up."""
        for queue in self._queues.values():
            call = queue.of(asked)
            if call is not None and call.session is None:
                call.asked.clear()
                self._end(call, now)

    def _give_up(self, session: Session | None, now: Instant) -> None:
        for call in tuple(session.calls.values()) if session is not None else ():
            self._end(call, now)

    def _end(self, call: Admitted, now: Instant) -> None:
        """A call that waits does not begin, a stream ends; a function that runs is left to run."""
        queue = self._queues.get(call.method)
        if queue is not None and call.answer is None:
            queue.drop(call)
        self._answer(call, CANCELLED)
        if call.stream is not None and not call.stream.ended:
            call.stream.stop(CANCELLED)
            self._give(call.stream, now)
            self._words.append(Abandon(call.stream.run))
            self._close(call.stream, now)

    # --- streams ---

    def _open(self, queue: Queue, call: Admitted) -> None:
        stream = call.stream = Stream(self._run, call.method, call.inputs, self._settings)
        self._streams[stream.run] = queue, stream
        self._answer(call, OPENED)
        self._pull(stream)

    def _pull(self, stream: Stream) -> None:
        command = stream.pull()
        if command is not None:
            self._words.append(command)

    def _pulled(self, news: Pulled, now: Instant) -> None:
        _, stream = self._streams[news.run]
        stream.pulled(news.item)
        self._give(stream, now)
        if stream.ended:
            self._close(stream, now)
        else:
            self._pull(stream)

    def _close(self, stream: Stream, now: Instant) -> None:
        queue, _ = self._streams.pop(stream.run)
        queue.running -= 1
        self._begin(queue, now)

    def _fetch(self, call: CallId, request: m.FetchItemsRequest, now: Instant) -> None:
        session = self._sessions.find(request.session, now)
        if session is None:
            self._reply(call, m.FetchItemsResponse(refusal=m.Refusal.SESSION))
            return
        admitted = session.calls.get(request.seq)
        if admitted is None or admitted.stream is None:
            self._reply(call, m.FetchItemsResponse(refusal=m.Refusal.FORGOTTEN))
            return
        admitted.stream.fetch(call, request, now)
        self._give(admitted.stream, now)
        self._pull(admitted.stream)

    def _give(self, stream: Stream, now: Instant) -> None:
        for call, answer in stream.given(now):
            self._reply(call, answer)

    def _woke(self, now: Instant) -> None:
        for _, stream in tuple(self._streams.values()):
            self._give(stream, now)
        for queue in self._queues.values():
            self._begin(queue, now)
        for session in self._sessions.sweep(now):
            self._give_up(session, now)
