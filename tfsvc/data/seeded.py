"""Randomness by identity: functions that are handed random numbers which belong to the element.

A stream is Philox's, which needs no warming up: its key is 64 bits of the function's place and seed, and the 64 bits
that tell the element apart (:mod:`tfsvc.data.identity`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from tfsvc.data.functions import InProcesses, Vectorized, Wrapper, call
from tfsvc.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tfsvc.data.operator import Context

BITS = 2**64 - 1


def mix(number: Any) -> Any:
    """64 bits all of which depend on all 64 of ``number``: an int, or an array of uint64 (Steele's SplitMix64)."""
    if not isinstance(number, int):
        shift, one, two = np.uint64, np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
        number = (number ^ (number >> shift(30))) * one
        number = (number ^ (number >> shift(27))) * two
        return number ^ (number >> shift(31))
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & BITS
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & BITS
    return number ^ (number >> 31)


def fold(numbers: Iterable[int]) -> int:
    """64 bits for a sequence of numbers, which are taken modulo 2**64."""
    folded = 0x9E3779B97F4A7C15
    for number in numbers:
        folded = mix(folded ^ number & BITS) + 0x9E3779B97F4A7C15 & BITS
    return folded


class _Key(ISeedSequence):
    """Hands Philox its key as it is."""

    def __init__(self, key: Any) -> None:
        self._key = key

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return self._key.view(dtype)[:n_words]


def generator(place: int, number: int) -> np.random.Generator:
    """The stream of an element ``number`` for the function at ``place``."""
    return np.random.Generator(np.random.Philox(_Key(np.array((place, number), np.uint64))))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Seeded(Wrapper):
    """A function with a parameter ``rng``, as :func:`seeded` marks it.

    Attributes:
      seed: of its numbers; ``None`` for that of the iteration.
      paired: whether it takes and gives pairs of an element and its number.
    """

    seed: int | None = None
    paired: bool = False

    def __call__(self, *element: Any) -> Any:
        raise TypeError("Only `map` hands out random numbers; map to what is drawn first, then go on with that.")

    def at(self, place: int) -> Drawing:
        """The function of pairs for one place."""
        return Drawing(self.function, place, self.paired)

    def place(self, context: Context, level: int) -> int:
        """Where it stands in one pass; ``level`` tells it from the seeded functions below."""
        seed = context.element_seed if self.seed is None else self.seed
        return fold((seed, level, *context.path))


@dataclass(frozen=True)
class Drawing(Wrapper):
    """From an element and its number to the result of ``function``, with the random numbers of that element."""

    place: int
    paired: bool

    def __call__(self, element: Any, number: Any) -> Any:
        result = call(partial(self.function, rng=generator(self.place, int(number))), element)
        if not self.paired:
            return result
        return (tuple(result) if isinstance(result, list) else result), number


def seeded(function: Callable[..., Any], seed: int | None = None) -> Any:
    """Marks a function for ``Dataset.map`` as one that wants random numbers.

    It is called as usual and with ``rng``, a ``numpy.random.Generator`` whose numbers are a function of the seed, of
    the epoch and repetition, and of the element alone. So an element comes out the same on any worker and however
    many there are, when it is made again after a crash, in any order, in a process and from a saved state; and it
    comes out differently in the next epoch::

        @tf.data.experimental.seeded
        def augment(image, label, rng):
            return image + rng.normal(0, 0.1, image.shape).astype(np.float32), label

        images.shuffle(10_000).map(augment, num_parallel_calls=8)

    An element is told apart by its place in its source, and where datasets are made from elements by the place of
    each. One that is made of several is told apart by the first of them.

    Args:
      function: takes what ``map`` would hand over, and ``rng`` by name.
      seed: of the numbers, an integer; those of the iteration when ``None``, which differ from one run to the next.
        Functions of one pipeline draw different numbers, also with the same seed.

    Raises:
      InvalidArgumentError: if ``function`` is vectorized: the numbers of its rows would depend on their block.
    """
    if isinstance(function, InProcesses):
        return replace(function, function=seeded(function.function, seed))
    if isinstance(function, Vectorized):
        raise InvalidArgumentError(
            message="A vectorized function cannot be seeded, since random numbers belong to single elements; "
            "draw them in a seeded function before it."
        )
    return Seeded(function, None if seed is None else int(seed))
