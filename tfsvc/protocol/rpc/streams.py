"""The server's end of a stream: items that were made and not yet given back.

A reader names the ordinal that it wants next, so asking again is harmless: items stay until it asks for what follows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from tfsvc.errors import RpcError
from tfsvc.protocol.contract import Pull
from tfsvc.protocol.ids import NEVER, CallId, Instant
from tfsvc.protocol.messages import CallResponse, FetchItemsRequest, FetchItemsResponse, Refusal, Tensors
from tfsvc.protocol.rpc.settings import RpcServerSettings

Given = tuple[CallId, FetchItemsResponse | RpcError]


class Stream:
    """One stream.

    Args:
      run: names it towards the driver.
      method: whose results it gives.
      inputs: the arguments, until the first command has carried them.
    """

    def __init__(self, run: int, method: str, inputs: Tensors, settings: RpcServerSettings) -> None:
        self.run = run
        self.ended = False
        self._method = method
        self._inputs: Tensors | None = inputs
        self._settings = settings
        self._items: deque[CallResponse] = deque()
        self._first = 0
        self._bytes = 0
        self._pulling = False
        self._error: RpcError | None = None
        self._held: list[tuple[CallId, FetchItemsRequest, Instant]] = []

    def pull(self) -> Pull | None:
        """The command that makes one more item, unless enough are at hand or it is under way."""
        full = len(self._items) >= self._settings.ahead_items or self._bytes >= self._settings.ahead_bytes
        if self._pulling or self.ended or full:
            return None
        self._pulling = True
        inputs, self._inputs = self._inputs, None
        return Pull(self.run, self._method, inputs)

    def pulled(self, item: CallResponse | RpcError | None) -> None:
        """Takes what was made."""
        self._pulling = False
        if self.ended:
            return
        if isinstance(item, CallResponse):
            self._items.append(item)
            self._bytes += item.size
        else:
            self.ended, self._error = True, item

    def stop(self, error: RpcError) -> None:
        """Ends it for ``error``, before its end."""
        self.ended, self._error = True, error
        self._items.clear()

    def fetch(self, call: CallId, request: FetchItemsRequest, now: Instant) -> None:
        """A reader wants items; :meth:`given` answers."""
        while self._items and self._first < request.ordinal:
            self._first += 1
            self._bytes -= self._items.popleft().size
        self._held.append((call, request, now + self._settings.hold_ns))

    def given(self, now: Instant) -> Iterator[Given]:
        """The requests that can be answered now, with their answers."""
        held, self._held = self._held, []
        for call, request, until in held:
            answer = self._answer(request, now >= until)
            if answer is None:
                self._held.append((call, request, until))
            else:
                yield call, answer

    def deadline(self) -> Instant:
        """When the first held request must be answered, with or without items."""
        return min((until for _, _, until in self._held), default=NEVER)

    def _answer(self, request: FetchItemsRequest, waited: bool) -> FetchItemsResponse | RpcError | None:
        skip = request.ordinal - self._first
        if skip < 0:
            return FetchItemsResponse(refusal=Refusal.FORGOTTEN)
        items: list[CallResponse] = []
        room = request.bytes_max
        for item in list(self._items)[skip:]:
            if items and item.size > room:
                break
            room -= item.size
            items.append(item)
        last = self.ended and skip + len(items) >= len(self._items)
        if last and not items and self._error is not None:
            return self._error
        if items or last or waited:
            return FetchItemsResponse(tuple(items), last and self._error is None)
        return None
