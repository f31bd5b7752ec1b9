"""Heartbeats of a reader: what its application took, what it cannot get, and when to ask for news."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tfsvc.protocol import messages as m
from tfsvc.protocol.client.streams import Stream
from tfsvc.protocol.ids import MILLISECOND, NEVER, Instant
from tfsvc.protocol.settings import ClientSettings

POLL_NS_MIN: Final = 5 * MILLISECOND
POLL_NS_MAX: Final = 200 * MILLISECOND
"""While the application waits and nothing is on its way, news is asked for in these intervals."""


class Heartbeats:
    """Decides when the dispatcher is told and asked, and what.

    Args:
      streams: the reader's streams, as they are at each moment.
    """

    def __init__(self, settings: ClientSettings, streams: Mapping[int, Stream]) -> None:
        self.finished = False
        self.warning = ""
        self._settings = settings
        self._streams = streams
        self._busy = False
        self._due: Instant = 0
        self._hurried = False
        self._not_before: Instant = 0
        self._sent: Instant = 0
        self._poll_ns = POLL_NS_MIN
        self._reported: dict[int, m.LaneProgress] = {}
        self._sending: dict[int, m.LaneProgress] = {}
        self._complained: dict[tuple[int, int], Instant] = {}

    def deadline(self) -> Instant:
        return NEVER if self._busy or self.finished else max(self._due, self._not_before)

    def next(
        self, client_id: int, now: Instant, waiting: bool, blocked: bool = False
    ) -> m.ClientHeartbeatRequest | None:
        """The heartbeat to send now, if one is due.

        Args:
          waiting: whether the application is.
          blocked: whether it waits for other readers.
        """
        if self._busy or self.finished or now < self._not_before:
            return None
        complaints = self._complaints(now)
        done = any(s.lane_id and s.done for s in self._streams.values())
        if not (now >= self._due or complaints or done):
            idle = waiting and (blocked or all(s.dry for s in self._streams.values()))
            if idle:
                self._due = min(self._due, self._sent + self._poll_ns)
            if now < self._due:
                return None
        self._busy = True
        self._sent = now
        self._sending = {s.id: s.progress() for s in self._streams.values() if s.lane_id}
        news = tuple(p for i, p in self._sending.items() if self._reported.get(i) != p)
        return m.ClientHeartbeatRequest(client_id, reads_lanes=True, progress=news, complaints=complaints)

    def answered(self, now: Instant, news: m.ClientHeartbeatResponse) -> None:
        self._busy = False
        self._reported = self._sending
        self.finished = self.finished or news.iteration_finished
        self.warning = news.warning
        self._due = 0 if self._hurried else self._sent + self._settings.refresh_ns
        self._hurried = False
        self._poll_ns = min(self._poll_ns * 2, POLL_NS_MAX)

    def failed(self, now: Instant) -> None:
        """No answer: the same is said again soon."""
        self._busy = False
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
        streams = (s for s in self._streams.values() if s.lane_id)
        return sum(s.taken - (self._reported[s.id].ordinal if s.id in self._reported else s.first) for s in streams)

    def _complaints(self, now: Instant) -> tuple[m.LaneComplaint, ...]:
        """Lanes that do not get on; each is mentioned at once, and then again at every refresh."""
        found = []
        for s in self._streams.values():
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
