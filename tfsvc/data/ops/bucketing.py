"""The functions of ``Dataset.bucket_by_sequence_length``: which bucket, how many, and how they are batched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from tfsvc import nest
from tfsvc.data.functions import call
from tfsvc.data.operator import remade
from tfsvc.errors import InvalidArgumentError


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
        if isinstance(shapes, list | tuple) and not shapes:
            # As for TensorFlow, which takes the elements' own for an empty list.
            shapes = None
        if not self.pad_to_boundary:
            return group.padded_batch(size, shapes, self.padding_values, self.drop_remainder)
        if shapes is None:
            shapes = nest.map_structure(attrgetter("shape"), group.element_spec)
        batches = group.padded_batch(size, shapes, self.padding_values, self.drop_remainder)
        if bucket >= len(self.boundaries):
            raise InvalidArgumentError(
                message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
            )
        return remade(batches.operator, open_to=self.boundaries[bucket] - 1)
