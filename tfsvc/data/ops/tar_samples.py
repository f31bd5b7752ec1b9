"""``Dataset.from_webdataset``: the samples of tar shards, one shard after the other, or by an index."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.elements import zero_examples
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.cursor import Cursor, CursorIterator, Indexed
from tfsvc.data.ops.files import FileRecords, Opened
from tfsvc.data.stacking import positions, to_columns
from tfsvc.errors import DataLossError, InvalidArgumentError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec
from tfsvc.storage.folders import open_file
from tfsvc.storage.tar_shards import Sample, TarShard, members_of_line, read_index, samples

KEY: Final = "__key__"
"""The component that is a sample's key."""

SHARDS_OPEN_MAX: Final = 32
"""Of how many shards a pass keeps the file open and the index in memory."""


def spec_of(fields: tuple[str, ...]) -> dict[str, TensorSpec]:
    """The spec of an element."""
    return dict.fromkeys((KEY, *fields), TensorSpec((), "string"))


def first_fields(path: str, compression: str) -> tuple[str, ...]:
    """The fields of the first sample of a shard.

    Raises:
      NotFoundError: if there is no such shard.
      InvalidArgumentError: if it has no samples.
    """
    sample = next(samples(path, compression), None)
    if sample is None:
        raise InvalidArgumentError(message=f"{path} has no samples by which the fields could be known; give `fields`")
    return tuple(member.field for member in sample.members)


def _missing(key: str, path: str, field: str, known: list[str]) -> InvalidArgumentError:
    return InvalidArgumentError(message=f"Sample {key!r} in {path} has no field {field!r}; it has {known}.")


@dataclass(frozen=True, eq=False)
class TarSamples(FileRecords):
    """The samples of one shard as dicts from ``fields`` to their bytes."""

    fields: tuple[str, ...] = ()
    name = "from_webdataset"

    def open(self, offset: int) -> Opened:
        file, offset, problem = super().open(offset)
        return Opened(TarShard(file, self.filename, offset), offset, problem)

    def read(self, file: TarShard) -> tuple[int, Sample] | None:
        sample = file.next(self.fields)
        return None if sample is None else (sample.end - sample.start, sample)

    def element(self, record: Sample) -> Any:
        for field in self.fields:
            if field not in record.contents:
                raise _missing(record.key, self.filename, field, [m.field for m in record.members])
        return {KEY: _bytes(record.key), **{field: record.contents[field] for field in self.fields}}

    def columns(self, records: list[Any]) -> Columns | None:
        elements = [self.element(record) for record in records]
        form = positions(elements[0])
        leaves = tuple(np.array([element[name] for element in elements], object) for name in sorted(form))
        return Columns(form, leaves, len(elements))

    def _make_spec(self) -> Any:
        return spec_of(self.fields)

    def _make_examples(self) -> tuple[Any, ...]:
        # The shards may exist only where the workers run.
        return zero_examples(self.spec())


@dataclass(frozen=True, eq=False)
class IndexedTarSamples(Indexed):
    """The samples of shards with an index each: any of them can be had at once, and a split is one sample.

    Attributes:
      shards: their paths.
      counts: how many samples each has.
      fields: the fields of an element.
    """

    shards: tuple[str, ...]
    counts: tuple[int, ...]
    fields: tuple[str, ...]
    name = "from_webdataset"

    @cached_property
    def ends(self) -> list[int]:
        """The places behind the last sample of each shard."""
        return list(accumulate(self.counts))

    def cardinality(self) -> int:
        return sum(self.counts)

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(self.cardinality()),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _IndexedIterator(self, context)

    def at(self, places: Any) -> Columns:
        return self.reader(Context())(places)

    def reader(self, context: Context) -> Callable[[Any], Columns]:
        return _OpenShards(self).at

    def _make_spec(self) -> Any:
        return spec_of(self.fields)

    def _make_examples(self) -> tuple[Any, ...]:
        return zero_examples(self.spec())


class _IndexedIterator(CursorIterator):
    def __init__(self, operator: IndexedTarSamples, context: Context) -> None:
        self._shards = _OpenShards(operator)
        super().__init__(Cursor(operator.cardinality(), context.feed))

    def next(self) -> Any:
        return self._shards.sample(self._cursor.next())


class _OpenShards:
    """The shards that a pass reads in, those used last kept open."""

    def __init__(self, operator: IndexedTarSamples) -> None:
        self._samples = operator
        self._open: OrderedDict[int, tuple[io.BufferedReader, list[bytes]]] = OrderedDict()

    def at(self, places: Any) -> Columns:
        return to_columns([self.sample(int(place)) for place in places])

    def sample(self, place: int) -> Any:
        number = bisect_right(self._samples.ends, place)
        path = self._samples.shards[number]
        file, lines = self._shard(number)
        within = place - (self._samples.ends[number] - self._samples.counts[number])
        if within >= len(lines):
            raise DataLossError(message=f"The index of {path} has fewer samples than when the dataset was made.")
        members = {member.field: member for member in members_of_line(path, lines[within])}
        key = next(iter(members.values())).key
        element = {KEY: _bytes(key)}
        for field in self._samples.fields:
            if field not in members:
                raise _missing(key, path, field, list(members))
            file.seek(members[field].data)
            element[field] = file.read(members[field].size)
            if len(element[field]) < members[field].size:
                raise DataLossError(message=f"{path} ends within {members[field].name}; its index is of another file.")
        return element

    def _shard(self, number: int) -> tuple[io.BufferedReader, list[bytes]]:
        if number not in self._open:
            if len(self._open) == SHARDS_OPEN_MAX:
                self._open.popitem(last=False)[1][0].close()
            path = self._samples.shards[number]
            lines = read_index(path)
            self._open[number] = open_file(path), lines
        self._open.move_to_end(number)
        return self._open[number]

    def __del__(self) -> None:
        for file, _ in self._open.values():
            file.close()


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")
