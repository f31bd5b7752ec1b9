"""Labelled random streams: one more draw here shifts nothing there."""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct
from typing import Any, Final

_WORD: Final = Struct("<Q")
_pack: Final = _WORD.pack
_unpack: Final = _WORD.unpack


class Luck:
    """A stream of numbers that is a function of its seed and label alone, on every Python version.

    Args:
      seed: the run's seed; a simulation fixes it, a real process draws and logs it.
      label: the stream's name, usually ``"<node>/<incarnation>"``.
    """

    __slots__ = ("_count", "_keyed", "_label", "_seed")

    def __init__(self, seed: int, label: str = "") -> None:
        self._seed = seed
        self._label = label
        self._count = 0
        self._keyed: Any = None

    def stream(self, label: str) -> Luck:
        """An independent stream below this one."""
        return Luck(self._seed, f"{self._label}/{label}")

    def bits(self) -> int:
        """A uniform 64-bit integer: the keyed hash of how many were drawn."""
        if self._keyed is None:
            # Many streams are never drawn from; and to copy a hash that has its key is faster than to make one.
            key = blake2b(f"{self._seed}/{self._label}".encode(), digest_size=32).digest()
            self._keyed = blake2b(digest_size=8, key=key)
        count = self._count = self._count + 1
        hash = self._keyed.copy()
        hash.update(_pack(count))
        bits: int
        (bits,) = _unpack(hash.digest())
        return bits

    # A hash cannot be pickled; it is made again when it is needed.

    def __getstate__(self) -> tuple[int, str, int]:
        return self._seed, self._label, self._count

    def __setstate__(self, state: tuple[int, str, int]) -> None:
        self._seed, self._label, self._count = state
        self._keyed = None

    def unit(self) -> float:
        """A uniform number in [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53

    def below(self, limit: int) -> int:
        """A uniform integer in [0, limit); ``limit`` must be positive and below 2**32."""
        assert 0 < limit < 2**32, limit
        return (self.bits() >> 32) * limit >> 32
