"""Shared memory on one host: a reader offers memory, and its worker writes the bodies of frames into it.

With each read the reader offers a buffer: a file without a name (``memfd``) that its process holds. A worker of the
same user on the same host opens it through ``/proc`` (``deposits.py``). So nothing is left behind by any process,
however it ends. The messages stay as they are, except that a frame says where its body lies.

Laws of this module
1. A buffer has one writer: it is offered with one call, and is used again only if that call was answered.
2. A buffer is used again only when no view of it is alive, in this process or in one forked from it.
3. Whoever cannot offer, or cannot write, sends bodies in messages; nobody fails for want of shared memory.
"""

from __future__ import annotations

import mmap
import os
import secrets
import threading
import weakref
from collections import deque
from functools import cache, partial
from typing import Any, Final

import numpy as np

from tfsvc.protocol.ids import Address

WORTH_BYTES: Final = 64 << 10
"""Less than this travels as fast in a message."""
BUFFERS_MAX: Final = 64
"""How many buffers a reader has. Each takes two file descriptors for as long as a view of it is alive."""
KEPT_BYTES_MAX: Final = 17 << 20
"""Up to which size a buffer that nobody uses is kept for later reads; a read brings more only if a single frame is
larger."""
KEPT_IN_ALL_MAX: Final = 4 * KEPT_BYTES_MAX
"""How much of them is kept together."""

_forks = 0
"""How often this process was forked. What was lent before the last time may be seen by a child for ever."""


class Buffers:
    """The memory that one reader offers. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[_Buffer] = deque()
        self._out: set[_Buffer] = set()
        self._declined: set[Address] = set()
        self._closed = not hasattr(os, "memfd_create")

    def offer(self, peer: Address) -> Offer | None:
        """Memory for the answer to one call; ``None`` where it is of no use or cannot be had."""
        if self._closed or peer in self._declined:
            return None
        _watch_forks()
        with self._lock:
            try:
                buffer = self._kept.popleft()
            except IndexError:
                if len(self._out) >= BUFFERS_MAX:
                    return None
                try:
                    buffer = _Buffer()
                except OSError:
                    return None
            self._out.add(buffer)
        return Offer(self, peer, buffer)

    def close(self) -> None:
        """Offers nothing more; views that are alive stay valid."""
        self._closed = True
        self._kept.clear()

    def decline(self, peer: Address) -> None:
        """Offers nothing more to a peer that cannot write to this process's memory."""
        self._declined.add(peer)

    def drop(self, buffer: _Buffer) -> None:
        """Forgets a buffer, which is not used again."""
        self._out.discard(buffer)

    def give_back(self, buffer: _Buffer, forks: int, _: object = None) -> None:
        """Takes a buffer that nobody sees any more. It takes no lock, since views may die at any moment."""
        self._out.discard(buffer)
        unseen = forks == _forks
        kept = sum([other.size for other in tuple(self._kept)])
        if unseen and not self._closed and buffer.size <= KEPT_BYTES_MAX and kept + buffer.size <= KEPT_IN_ALL_MAX:
            self._kept.append(buffer)


class Offer:
    """One buffer on its way through one call; ``settle`` or ``abandon`` ends it.

    Attributes:
      header: tells the peer where the buffer is.
    """

    def __init__(self, buffers: Buffers, peer: Address, buffer: _Buffer) -> None:
        self.header = f"{host()}/{os.getpid()}/{buffer.file}/{buffer.name}"
        self._buffers = buffers
        self._peer = peer
        self._buffer = buffer
        self._forks = _forks
        self._root: Any = None

    def view(self, place: int, length: int) -> memoryview:
        """What the peer wrote there, read-only.

        Raises:
          ValueError: if it is not all there.
          OSError: if the system cannot map it.
        """
        if self._root is None:
            self._root = self._buffer.map()
        if place < 0 or length < 0 or place + length > len(self._root):
            raise ValueError(f"{length} bytes at {place} are not within the {len(self._root)} bytes of shared memory")
        return memoryview(self._root).toreadonly()[place : place + length]

    def settle(self, received: int) -> None:
        """The answer was read; it brought bodies of ``received`` bytes."""
        if self._root is None and received >= WORTH_BYTES:
            self._buffers.decline(self._peer)
        back = partial(self._buffers.give_back, self._buffer, self._forks)
        root, self._root = self._root, None
        if root is None:
            back()
        else:
            # Every view holds on to this one array.
            self._buffer.seen = weakref.ref(root, back)

    def abandon(self) -> None:
        """There was no answer: the peer may still write one, to memory that is not used again."""
        self._root = None
        self._buffers.drop(self._buffer)

    def refuse(self) -> None:
        """What the peer wrote cannot be had; it is to send bodies in messages."""
        self._buffers.decline(self._peer)
        self.abandon()


class _Buffer:
    """A file without a name; freed when nobody refers to it."""

    def __init__(self) -> None:
        self.name = f"tfsvc-{secrets.token_hex(16)}"
        self.file = os.memfd_create(self.name, os.MFD_CLOEXEC)
        os.fchmod(self.file, 0o600)
        self.size = 0
        self.seen: Any = None
        self._map: mmap.mmap | None = None

    def map(self) -> Any:
        """All that it holds, as an array that no earlier view holds on to."""
        size = os.fstat(self.file).st_size
        if size != self.size or self._map is None:
            self._map = mmap.mmap(self.file, size, mmap.MAP_SHARED, mmap.PROT_READ) if size else None
            self.size = size
        return np.frombuffer(self._map if self._map is not None else b"", np.uint8)

    def __del__(self) -> None:
        if hasattr(self, "file"):
            os.close(self.file)


@cache
def host() -> str:
    """Names this kernel, user and space of process numbers: who has them in common can share memory."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        return secrets.token_hex(16)
    return f"{boot}+{space}+{os.getuid()}"


@cache
def _watch_forks() -> None:
    # Other threads may still lend and borrow between the first count and the fork.
    os.register_at_fork(before=_count_fork, after_in_parent=_count_fork)


def _count_fork() -> None:
    global _forks
    _forks += 1
