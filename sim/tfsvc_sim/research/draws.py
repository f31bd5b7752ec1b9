"""Draws: luck that is a function of what it is for, so that every policy meets the same.

The cost of element 17 or the bad minute of worker 3 is drawn by its name and number, never in the order in which a run
comes to ask for it. Two runs with one seed and different policies then differ by the policies alone.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

_MASK: Final = 2**64 - 1
_STEP: Final = 0x9E3779B97F4A7C15


class Draws:
    """Uniform numbers by their ordinal.

    Args:
      seed: of the experiment.
      what: what they are for.
    """

    __slots__ = ("_key",)

    def __init__(self, seed: int, what: str) -> None:
        self._key = int.from_bytes(blake2b(f"{seed}/{what}".encode(), digest_size=8).digest(), "little")

    def unit(self, ordinal: int) -> float:
        """The number in [0, 1) that belongs to ``ordinal``, by SplitMix64."""
        bits = (self._key + ordinal * _STEP) & _MASK
        bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & _MASK
        return ((bits ^ bits >> 31) >> 11) * 2.0**-53
