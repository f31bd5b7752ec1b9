"""What passes between a client machine and the application that reads from it."""

from __future__ import annotations

from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages import LanePlace, Response
from tfsvc.protocol.production import Encoding
from tfsvc.record import record


@record
class Taken:
    """The application has consumed the elements of a stream before ``ordinal``."""

    stream: int
    ordinal: int


@record
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


@record
class MakeUp:
    """The consumer has no more elements, but others have: ``count`` are to be made up.

    ``first``: how many were made up before.
    """

    first: int
    count: int


@record
class EndOfData:
    """There are no more elements."""

    warning: str = ""


@record
class Said:
    """What a peer answered to a single question."""

    response: Response


Delivery = Batch | MakeUp | EndOfData | Said
