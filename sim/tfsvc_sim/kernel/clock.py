"""Clocks: what a node's own clock shows, and when it will show something. No two nodes agree."""

from __future__ import annotations

from typing import Final

from tfsvc.protocol.ids import NEVER, Instant

MILLION: Final = 1_000_000


class Clock:
    """A clock that only goes forward, at its own rate.

    Args:
      now: the world's time at which it is set.
      shows: what it shows then, in nanoseconds.
      drift_ppm: how much faster than the world's it goes, in millionths; slower where negative.
    """

    def __init__(self, now: Instant, shows: Instant, drift_ppm: int = 0) -> None:
        self._set(now, shows, drift_ppm)

    def reads(self, now: Instant) -> Instant:
        """What it shows at ``now``."""
        shows = now + self._ahead
        return shows + (now - self._since) * self._drift_ppm // MILLION if self._drift_ppm else shows

    def when(self, shows: Instant) -> Instant:
        """The first moment of the world at which it shows this, or more; ``NEVER`` stays ``NEVER``."""
        if shows >= NEVER:
            return NEVER
        at = shows - self._ahead
        if not self._drift_ppm or at <= self._since:
            return at
        at = self._since + (at - self._since) * MILLION // (MILLION + self._drift_ppm)
        while self.reads(at) < shows:
            at += 1
        return at

    def drift(self, now: Instant, drift_ppm: int) -> None:
        """Goes at another rate from now on."""
        self._set(now, self.reads(now), drift_ppm)

    def jump(self, now: Instant, ahead_ns: int) -> None:
        """Leaps ahead, as when a machine that slept counts its sleep."""
        assert ahead_ns >= 0, "the clock that machines go by never goes back"
        self._set(now, self.reads(now) + ahead_ns, self._drift_ppm)

    def _set(self, now: Instant, shows: Instant, drift_ppm: int) -> None:
        assert drift_ppm > -MILLION, "a clock goes forward"
        self._since, self._ahead, self._drift_ppm = now, shows - now, drift_ppm
