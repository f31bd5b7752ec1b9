"""The worker's half of shared memory: bodies of frames are written where a reader of this host offers room.

The memory stays mapped while its reader comes back with it, since to map it anew costs more than to copy. What was not
written to for a while is let go, so that the memory of a reader that was killed is free two seconds later.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfsvc.protocol.ids import SECOND, Instant
from tfsvc_transports import timers
from tfsvc_transports.memory import KEPT_BYTES_MAX, WORTH_BYTES, host

ALIGNMENT: Final = 64
"""Where bodies start."""
IDLE_NS: Final = 1 * SECOND
"""What was not written to for this long is let go, and at the latest after twice that."""
MAPS_MAX: Final = 256
"""How much is mapped at once; each takes a file descriptor."""


@dataclass(slots=True)
class _Map:
    memory: Any
    used: Instant


class Deposits:
    """What one worker has mapped of its readers' memory. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._maps: OrderedDict[str, _Map] = OrderedDict()
        self._watching = False
        self._closed = False

    def put(self, offer: str, bodies: Sequence[bytes | memoryview]) -> tuple[int, ...] | None:
        """Writes bodies to offered memory; where each begins, or ``None``: send them in the message.

        Args:
          offer: ``Offer.header``, as any peer may have sent it. It names memory by a secret of its reader, so that
            nobody can be made to write elsewhere.
        """
        if sum(map(len, bodies)) < WORTH_BYTES or not offer.startswith(f"{host()}/"):
            return None
        places = []
        size = 0
        for body in bodies:
            places.append(size)
            size += len(body) + -len(body) % ALIGNMENT
        memory = self._find(offer, size)
        if memory is None:
            return None
        for place, body in zip(places, bodies, strict=True):
            # Lets other threads run meanwhile, as an assignment of bytes would not.
            np.copyto(memory[place : place + len(body)], np.frombuffer(body, np.uint8))
        return tuple(places)

    def close(self) -> None:
        """Lets go of everything; nothing is written any more."""
        with self._lock:
            self._closed = True
            self._maps.clear()

    def _find(self, offer: str, size: int) -> Any:
        """At least ``size`` bytes of the offered memory, or ``None``."""
        now = time.monotonic_ns()
        with self._lock:
            known = self._maps.get(offer)
            if known is not None and len(known.memory) >= size:
                known.used = now
                self._maps.move_to_end(offer)
                return known.memory
        memory = _open(offer, size)
        if memory is None or len(memory) > KEPT_BYTES_MAX:  # its reader will not come back with it
            return memory
        with self._lock:
            if not self._closed:
                self._maps[offer] = _Map(memory, now)
                self._maps.move_to_end(offer)
                if len(self._maps) > MAPS_MAX:
                    self._maps.popitem(last=False)
                self._watch()
        return memory

    def _watch(self) -> None:
        if not self._watching:
            self._watching = True
            timers.at(time.monotonic_ns() + IDLE_NS, self._sweep)

    def _sweep(self) -> None:
        with self._lock:
            self._watching = False
            oldest = time.monotonic_ns() - IDLE_NS
            while self._maps and next(iter(self._maps.values())).used <= oldest:
                self._maps.popitem(last=False)
            if self._maps:
                self._watch()


def _open(offer: str, size: int) -> Any:
    """Maps what is offered, made ``size`` bytes long at the least; ``None`` if it cannot be had."""
    try:
        _, pid, number, name = offer.split("/")
        path = f"/proc/{int(pid)}/fd/{int(number)}"
        link = f"/memfd:{name} (deleted)"
        if not name.startswith("tfsvc-") or os.readlink(path) != link:
            return None
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            # Whoever reaches a process's files may be its user or its ruler; only memory of this very user will do.
            if os.readlink(f"/proc/self/fd/{file}") != link or os.fstat(file).st_uid != os.geteuid():
                return None
            # Pages that the system cannot give are an error here, and a signal when they are written to.
            os.posix_fallocate(file, 0, size)
            return np.frombuffer(mmap.mmap(file, os.fstat(file).st_size), np.uint8)
        finally:
            os.close(file)
    except (OSError, ValueError):
        return None
