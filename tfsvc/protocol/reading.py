"""What passes between a client machine and the application that reads from it."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages import LanePlace, Response
from tfsvc.protocol.production import Encoding


@dataclass(frozen=True, slots=True)
class Taken:
    """The application has consumed the elements of a stream before ``ordinal``."""

    stream: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Batch:
    """The next elements for the application: ``frame`` without its first ``skip`` elements.

    Attributes:
      stream: names the stream in ``Taken``.
      worker: who made them.
      encoding: how the frame's body is laid out.
      place: where an ordered lane goes on before the first of them.
      stop: without the frame's elements from there on, which come later; ``None`` for all of them.
    """

    stream: int
    worker: str
    frame: Frame
    skip: int
    encoding: Encoding
    place: LanePlace = LanePlace()
    stop: int | None = None

    @property
    def first(self) -> int:
        return self.frame.start + self.skip

    @property
    def count(self) -> int:
        """How many elements there are."""
        return (self.frame.count if self.stop is None else self.stop) - self.skip


@dataclass(frozen=True, slots=True)
class MakeUp:
    """The consumer has no more elements, but others have: ``count`` are to be made up.

    ``first``: how many were made up before.
    """

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class EndOfData:
    """There are no more elements."""

    warning: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a peer answered to a single question."""

    response: Response


Delivery = Batch | MakeUp | EndOfData | Said
