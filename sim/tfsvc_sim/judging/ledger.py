"""The ledger: every element that an application took, when and from whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tfsvc.protocol.ids import MILLISECOND, Instant
from tfsvc.record import record


@record
class Taking:
    """One element, taken.

    Attributes:
      at: when.
      reader: by whom.
      job: of which job.
      stream: the reader's number for the stream it came in.
      ordinal: which element of the stream.
      worker: who made it.
      values: what it holds, flat; empty for the error of a failed element.
      error: what user code raised, or empty.
    """

    at: Instant
    reader: str
    job: str
    stream: int
    ordinal: int
    worker: str
    values: tuple[int, ...]
    error: str = ""

    def __str__(self) -> str:
        place = f"element {self.ordinal} of {self.reader}'s stream {self.stream}"
        return f"at {self.at / MILLISECOND:.3f} ms, {place}, made by {self.worker}"


class Ledger:
    """What was taken in a run, in the order it was taken."""

    def __init__(self) -> None:
        self.takings: list[Taking] = []
        self.noted: Callable[[Taking], None] | None = None
        """Called with each element that is taken."""

    def add(self, taking: Taking) -> None:
        self.takings.append(taking)
        if self.noted is not None:
            self.noted(taking)

    def of(self, job: str) -> Iterator[Taking]:
        """What readers of a job took."""
        return (taking for taking in self.takings if taking.job == job)
