"""The client's end of a stream: what to fetch next, and what the application gets."""

from __future__ import annotations

from collections import deque
from typing import Final

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.calls import Backoff
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.messages import CallResponse, FetchItemsRequest, FetchItemsResponse, Refusal
from tfsvc.protocol.reading import EndOfData, Said
from tfsvc.protocol.rpc.outgoing import Session

FETCH_BYTES: Final = 1 << 20
"""How much one call asks for."""

GONE: Final = RpcError(Code.ABORTED, "the server no longer has the stream: it was restarted, or not read for too long")


class Receiving:
    """One stream.

    Attributes:
      session: where the server keeps it.
      seq: under which number.
      fetching: whether a fetch is under way.
      wanted: the application's request that waits for an item; 0 for none.
      expires: when that request has waited for too long.
    """

    def __init__(self, session: Session, seq: int, backoff: Backoff) -> None:
        self.session = session
        self.seq = seq
        self.fetching = False
        self.wanted = 0
        self.expires: Instant = NEVER
        self._retry_at: Instant = NEVER
        self._backoff = backoff
        self._items: deque[CallResponse] = deque()
        self._bytes = 0
        self._ordinal = 0
        self._end: EndOfData | RpcError | None = None

    @property
    def ended(self) -> bool:
        """Whether the server has nothing more to give."""
        return self._end is not None

    def request(self, now: Instant) -> FetchItemsRequest | None:
        """What to ask now, if anything."""
        backing_off = self._retry_at != NEVER and now < self._retry_at
        if self.fetching or self.ended or backing_off or self._bytes >= FETCH_BYTES:
            return None
        self.fetching = True
        self._retry_at = NEVER
        return FetchItemsRequest(self.session.id, self.seq, self._ordinal, FETCH_BYTES)

    def answered(self, answer: FetchItemsResponse) -> None:
        self.fetching = False
        self._backoff.reset()
        if answer.refusal is not Refusal.NONE:
            self._end = GONE
            return
        self._items.extend(answer.items)
        self._bytes += sum(item.size for item in answer.items)
        self._ordinal += len(answer.items)
        if answer.ended:
            self._end = EndOfData()

    def failed(self, error: RpcError, now: Instant) -> None:
        """A fetch may be made again, since it names its place; an error of the stream is its end."""
        self.fetching = False
        if error.outcome is Outcome.FAILED:
            self._end = error
        else:
            self._retry_at = self._backoff.next(now)

    def next(self) -> Said | EndOfData | RpcError | None:
        """What the application gets; ``None``: it has to wait."""
        if self._items:
            item = self._items.popleft()
            self._bytes -= item.size
            return Said(item)
        return self._end

    def deadline(self) -> Instant:
        """When to ask again, or to tell the application that it has waited for too long."""
        return min(self._retry_at, self.expires if self.wanted else NEVER)
