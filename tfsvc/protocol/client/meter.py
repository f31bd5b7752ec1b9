"""What an application took, how long it waited for it, and how fast it is."""

from __future__ import annotations

from tfsvc.protocol.ids import Instant
from tfsvc.protocol.messages.description import Consumption
from tfsvc.protocol.pace import Pace
from tfsvc.protocol.reading import Batch, Taken


class Meter:
    """Measures a reader's application from one wish for a batch to the next, and counts what it takes in between."""

    def __init__(self) -> None:
        self._pace = Pace()
        self._began: Instant | None = None
        self._waits_since: Instant | None = None
        self._waited_ns = 0
        self._elements = 0
        self._bytes = 0
        self._batch: Batch | None = None
        self._counted = 0
        self._handed_at: Instant = 0

    @property
    def element_ns(self) -> float:
        """How long the application is busy with an element; 0 before it was given one."""
        return self._pace.element_ns

    def wanted(self, taken: tuple[Taken, ...], now: Instant) -> None:
        """The application has done with what it was given, and waits for more."""
        if self._batch is not None:
            self._pace.note(now - self._handed_at, self._batch.count)
        self.stopped(taken)
        self._began = now if self._began is None else self._began
        self._waits_since = now

    def took(self, taken: tuple[Taken, ...]) -> None:
        """How far the application has come in what it was given."""
        batch = self._batch
        if batch is None or not batch.count:
            return
        upto = next((report.ordinal for report in taken if report.stream == batch.stream), 0)
        count = max(self._counted, min(batch.count, upto - batch.first))
        size, frame_count = len(batch.frame.body), batch.frame.count
        self._elements += count - self._counted
        self._bytes += size * count // frame_count - size * self._counted // frame_count
        self._counted = count

    def stopped(self, taken: tuple[Taken, ...]) -> None:
        """The application takes no more of what it was given than it says."""
        self.took(taken)
        self._batch = None

    def handed(self, batch: Batch | None, now: Instant) -> None:
        """The wait is over: with a batch, or with anything else."""
        if self._waits_since is not None:
            self._waited_ns += now - self._waits_since
        self._waits_since = None
        self._batch, self._handed_at, self._counted = batch, now, 0

    def consumption(self, discarded: int, missed: int, now: Instant) -> Consumption:
        """All of it as the dispatcher is told."""
        waits_ns = 0 if self._waits_since is None else now - self._waits_since
        age_ns = 0 if self._began is None else now - self._began
        return Consumption(self._elements, self._bytes, self._waited_ns + waits_ns, age_ns, discarded, missed)
