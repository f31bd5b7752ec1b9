"""How many splits an ordered lane is dealt at a time: as many as make about a mebibyte of elements.

Lanes are read in turns, a block of each. Where blocks are large, one lane's worker works alone while the others'
buffers are full, and more is made again when a lane moves or is resumed; where they are small, each costs a frame of
its own.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

from tfsvc import nest
from tfsvc.data.operator import Operator

BLOCK_BYTES: Final = 1 << 20
BLOCK_MAX: Final = 32768
UNKNOWN_BYTES: Final = 64 << 10
"""What an element counts whose size is not known beforehand."""


def block_of(operator: Operator, spec: Any) -> int:
    """Splits in a block of the dataset; ``spec`` is that of its elements, ``None`` where it is not known."""
    if _expands(operator):
        return 1
    return max(1, min(BLOCK_MAX, BLOCK_BYTES // _element_bytes(spec)))


def _expands(operator: Operator) -> bool:
    """Whether one split may become any number of elements."""
    return operator.expands or any(map(_expands, operator.inputs))


def _element_bytes(spec: Any) -> int:
    if spec is None:
        return UNKNOWN_BYTES
    total = 0
    for leaf in nest.flatten(spec):
        shape = getattr(leaf, "shape", None)
        dims = None if shape is None else tuple(shape)
        if dims is None or None in dims or leaf.dtype.numpy.hasobject:
            return UNKNOWN_BYTES
        total += prod(dims) * leaf.dtype.numpy.itemsize
    return max(1, total)
