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
    """

    stream: int
    worker: str
    frame: Frame
    skip: int
    encoding: Encoding
    place: LanePlace = LanePlace()

    @property
    def first(self) -> int:
        return self.frame.start + self.skip


@dataclass(frozen=True, slots=True)
class EndOfData:
    """There are no more elements."""

    warning: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a peer answered to a single question."""

    response: Response


Delivery = Batch | EndOfData | Said
