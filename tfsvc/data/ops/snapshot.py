"""``Dataset.snapshot``: elements that are made once and kept in a directory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data.functions import call_for_element, describe
from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator
from tfsvc.data.ops.chunk import ReaderFunction, ShardReader, elements_of
from tfsvc.errors import NotFoundError, PermissionDeniedError, UnavailableError, UnimplementedError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.storage.folders import folder_at
from tfsvc.storage.snapshots import RunWriter, Stored, dtypes_of, find_stored


def shard_of(shard_func: Callable[..., Any] | None, element: Any) -> int:
    """The number of the shard an element goes to.

    Raises:
      TypeError: if the function gives no integer scalar.
    """
    if shard_func is None:
        return 0
    shard = call_for_element(shard_func, element)
    if not isinstance(shard, np.integer):
        raise TypeError(
            f"Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor but {describe(shard_func)} "
            f"returned {shard!r}."
        )
    return int(shard)


@dataclass(frozen=True, eq=False)
class Snapshot(UnaryOperator):
    """The input's elements, or those of ``directory`` where a whole pass has been written there.

    Attributes:
      directory: of this pipeline alone.
      key: the pipeline's name in the metadata.
      compression: of the chunks.
      order: how shards are read; in turns when ``None``.
      shard_func: from an element to the number of its shard; one shard when ``None``.
    """

    directory: str
    key: str
    compression: str
    order: ReaderFunction | None
    shard_func: Callable[..., Any] | None
    name = "snapshot"

    def plans(self) -> tuple[SplitPlan, ...]:
        raise UnimplementedError(message="Splitting is not implemented for snapshot datasets.")

    def iterator(self, context: Context) -> OperatorIterator:
        return _SnapshotIterator(self, context)

    def read(self, stored: Stored) -> Operator:
        """What was written."""
        return elements_of(stored, ShardReader(stored.shards, self.compression, self.input.spec()), self.order)


class _Pass(Enum):
    """What a pass does."""

    NEW = "not begun"
    WRITING = "makes elements and a snapshot"
    READING = "reads the snapshot"
    MAKING = "makes elements only"
    ENDED = "has come to its end"


class _SnapshotIterator(OperatorIterator):
    def __init__(self, snapshot: Snapshot, context: Context) -> None:
        self._snapshot = snapshot
        self._folder = folder_at(snapshot.directory)
        self._context = context
        self._input = snapshot.input.iterator(context)
        self._pass = _Pass.NEW
        self._writer: RunWriter | None = None
        self._stored: Stored | None = None
        self._reading: OperatorIterator | None = None

    def next(self) -> Any:
        if self._pass is _Pass.NEW:
            self._begin()
        match self._pass:
            case _Pass.WRITING:
                return self._write()
            case _Pass.READING:
                assert self._reading is not None
                return self._reading.next()
            case _Pass.MAKING:
                return self._input.next()
            case _:
                raise StopIteration

    def _begin(self) -> None:
        try:
            self._read(find_stored(self._folder))
        except NotFoundError:
            self._pass = _Pass.WRITING

    def _read(self, stored: Stored) -> None:
        self._pass = _Pass.READING
        self._stored = stored
        self._reading = self._snapshot.read(stored).iterator(self._context.whole(0))

    def _write(self) -> Any:
        if self._writer is None:
            self._writer = RunWriter(self._folder, self._snapshot.compression)
        try:
            element = self._input.next()
        except StopIteration:
            self._pass = _Pass.ENDED
            self._writer.commit(dtypes_of(self._snapshot.input.spec()), graph_hash=self._snapshot.key)
            self._writer = None
            raise
        shard = shard_of(self._snapshot.shard_func, element)
        try:
            self._writer.write(nest.flatten(element), shard)
        except (OSError, UnavailableError, PermissionDeniedError):
            self._pass = _Pass.MAKING
            self._writer.abandon()
            raise
        return element

    def __del__(self) -> None:
        if self._writer is not None:
            self._writer.abandon()

    def save(self) -> Any:
        if self._pass is _Pass.NEW:
            # What the pass will do must not depend on what another one does before the state is restored.
            self._begin()
        writer = self._writer and self._writer.save()
        stored = self._stored and replace(self._stored, element_spec=None)
        return self._pass.value, writer, stored, self._reading and self._reading.save(), self._input.save()

    def load(self, state: Any) -> None:
        doing, writer, stored, reading, input = state
        self._pass = _Pass(doing)
        self._input.load(input)
        if stored is not None:
            self._read(stored)
            assert self._reading is not None
            self._reading.load(reading)
        elif self._pass is _Pass.WRITING and writer is not None:
            self._writer = RunWriter.resumed(self._folder, self._snapshot.compression, writer)
            # What the saved pass had written is gone, so no whole snapshot can come of this one.
            self._pass = _Pass.MAKING if self._writer is None else _Pass.WRITING
