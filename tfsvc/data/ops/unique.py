"""``Dataset.unique``: each value once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import spec_of

_TYPES = ("int32", "int64", "string")


@dataclass(frozen=True, eq=False)
class Unique(UnaryOperator):
    """The elements that did not come before; under splits each worker looks at its own."""

    name = "unique"

    def __post_init__(self) -> None:
        if self.spec_is_given:
            self.spec()

    def cardinality(self) -> int:
        return UNKNOWN

    def iterator(self, context: Context) -> OperatorIterator:
        return _UniqueIterator(self, context)

    def _make_spec(self) -> Any:
        spec = self.input.spec()
        _check(nest.flatten(spec))
        return spec

    def key(self, element: Any) -> Any:
        """Equal for equal elements, and hashable."""
        leaves = nest.flatten(element)
        _check([spec_of(leaf) for leaf in leaves])
        (leaf,) = leaves
        if isinstance(leaf, np.ndarray):
            return leaf.shape, tuple(leaf.flat) if leaf.dtype == object else leaf.tobytes()
        return leaf if isinstance(leaf, bytes) else int(leaf)


def _check(specs: list[Any]) -> None:
    for spec in specs:
        if spec.dtype not in _TYPES:
            raise TypeError(
                f"`tf.data.Dataset.unique` does not support type {spec.dtype!r} -- only "
                "`tf.int32`, `tf.int64`, and `tf.string` are supported."
            )
    if len(specs) != 1:
        raise InvalidArgumentError(message="UniqueDataset only supports inputs with a single component.")


class _UniqueIterator(OperatorIterator):
    def __init__(self, unique: Unique, context: Context) -> None:
        self._key = unique.key
        self._input = unique.input.iterator(context)
        self._seen: set[Any] = set()

    def next(self) -> Any:
        while True:
            element = self._input.next()
            key = self._key(element)
            if key not in self._seen:
                self._seen.add(key)
                return element

    def save(self) -> Any:
        return frozenset(self._seen), self._input.save()

    def load(self, state: Any) -> None:
        seen, input = state
        self._seen = set(seen)
        self._input.load(input)
