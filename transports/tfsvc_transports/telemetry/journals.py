"""The journal of a node: how much is appended, how long it takes to be durable, how large it is."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from prometheus_client.core import Metric

from tfsvc.protocol.contract import Append, Command, Event, Synced
from tfsvc.protocol.ids import Instant
from tfsvc_transports.telemetry import catalogue as c


class JournalMeter:
    """A watcher of a dispatcher, and a collector of what it saw.

    Args:
      work_dir: where the journal lies; ``None`` where there is none.
    """

    def __init__(self, work_dir: str | None) -> None:
        self._directory = None if work_dir is None or "://" in work_dir else Path(work_dir)
        self._begun: deque[tuple[int, Instant]] = deque()
        self._updates = 0
        self._seconds = c.Distribution()

    def saw(self, now: Instant, event: Event, commands: Sequence[Command]) -> None:
        if isinstance(event, Synced):
            while self._begun and self._begun[0][0] <= event.upto:
                self._seconds.observe((now - self._begun.popleft()[1]) / 1e9)
        for command in commands:
            if isinstance(command, Append):
                self._updates += 1
                self._begun.append((command.number, now))

    def collect(self) -> Iterable[Metric]:
        yield c.JOURNAL_UPDATES.value(self._updates)
        yield c.JOURNAL_SECONDS.distributions({(): self._seconds})
        yield c.JOURNAL_BYTES.value(None if self._directory is None else _size(self._directory))


def _size(directory: Path) -> int | None:
    try:
        return sum(entry.stat().st_size for entry in os.scandir(directory) if entry.is_file())
    except OSError:  # gone, or being compacted at this moment
        return None
