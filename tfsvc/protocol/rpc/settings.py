"""What an RPC server knows of a method, and how long it remembers."""

from __future__ import annotations

from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.messages import RegisteredMethod
from tfsvc.record import record


@record
class MethodSettings:
    """A method and how it may run.

    Attributes:
      listing: what peers are told of it.
      batch_max: how many calls one run of its function may take.
      wait_ns: how long a call may wait for others to fill a batch.
      running_max: how many runs, or open streams, there may be at once; ``None`` for any number.
      waiting_max: how many more calls may wait for one of these to end; ``None`` for any number.
    """

    listing: RegisteredMethod
    batch_max: int = 1
    wait_ns: int = 0
    running_max: int | None = None
    waiting_max: int | None = None

    @property
    def name(self) -> str:
        return self.listing.method


@record
class RpcServerSettings:
    """What a server remembers of calls, and holds of streams.

    Attributes:
      answers_max: how many answers of a session are kept for repetitions of their calls; 4096.
      answer_bytes_max: and how many bytes of them; 64 MiB.
      idle_ns: a session in which nothing happens for this long is forgotten; 10 min.
      hold_ns: how long a read of a stream without items at hand is held before it is answered empty; 1 s.
      ahead_items: how many items of a stream are made before they are fetched; 64.
      ahead_bytes: and how many bytes of them; 4 MiB.
    """

    answers_max: int = 4096
    answer_bytes_max: int = 64 << 20
    idle_ns: int = 600 * SECOND
    hold_ns: int = SECOND
    ahead_items: int = 64
    ahead_bytes: int = 4 << 20
