"""The RPC client as a machine: makes calls for one application, and waits for a server that is not there yet.

A call that was surely not begun is made again until its time is over, as gRPC's ``wait_for_ready`` does. One that may
have run is made again only if the application says so, and only in the session in which the server remembers it.
"""

from __future__ import annotations

from typing import Final

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff, Calls
from tfsvc.protocol.contract import Answered, Event, Failed, Finish, Invoked, Step, Stopped, Woke, Word
from tfsvc.protocol.ids import NEVER, SECOND, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.reading import EndOfData, Said
from tfsvc.protocol.rpc.outgoing import Outgoing, Session
from tfsvc.protocol.rpc.receiving import Receiving
from tfsvc.protocol.rpc.wishes import Cancellation, Invocation, Listing, NextItem
from tfsvc.record import record

CANCELLED: Final = RpcError(Code.CANCELLED, "the call was cancelled")
CLOSED: Final = RpcError(Code.CANCELLED, "the client was closed")
MAY_HAVE_RUN: Final = RpcError(
    Code.ABORTED, "the server was restarted, or has forgotten the call; it may have run", Outcome.UNKNOWN
)
NO_STREAM: Final = RpcError(
    Code.FAILED_PRECONDITION, "the stream was cancelled or never opened, or somebody waits for its next item"
)
NO_SESSIONS: Final = RpcError(Code.UNIMPLEMENTED, "results stream from servers of tfsvc only, and this is none")
ASIDE_NS: Final = SECOND
"""How long what the application does not wait for may take."""
HELD_NS: Final = 10 * SECOND
"""How long a fetch may be held, or a listing take, before it is made again."""

About = Outgoing | Receiving | Listing | Stopped | None
"""What a request is for; ``None``: nothing that anybody waits for."""


@record
class RpcClientView:
    """What a client has at hand.

    Attributes:
      open: calls that are not answered.
      streams: streams that are not closed.
    """

    open: int
    streams: int


