"""The functions of ``Dataset.bucket_by_sequence_length``: which bucket, how many, and how they are batched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.data.functions import call
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec


@dataclass(frozen=True)
class BucketOf:
    """From an element to the number of its bucket; bucket ``i`` ends before ``boundaries[i]``."""

    length: Callable[..., Any]
    boundaries: tuple[int, ...]

    def __call__(self, *element: Any) -> int:
        return bisect_right(self.boundaries, int(call(self.length, element)))


@dataclass(frozen=True)
class SizeOf:
    """From a bucket to its batch size."""

    sizes: tuple[int, ...]

    def __call__(self, bucket: Any) -> int:
        return self.sizes[int(bucket)]


@dataclass(frozen=True)
class BatchBucket:
    """From a bucket and its elements to their batches; the arguments are those of ``bucket_by_sequence_length``."""

    sizes: tuple[int, ...]
    boundaries: tuple[int, ...]
    padded_shapes: Any
    padding_values: Any
    pad_to_boundary: bool
    no_padding: bool
    drop_remainder: bool

    def __call__(self, bucket: Any, group: Any) -> Any:
        size = self.sizes[bucket]
        if self.no_padding:
            return group.batch(size, self.drop_remainder)
        shapes = self.padded_shapes
        if self.pad_to_boundary:
            if bucket >= len(self.boundaries):
                # Values that pad nothing of this dataset are the greater mistake, and so the one that is told.
                group.padded_batch(size, shapes, self.padding_values, self.drop_remainder)
                raise InvalidArgumentError(
                    message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                )
            shapes = _filled(group.element_spec, shapes, self.boundaries[bucket] - 1)
        return group.padded_batch(size, shapes, self.padding_values, self.drop_remainder)


def _filled(spec: Any, shapes: Any, size: int) -> Any:
    """The shapes, those of ``spec`` where there are none, with ``size`` for each unknown dimension."""
    if nest.is_nested(spec):
        below = nest.children(spec)
        given = [None] * len(below) if shapes is None else nest.children(shapes)
        return nest.rebuild(spec, [_filled(s, g, size) for s, g in zip(below, given, strict=True)])
    shape = spec.shape if shapes is None else TensorSpec(shapes).shape
    if shape is None:
        raise ValueError("You must provide `padded_shapes`, because a component has unknown rank.")
    return tuple(size if dim is None else dim for dim in shape)
