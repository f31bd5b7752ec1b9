"""Heartbeats of a reader: what its application took, what it cannot get, and when to ask for news."""

from __future__ import annotations

from typing import Final

from tfsvc.protocol import messages as m
from tfsvc.protocol.client.intake import Intake
from tfsvc.protocol.client.streams import Stream
from tfsvc.protocol.ids import MILLISECOND, NEVER, Instant
from tfsvc.protocol.settings import ClientSettings

POLL_NS_MIN: Final = 5 * MILLISECOND
POLL_NS_MAX: Final = 200 * MILLISECOND
"""While the application waits and nothing is on its way, news is asked for in these intervals."""


class Heartbeats:
    """Decides when the dispatcher is told and asked, and what.

    Args:
      intake: the reader's streams, as they are at each moment.
    """

    def __init__(self, settings: ClientSettings, intake: Intake) -> None:
        self.finished = False
        self.warning = ""
        self._settings = settings
        self._intake = intake
        self._busy = False
        self._due: Instant = 0
        self._hurried = False
        self._not_before: Instant = 0
        self._sent: Instant = 0
        self._poll_ns = POLL_NS_MIN
        self._sending: list[tuple[Stream, m.LaneProgress]] = []
        self._complained: dict[tuple[int, int], Instant] = {}

    def deadline(self) -> Instant:
        return NEVER if self._busy or self.finished else max(self._due, self._not_before)

    def next(
        self, now: Instant, waiting: bool, blocked: bool = False
    ) -> tuple[tuple[m.LaneProgress, ...], tuple[m.LaneComplaint, ...]] | None:
        """What the heartbeat says that is to be sent now, if one is due: of lanes that got on, and that did not.

        Args:
          waiting: whether the application is.
          blocked: whether it waits for other readers.
        """
        if self._busy or self.finished or now < self._not_before:
            return None
        complaints = self._complaints(now)
        if not (now >= self._due or complaints or self._intake.done):
            if waiting and (blocked or self._intake.dry):
                self._due = min(self._due, self._sent + self._poll_ns)
            if now < self._due:
                return None
        self._busy = True
        self._sent = now
        self._sending = [(stream, stream.progress()) for _, stream in sorted(self._intake.moved.items())]
        self._intake.moved.clear()
        news = tuple(progress for stream, progress in self._sending if stream.reported != progress)
        return news, complaints

    def answered(self, now: Instant, news: m.ClientHeartbeatResponse) -> None:
        self._busy = False
        for stream, progress in self._sending:
            stream.reported = progress
        self.finished = self.finished or news.iteration_finished
        self.warning = news.warning
        self._due = 0 if self._hurried else self._sent + self._settings.refresh_ns
        self._hurried = False
        self._poll_ns = min(self._poll_ns * 2, POLL_NS_MAX)

    def failed(self, now: Instant) -> None:
        """No answer: the same is said again soon."""
        self._busy = False
        for stream, _ in self._sending:
            if self._intake.streams.get(stream.id) is stream:
                self._intake.moved[stream.id] = stream
        self._due = self._not_before = now + POLL_NS_MAX

    def end(self, warning: str) -> None:
        """Nobody is to be told or asked anything more."""
        self.finished, self.warning = True, warning

    def hurry(self) -> None:
        """There is something to say at once."""
        self._due, self._hurried = 0, self._busy

    def progressed(self) -> None:
        """Elements came: the next wait for news starts with short intervals again."""
        self._poll_ns = POLL_NS_MIN

    def unreported(self) -> int:
        """How many elements were taken from lanes of which the dispatcher has not confirmed that it knows."""
        streams = (s for s in self._intake.streams.values() if s.lane_id)
        return sum(s.taken - (s.first if s.reported is None else s.reported.ordinal) for s in streams)

    def _complaints(self, now: Instant) -> tuple[m.LaneComplaint, ...]:
        """Lanes that do not get on; each is mentioned at once, and then again at every refresh."""
        if not self._intake.failing:
            return ()
        found = []
        for _, s in sorted(self._intake.failing.items()):
            if not s.lane_id or s.ended or s.failing_since is None:
                continue
            refused = s.refused is not None
            if not refused and now - s.failing_since < self._settings.patience_ns:
                continue
            key = s.lane_id, s.attempt
            if now - self._complained.get(key, -self._settings.refresh_ns) >= self._settings.refresh_ns:
                self._complained[key] = now
                reason = s.refused.message if s.refused is not None else f"worker {s.address} is out of reach"
                found.append(m.LaneComplaint(s.lane_id, s.attempt, reason, refused))
        return tuple(found)
