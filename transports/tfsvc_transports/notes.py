"""Notes of machines in the log of the process, with the ids that logs are searched for.

A cluster in trouble has much to say, and says it again and again. So the same text is written once in ten seconds, and
of texts that differ in numbers and names alone no more than a few. What was held back is counted, and the count is
written when the ten seconds are over.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Final

from tfsvc.flight.births import ROLES, Birth, ReaderBirth
from tfsvc.protocol.contract import About, Note
from tfsvc_transports import timers

LOG = logging.getLogger("tfsvc")

INTERVAL_S: Final = 10.0
ALIKE_MAX: Final = 5
"""How many texts that are alike are written within an interval."""
SHAPES_MAX: Final = 1000
"""How many shapes of texts are remembered; then the oldest is forgotten."""

_VARIES: Final = re.compile(r"\S*\d\S*|'[^']*'")
"""What differs between texts that are alike: words with digits in them, and names in quotes."""


@dataclass(slots=True)
class _Interval:
    """What was written of one shape since a moment."""

    since: float
    texts: dict[str, None] = field(default_factory=dict)
    held_back: int = 0
    last: Note | None = None


class Notes:
    """Writes to the logger ``tfsvc``.

    Args:
      name: the node's for people, put in front of each text.
      clock: seconds.
      later: has something done at an instant of ``time.monotonic_ns``.
    """

    def __init__(
        self,
        name: str,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[int, Callable[[], None]], None] = timers.at,
    ) -> None:
        self._name = name
        self._clock = clock
        self._later = later
        self._ids: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._intervals: dict[str, _Interval] = {}

    def identify(self, birth: Birth) -> None:
        """Whose notes they are, from now on."""
        self._ids = {"role": ROLES[type(birth)], "node": birth.name, "incarnation": birth.incarnation}
        if isinstance(birth, ReaderBirth) and birth.request.job_name is not None:
            self._ids["job"] = birth.request.job_name

    def tell(self, note: Note) -> None:
        """Writes a note, unless it is held back."""
        shape = f"{note.level} {_VARIES.sub('#', note.text)}"
        now = self._clock()
        with self._lock:
            interval = self._intervals.get(shape)
            if interval is None or now - interval.since >= INTERVAL_S:
                self._open(shape, interval, now)
                interval = self._intervals[shape]
            if note.text in interval.texts or len(interval.texts) >= ALIKE_MAX:
                interval.held_back += 1
                interval.last = note
                if interval.held_back == 1:
                    self._later(int((interval.since + INTERVAL_S) * 1e9), lambda: self._close(shape, interval))
                return
            interval.texts[note.text] = None
        self._write(note)

    def _open(self, shape: str, before: _Interval | None, now: float) -> None:
        if before is None and len(self._intervals) >= SHAPES_MAX:
            del self._intervals[next(iter(self._intervals))]
        self._intervals[shape] = _Interval(now)

    def _close(self, shape: str, interval: _Interval) -> None:
        """Says how much was held back."""
        with self._lock:
            if self._intervals.get(shape) is interval:
                del self._intervals[shape]
        if interval.last is not None:
            self._write(interval.last, interval.held_back)

    def _write(self, note: Note, held_back: int = 0) -> None:
        level = logging.getLevelNamesMapping()[note.level.upper()]
        ids = {**self._ids, **_known(note.about)}
        if held_back:
            ids["held_back"] = held_back
            more = f" ({held_back} like it within {INTERVAL_S:g} s)"
        else:
            more = ""
        LOG.log(level, "%s: %s%s", self._name, note.text, more, extra={"ids": ids})


def _known(about: About) -> dict[str, Any]:
    found = {f.name: getattr(about, f.name) for f in fields(about)}
    return {name: value for name, value in found.items() if value}
