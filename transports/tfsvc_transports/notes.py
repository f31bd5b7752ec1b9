"""Notes of machines in the log of the process, each text once in a while."""

from __future__ import annotations

import logging
import time
from typing import Final

LOG = logging.getLogger("tfsvc")

INTERVAL_S: Final = 10.0
TEXTS_MAX: Final = 1000
"""How many texts are remembered; then all are forgotten."""


class Notes:
    """Writes to the logger ``tfsvc``; a text that repeats within 10 s is counted instead.

    Args:
      name: the node's, put in front of each text.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: dict[str, tuple[float, int]] = {}

    def tell(self, level: str, text: str) -> None:
        """Writes ``text`` at a level of ``logging`` given by name, such as ``"warning"``."""
        now = time.monotonic()
        last, repeats = self._told.get(text, (-INTERVAL_S, 0))
        if now - last < INTERVAL_S:
            self._told[text] = last, repeats + 1
            return
        if len(self._told) >= TEXTS_MAX:
            self._told.clear()
        self._told[text] = now, 0
        again = f" ({repeats} times more since the last time)" if repeats else ""
        LOG.log(logging.getLevelNamesMapping()[level.upper()], "%s: %s%s", self._name, text, again)
