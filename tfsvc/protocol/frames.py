"""Frames: how elements travel, many at a time. What is inside stays opaque to the protocol."""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.record import record


@record
class Frame:
    """Consecutive elements ``start .. start + count`` of one pipeline's output, or one failed element.

    An error takes the place of one element: the reader is told of it and may go on behind it.
    ``run`` says which of an ordered lane's blocks the elements came out of.
    """

    start: int = 0
    count: int = 0
    body: bytes | memoryview = b""
    error: RpcError | None = None
    run: int = 0

    @property
    def end(self) -> int:
        return self.start + self.count

    @property
    def size(self) -> int:
        """Bytes it weighs in a buffer."""
        return len(self.body) + 64
