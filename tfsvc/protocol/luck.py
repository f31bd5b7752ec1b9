"""Labelled random streams: one more draw here shifts nothing there."""

from __future__ import annotations

from hashlib import blake2b


class Luck:
    """A stream of numbers that is a function of its seed and label alone, on every Python version.

    Args:
      seed: the run's seed; a simulation fixes it, a real process draws and logs it.
      label: the stream's name, usually ``"<node>/<incarnation>"``.
    """

    __slots__ = ("_count", "_key", "_label", "_seed")

    def __init__(self, seed: int, label: str = "") -> None:
        self._seed = seed
        self._label = label
        self._key = blake2b(f"{seed}/{label}".encode(), digest_size=32).digest()
        self._count = 0

    def stream(self, label: str) -> Luck:
        """An independent stream below this one."""
        return Luck(self._seed, f"{self._label}/{label}")

    def bits(self) -> int:
        """A uniform 64-bit integer."""
        self._count += 1
        digest = blake2b(self._count.to_bytes(8, "little"), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little")

    def unit(self) -> float:
        """A uniform number in [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53

    def below(self, limit: int) -> int:
        """A uniform integer in [0, limit); ``limit`` must be positive and below 2**32."""
        assert 0 < limit < 2**32, limit
        return (self.bits() >> 32) * limit >> 32
