"""What passes between a client machine and the application that reads from it."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.protocol.frames import Frame


@dataclass(frozen=True, slots=True)
class Taken:
    """The application has consumed the elements of a stream before ``ordinal``."""

    stream: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Batch:
    """The next elements for the application: ``frame`` without its first ``skip`` elements."""

    stream: int
    frame: Frame
    skip: int = 0

    @property
    def first(self) -> int:
        return self.frame.start + self.skip


@dataclass(frozen=True, slots=True)
class EndOfData:
    """There are no more elements."""

    warning: str = ""


Delivery = Batch | EndOfData
