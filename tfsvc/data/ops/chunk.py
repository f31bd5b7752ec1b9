"""The elements of one chunk, the inner part of ``Dataset.load`` and ``Dataset.snapshot``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns, Leaf
from tfsvc.data.elements import zero_examples
from tfsvc.data.functions import call_for_dataset
from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator
from tfsvc.data.ops.files import FileRecords, Reader
from tfsvc.data.ops.flat_map import FlatMap
from tfsvc.data.ops.interleave import Interleave
from tfsvc.data.ops.map import Map
from tfsvc.data.ops.tensor_slices import TensorSlices
from tfsvc.data.stacking import positions
from tfsvc.errors import InvalidArgumentError
from tfsvc.storage.chunks import decode_column, decode_component, read_element
from tfsvc.storage.snapshots import Stored

CYCLE_LENGTH = 16
"""Shards that are read in turns; a constant, so that no order depends on a machine's cores."""


@dataclass(frozen=True, eq=False)
class ChunkRecords(FileRecords):
    """What was written to one chunk, of which ``element_spec`` is known."""

    element_spec: Any = None
    name = "load"

    def read(self, file: IO[bytes]) -> tuple[int, list[bytes]] | None:
        return read_element(file, self.filename, len(self._specs))

    def element(self, record: list[bytes]) -> Any:
        return self._pack([self._component(place, part) for place, part in enumerate(record)])

    def columns(self, records: list[list[bytes]]) -> Columns:
        leaves = [self._column(place, parts) for place, parts in enumerate(zip(*records, strict=True))]
        return Columns(positions(self.element_spec), tuple(leaves), len(records))

    def _component(self, place: int, part: bytes) -> Any:
        spec, leaf = self._specs[place], decode_component(part)
        if not spec.is_compatible_with(leaf):
            raise InvalidArgumentError(
                message=f"component {place} of an element in {self.filename} has dtype {np.asarray(leaf).dtype} "
                f"and shape {np.shape(leaf)}, which element_spec has as {spec}"
            )
        return leaf

    def _column(self, place: int, parts: Sequence[bytes]) -> Leaf:
        column = decode_column(parts, self._specs[place])
        return tuple(self._component(place, part) for part in parts) if column is None else column

    @cached_property
    def _specs(self) -> list[Any]:
        return nest.flatten(self.element_spec)

    @cached_property
    def _pack(self) -> Callable[[list[Any]], Any]:
        return nest.packer(self.element_spec)

    def _make_spec(self) -> Any:
        return self.element_spec

    def _make_examples(self) -> tuple[Any, ...]:
        return zero_examples(self.element_spec)


@dataclass(frozen=True)
class ShardReader:
    """The function from a shard's number to the elements of its chunks, one chunk after the other."""

    shards: tuple[tuple[str, ...], ...]
    compression: str
    element_spec: Any

    def __call__(self, number: Any) -> Operator:
        chunks = TensorSlices(np.array(self.shards[int(number)], object))
        return FlatMap(chunks, Reader(ChunkRecords, (self.compression, self.element_spec)))


@dataclass(frozen=True, eq=False)
class Loaded(UnaryOperator):
    """The elements of ``input``, of which number and spec are known from elsewhere."""

    count: int
    element_spec: Any
    name = "load"

    @property
    def spec_is_given(self) -> bool:
        return True

    def cardinality(self) -> int:
        return self.count

    def iterator(self, context: Context) -> OperatorIterator:
        return self.input.iterator(context)

    def _make_spec(self) -> Any:
        return self.element_spec

    def _make_examples(self) -> tuple[Any, ...]:
        return zero_examples(self.element_spec)


@dataclass(frozen=True)
class ReaderFunction:
    """A user's function from a dataset of shards, each a dataset, to the elements in the order of their reading.

    Attributes:
      function: from a public dataset to another.
      dataset: makes the public dataset of an operator.
    """

    function: Callable[..., Any]
    dataset: Callable[[Operator], Any]

    def __call__(self, numbers: Operator, reader: ShardReader) -> Operator:
        shards = Map(numbers, _ShardDataset(reader, self.dataset))
        return call_for_dataset(self.function, (self.dataset(shards),))


@dataclass(frozen=True)
class _ShardDataset:
    reader: ShardReader
    dataset: Callable[[Operator], Any]

    def __call__(self, number: Any) -> Any:
        return self.dataset(self.reader(number))


def elements_of(stored: Stored, reader: ShardReader, order: ReaderFunction | None) -> Operator:
    """All that is stored; a split is a shard."""
    numbers = TensorSlices(np.arange(len(stored.shards)))
    if order is not None:
        return order(numbers, reader)
    # What needs no turns can be read in columns.
    return Interleave(numbers, reader, CYCLE_LENGTH, 1) if len(stored.shards) > 1 else FlatMap(numbers, reader)
