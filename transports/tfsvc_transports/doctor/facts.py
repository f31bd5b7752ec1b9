"""What is known before it is judged: plain values, so that every judgement can be tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from tfsvc.protocol.messages import AboutNodeResponse, Description


class Reach(Enum):
    """What came of a connection."""

    OPEN = "open"
    REFUSED = "refused"
    SILENT = "silent"
    """No answer at all."""
    NO_WAY = "no way"
    """This machine knows no way there."""


@dataclass(frozen=True)
class Peer:
    """A node as it is seen from here.

    Attributes:
      role: ``"dispatcher"`` or ``"worker"``.
      address: ``host:port``, as others are told.
      unresolved: why the name is not known here; empty if it is.
      reached: what came of a connection to each of its numeric addresses.
      about: what it says of itself; ``None`` if it does not.
      error: why it did not, and ``code``, the name of that error.
      ahead_ns: how far its clock is ahead of this machine's.
      trip_ns: how long its answer took; its clock is known no better than that.
    """

    role: str
    address: str
    unresolved: str = ""
    reached: Mapping[str, Reach] = field(default_factory=dict)
    about: AboutNodeResponse | None = None
    error: str = ""
    code: str = ""
    ahead_ns: int = 0
    trip_ns: int = 0

    @property
    def host(self) -> str:
        return self.address.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> str:
        return self.address.rpartition(":")[2]

    @property
    def name(self) -> str:
        return f"{self.role} {self.address}"


@dataclass(frozen=True)
class Facts:
    """All that was found.

    Attributes:
      here: this process and machine.
      environment: of this process.
      localhost: the numeric addresses of ``localhost``.
      wanted: ports that a server is to bind here; ``taken``: those that it cannot, with the reason.
      dispatcher: ``None`` if nobody named one.
      description: what it tells of its cluster; ``None`` if it does not.
      workers: of which it tells; of very many some.
    """

    here: AboutNodeResponse
    environment: Mapping[str, str] = field(default_factory=dict)
    localhost: tuple[str, ...] = ("127.0.0.1",)
    wanted: tuple[int, ...] = ()
    taken: Mapping[int, str] = field(default_factory=dict)
    dispatcher: Peer | None = None
    description: Description | None = None
    workers: tuple[Peer, ...] = ()

    @property
    def peers(self) -> tuple[Peer, ...]:
        return (*(() if self.dispatcher is None else (self.dispatcher,)), *self.workers)
