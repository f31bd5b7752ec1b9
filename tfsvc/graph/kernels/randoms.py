"""Operators that draw numbers: of TensorFlow's distributions, though not its very numbers.

With a seed, a node draws the same numbers in every session that runs it as often.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.arrays import ints
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import Run

TRUNCATED_AT = 2.0
"""Standard deviations from which on a truncated normal is drawn anew."""


def _generator(node: Attributes) -> np.random.Generator:
    seeds = node.int("seed", 0), node.int("seed2", 0)
    return np.random.default_rng([abs(each) for each in seeds] if any(seeds) else node.entropy())


def _truncated(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    drawn = generator.standard_normal(shape)
    while True:
        far = np.abs(drawn) >= TRUNCATED_AT
        if not np.any(far):
            return drawn
        drawn = np.where(far, generator.standard_normal(shape), drawn)


_DRAW: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Any]] = {
    "RandomUniform": lambda generator, shape: generator.random(shape),
    "RandomStandardNormal": lambda generator, shape: generator.standard_normal(shape),
    "TruncatedNormal": _truncated,
}


@kernel(*_DRAW)
def _random(node: Attributes) -> Run:
    draw, generator, kind = _DRAW[node.op], _generator(node), node.type("dtype")

    def run(shape: Any) -> Any:
        drawn = np.asarray(draw(generator, ints(shape))).astype(kind)
        # Rounding to a small type may make a number just below 1 a whole 1.
        return np.minimum(drawn, np.nextafter(kind.type(1), kind.type(0))) if node.op == "RandomUniform" else drawn

    return run


@kernel("RandomUniformInt")
def _random_int(node: Attributes) -> Run:
    generator = _generator(node)
    return lambda shape, low, high: generator.integers(low, high, ints(shape), dtype=np.asarray(low).dtype)


@kernel("RandomShuffle")
def _shuffle(node: Attributes) -> Run:
    generator = _generator(node)
    return lambda x: generator.permutation(x, axis=0)
