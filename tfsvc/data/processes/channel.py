"""Python objects over a socket; the data of arrays is neither copied into a pickle nor out of it.

A message is the number of its parts and their sizes, each a little-endian u64, and then the parts: a pickle and the
buffers that it refers to.
"""

from __future__ import annotations

import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any, Final

import cloudpickle
import numpy as np

_NUMBER: Final = struct.Struct("<Q")
_PARTS_MAX: Final = 512
"""How many parts one call of the system takes at the most."""


class Channel:
    """One end of a connected pair of sockets, each end of which is one thread's for reading and one's for writing."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    def send(self, value: Any) -> None:
        """Raises ``OSError`` when the other end is gone, and what pickling raises."""
        buffers: list[pickle.PickleBuffer] = []
        try:
            body = pickle.dumps(value, 5, buffer_callback=buffers.append)
        except Exception:
            # Functions and classes that only cloudpickle knows how to take along.
            buffers.clear()
            body = cloudpickle.dumps(value, 5, buffer_callback=buffers.append)
        parts = [memoryview(body), *(buffer.raw() for buffer in buffers)]
        head = b"".join(_NUMBER.pack(number) for number in (len(parts), *map(len, parts)))
        self._write([memoryview(head), *parts])

    def receive(self) -> Any:
        """The next message; raises ``EOFError`` or ``OSError`` when the other end is gone."""
        (count,) = _NUMBER.unpack(self._read(_NUMBER.size))
        sizes = struct.unpack(f"<{count}Q", self._read(count * _NUMBER.size))
        body, *buffers = map(self._read, sizes)
        return pickle.loads(body, buffers=buffers)

    def close(self) -> None:
        self._socket.close()

    def _write(self, parts: Sequence[memoryview]) -> None:
        left = [part for part in parts if len(part)]
        while left:
            sent = self._socket.sendmsg(left[:_PARTS_MAX])
            while left and sent >= len(left[0]):
                sent -= len(left.pop(0))
            if sent:
                left[0] = left[0][sent:]

    def _read(self, size: int) -> Any:
        # Unlike a bytearray it is not filled with zeros first.
        part: Any = np.empty(size, np.uint8)
        view = memoryview(part)
        while view:
            count = self._socket.recv_into(view)
            if not count:
                raise EOFError
            view = view[count:]
        return part