class RpcClient:
    """A role that calls the methods of one server.

    Args:
      peer: the server's address.
      name: the node's name.
      incarnation: which life of it.
      luck: of its waits.
    """

    def __init__(self, peer: str, name: str, incarnation: int, luck: Luck) -> None:
        self._peer = peer
        self._luck = luck
        self._calls: Calls[About] = Calls(name, incarnation)
        self._backoff = Backoff(luck)
        self._session: Session | None = None
        self._remembered = False
        """Whether the server has remembered calls before, and so will again once it is back."""
        self._listing = False
        self._list_again: Instant = NEVER
        self._listings: dict[int, Instant] = {}
        self._outgoing: dict[int, Outgoing] = {}
        self._waiting: dict[int, Outgoing] = {}
        """Those of the outgoing calls that are not under way."""
        self._streams: dict[int, Receiving] = {}
        self._closing: Stopped | None = None
        self._words: list[Word] = []

    def handle(self, event: Event, now: Instant) -> Step:
        match event:
            case Invoked(token, _) if self._closing is not None:
                self._finish(token, CLOSED)
            case Invoked(token, Listing(timeout_ns)):
                self._listings[token] = now + timeout_ns if timeout_ns > 0 else NEVER
                self._list(now)
            case Invoked(token, Invocation() as wanted):
                made = self._outgoing[token] = Outgoing(token, wanted, now, Backoff(self._luck))
                self._make(made, now)
            case Invoked(token, NextItem() as wanted):
                self._next(token, wanted, now)
            case Invoked(token, Cancellation(of)):
                self._cancel(of)
                self._finish(token, None)
            case Answered(name, response):
                call = self._calls.close(name)
                if call is not None:
                    self._answered(call.about, response, now)
            case Failed(name, error):
                call = self._calls.close(name)
                if call is not None:
                    self._failed(call.about, error, now)
            case Stopped():
                self._close(event)
            case Woke():
                self._woke(now)
            case _:
                pass
        words, self._words = tuple(self._words), []
        return Step(words=words)

    def deadline(self) -> Instant:
        due = [self._list_again, *self._listings.values()]
        due += [
            min(call.expires, call.expires if call.retry_at is None else call.retry_at)
            for call in self._waiting.values()
        ]
        due += [stream.deadline() for stream in self._streams.values()]
        return min(due)

    def view(self) -> RpcClientView:
        return RpcClientView(len(self._outgoing), len(self._streams))

    def _ask(self, request: m.Request, about: About, timeout_ns: int) -> None:
        self._words.append(self._calls.make(self._peer, request, about, timeout_ns))

    def _finish(self, token: int, result: Said | EndOfData | RpcError | None) -> None:
        self._words.append(Finish(token, result))

    def _answered(self, about: About, response: m.Response, now: Instant) -> None:
        match about, response:
            case Listing(), m.ListResponse():
                self._listed(response, now)
            case Outgoing(), m.CallResponse() if about.token in self._outgoing:
                self._called(about, response, now)
            case Receiving(), m.FetchItemsResponse():
                about.answered(response)
                self._serve(about, now)
            case Stopped(token), _:
                self._finish(token, None)
            case _:
                pass

    def _failed(self, about: About, error: RpcError, now: Instant) -> None:
        match about:
            case Listing():
                self._not_listed(error, now)
            case Outgoing() if about.token in self._outgoing:
                final = about.failed(error, now)
                if final is not None:
                    self._conclude(about, final)
                elif now >= about.expires:
                    self._conclude(about, _late(about.wanted.method))
                else:
                    self._waiting[about.token] = about
            case Receiving():
                about.failed(error, now)
                self._serve(about, now)
            case Stopped(token):
                self._finish(token, None)
            case _:
                pass

    # --- sessions and listings ---

    def _list(self, now: Instant) -> None:
        if not self._listing:
            self._listing = True
            self._list_again = NEVER
            waits = [*self._listings.values(), *(call.expires for call in self._waiting.values())]
            left = min(max(waits, default=NEVER) - now, HELD_NS)
            self._ask(m.ListRequest(open_session=True), Listing(), max(1, left))

    def _listed(self, response: m.ListResponse, now: Instant) -> None:
        self._listing = False
        self._backoff.reset()
        if self._session is None:
            self._session = Session(response.session)
            self._remembered = response.session > 0
        for token in self._listings:
            self._finish(token, Said(response))
        self._listings.clear()
        for call in tuple(self._waiting.values()):
            if call.retry_at is None:
                self._make(call, now)

    def _not_listed(self, error: RpcError, now: Instant) -> None:
        self._listing = False
        if error.outcome is not Outcome.FAILED:
            self._list_again = self._backoff.next(now)
            return
        for token in self._listings:
            self._finish(token, error)
        self._listings.clear()
        for call in tuple(self._waiting.values()):
            if call.retry_at is None:
                self._conclude(call, error)

    # --- calls ---

    def _make(self, call: Outgoing, now: Instant) -> None:
        """Makes a call, or waits for the session that it needs."""
        needs = call.needs_session or self._remembered
        if self._session is None and call.session is None and needs:
            call.retry_at = None
            self._waiting[call.token] = call
            self._list(now)
            return
        self._waiting.pop(call.token, None)
        request = call.request(self._session, now)
        if call.wanted.streams and not request.session:
            self._conclude(call, NO_SESSIONS)
            return
        self._ask(request, call, call.timeout_ns(now))

    def _called(self, call: Outgoing, response: m.CallResponse, now: Instant) -> None:
        match response.refusal:
            case m.Refusal.NONE:
                self._conclude(call, Said(response))
            case m.Refusal.FORGOTTEN:
                self._conclude(call, MAY_HAVE_RUN)
            case m.Refusal.SESSION | m.Refusal.STOPPING:
                if self._session is call.session:
                    self._session = None
                if not call.leave():
                    self._conclude(call, MAY_HAVE_RUN)
                    return
                self._waiting[call.token] = call
                if response.refusal is m.Refusal.SESSION:
                    self._list(now)
                else:
                    call.later(now)

    def _conclude(self, call: Outgoing, result: Said | RpcError) -> None:
        """A call is over; a stream that was opened begins."""
        self._outgoing.pop(call.token, None)
        self._waiting.pop(call.token, None)
        if call.wanted.streams and isinstance(result, Said) and call.session is not None:
            self._streams[call.token] = Receiving(call.session, call.seq, Backoff(self._luck))
        elif call.session is not None:
            call.session.close(call.seq)
        self._finish(call.token, result)

    def _cancel(self, token: int) -> None:
        call = self._outgoing.get(token)
        stream = self._streams.pop(token, None)
        if call is not None:
            self._tell_cancelled(call.session, call.seq)
            self._conclude(call, CANCELLED)
        if stream is not None:
            if not stream.ended:
                self._tell_cancelled(stream.session, stream.seq)
            stream.session.close(stream.seq)
            if stream.wanted:
                self._finish(stream.wanted, CANCELLED)

    def _tell_cancelled(self, session: Session | None, seq: int) -> None:
        if session is not None:
            self._ask(m.CancelCallRequest(session.id, seq), None, ASIDE_NS)

    # --- streams ---

    def _next(self, token: int, wanted: NextItem, now: Instant) -> None:
        stream = self._streams.get(wanted.stream)
        if stream is None or stream.wanted:
            self._finish(token, NO_STREAM)
            return
        stream.wanted = token
        stream.expires = now + wanted.timeout_ns if wanted.timeout_ns > 0 else NEVER
        self._serve(stream, now)

    def _serve(self, stream: Receiving, now: Instant) -> None:
        """Gives the application what it waits for, and fetches what comes next."""
        if stream.wanted:
            found = stream.next()
            if found is None and now >= stream.expires:
                found = _late("the stream's next item")
            if found is not None:
                token, stream.wanted = stream.wanted, 0
                self._finish(token, found)
        if stream.ended:
            stream.session.close(stream.seq)
            return
        request = stream.request(now)
        if request is not None:
            self._ask(request, stream, HELD_NS)

    # --- time, and the end ---

    def _woke(self, now: Instant) -> None:
        for token, expires in tuple(self._listings.items()):
            if now >= expires:
                del self._listings[token]
                self._finish(token, _late("the list of methods"))
        for call in tuple(self._waiting.values()):
            if now >= call.expires:
                self._conclude(call, _late(call.wanted.method))
            elif call.retry_at is not None and now >= call.retry_at:
                self._make(call, now)
        if now >= self._list_again:
            self._list_again = NEVER
            if self._listings or any(call.retry_at is None for call in self._waiting.values()):
                self._list(now)
        for stream in tuple(self._streams.values()):
            if now >= stream.deadline():
                self._serve(stream, now)

    def _close(self, stopped: Stopped) -> None:
        self._closing = stopped
        for listing in self._listings:
            self._finish(listing, CLOSED)
        self._listings.clear()
        self._list_again = NEVER
        for call in tuple(self._outgoing.values()):
            self._conclude(call, CLOSED)
        for stream in self._streams.values():
            if stream.wanted:
                self._finish(stream.wanted, CLOSED)
        self._streams.clear()
        if self._session is not None and self._session.id:
            self._ask(m.EndSessionRequest(self._session.id), stopped, ASIDE_NS)
        else:
            self._finish(stopped.token, None)


def _late(what: str) -> RpcError:
    return RpcError(Code.DEADLINE_EXCEEDED, f"Deadline Exceeded: no answer in time for {what}", Outcome.UNKNOWN)
