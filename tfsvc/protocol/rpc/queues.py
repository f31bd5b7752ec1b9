"""A method's queue: when its function runs, for how many calls at once, and who is turned away."""

from __future__ import annotations

from collections import deque

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.ids import NEVER, CallId, Instant
from tfsvc.protocol.rpc.admitted import Admitted
from tfsvc.protocol.rpc.settings import MethodSettings


class Queue:
    """The calls of one method that have not begun, and how many runs are under way."""

    def __init__(self, settings: MethodSettings) -> None:
        self.settings = settings
        self.running = 0
        self._waiting: deque[Admitted] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def refusal(self) -> RpcError | None:
        """Why no further call is taken on now, if so."""
        waiting_max = self.settings.waiting_max
        if self._free or waiting_max is None or len(self._waiting) < waiting_max:
            return None
        text = (
            f"{self.settings.name} has {self.running} runs under way and {len(self._waiting)} calls waiting, as many "
            "as it was registered for. Call again later, or register it with a higher max_concurrent or max_queued."
        )
        return RpcError(Code.RESOURCE_EXHAUSTED, text)

    def add(self, call: Admitted) -> None:
        self._waiting.append(call)

    def of(self, asked: CallId) -> Admitted | None:
        """The call that has not begun and that a request asked for."""
        return next((call for call in self._waiting if asked in call.asked), None)

    def drop(self, call: Admitted) -> bool:
        """Takes a call out of the queue; false if it has begun."""
        try:
            self._waiting.remove(call)
        except ValueError:
            return False
        return True

    def take(self, now: Instant) -> tuple[list[Admitted], list[Admitted]]:
        """The calls of the run that begins now, if one does, and those whose callers have given up."""
        batch: list[Admitted] = []
        late: list[Admitted] = []
        if self._begins(now):
            while self._waiting and len(batch) < self.settings.batch_max:
                call = self._waiting.popleft()
                (late if call.expires <= now else batch).append(call)
            self.running += bool(batch)
        return batch, late

    def deadline(self) -> Instant:
        """When a batch that is not full begins all the same."""
        return self._waiting[0].since + self.settings.wait_ns if self._waiting and self._free else NEVER

    def _begins(self, now: Instant) -> bool:
        if not self._waiting or not self._free:
            return False
        full = len(self._waiting) >= self.settings.batch_max
        return full or now >= self._waiting[0].since + self.settings.wait_ns

    @property
    def _free(self) -> bool:
        return self.settings.running_max is None or self.running < self.settings.running_max
