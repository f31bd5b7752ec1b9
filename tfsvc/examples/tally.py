"""What was delivered, held against what a plain loop over the same files gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsvc.examples.tokens import KINDS, blocks


@dataclass
class Tally:
    """Counts elements by identity, by process and by kind of token."""

    seen: Counter[tuple[bytes, int]] = field(default_factory=Counter)
    by_process: Counter[int] = field(default_factory=Counter)
    counts: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros(KINDS, np.int64))

    def add(self, element: dict[str, Any]) -> None:
        self.seen[element["file"], int(element["block"])] += 1
        self.by_process[int(element["process"])] += 1
        self.counts += element["counts"]

    @property
    def tokens(self) -> int:
        return int(self.counts.sum())

    def lost(self, expected: Tally) -> int:
        """How many elements of ``expected`` did not come."""
        return sum((expected.seen - self.seen).values())

    def repeated(self, expected: Tally) -> int:
        """How many came more often than ``expected``."""
        return sum((self.seen - expected.seen).values())


def plain_loop(files: Iterable[str]) -> Tally:
    """The same work in one process, without any service."""
    tally = Tally()
    for path in files:
        for element in blocks(path):
            tally.add(element)
    return tally
