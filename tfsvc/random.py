"""``tf.random``: the seed behind all datasets, and TensorFlow's rule for the two seeds that each operator gets.

A random operator has a global seed and one of its own. Where only its own is given, the global one is TensorFlow's
default; where only the global one is set, its own is the next of a sequence that :func:`set_seed` starts anew. Inside
a function that makes datasets that sequence is 0, 1, 2, ... at each call.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

__all__ = ["set_seed"]

Seeds = tuple[int, int]

_DEFAULT = 87654321
_LARGEST = 2**31 - 1


class _Global:
    """The seeds of operators that are made by a program itself."""

    def __init__(self, seed: int | None) -> None:
        self.seed = seed
        self._random = random.Random(seed)

    def pair(self) -> Seeds | None:
        """The global seed and that of an operator which has none."""
        return None if self.seed is None else (self.seed, self._random.randint(0, _LARGEST))


class _InFunction:
    """The seeds of those that a function makes in one call; ``luck`` stands for a global seed where none is set."""

    def __init__(self, seed: int | None, luck: int) -> None:
        self.seed = seed
        self._luck = luck
        self._numbers = count()

    def pair(self) -> Seeds:
        return (self._luck if self.seed is None else self.seed), next(self._numbers)


_global = _Global(None)
_function: ContextVar[_InFunction | None] = ContextVar("tfsvc_seeds_of_function", default=None)


def set_seed(seed: int | None) -> None:
    """Sets the global seed of datasets that are made from now on in this process; ``None`` unsets it.

    As in TensorFlow: with it, random operators without a seed of their own are functions of it and of how many such
    operators were made since; those with a seed are functions of both.
    """
    global _global
    _global = _Global(None if seed is None else int(seed))


def global_seed() -> int | None:
    """The global seed that is set here."""
    return (_function.get() or _global).seed


def operator_seeds(seed: int | None) -> Seeds | None:
    """The two seeds of an operator that was given ``seed``; ``None`` where none is set and no function is running."""
    place = _function.get() or _global
    pair = place.pair() if seed is None else (_DEFAULT if place.seed is None else place.seed, int(seed))
    if pair is None:
        return None
    seeds = pair[0] % _LARGEST, pair[1] % _LARGEST
    # TensorFlow takes two zeros for no seeds.
    return seeds if any(seeds) else (0, _LARGEST)


def seeds_in_own_function(seed: int | None) -> Seeds | None:
    """The two seeds of an operator that is the first in a function of its own, which TensorFlow makes for it."""
    given = global_seed()
    return operator_seeds(0 if seed is None and given is not None else seed)


@contextmanager
def seeds_of_function(seed: int | None, luck: int) -> Iterator[None]:
    """For the call of a function that makes datasets.

    Args:
      seed: the global seed that was set when the function was given.
      luck: decides about operators without a seed where there is no global one.
    """
    token = _function.set(_InFunction(seed, luck))
    try:
        yield
    finally:
        _function.reset(token)
