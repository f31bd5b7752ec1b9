"""Saving a dataset with checkpoints, so that a crash costs no more than what lies behind the last of them.

A checkpoint holds the iterator's state and the chunks that were whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.data import states
from tfsvc.data.operator import Context, Operator, OperatorIterator
from tfsvc.data.ops.snapshot import shard_of
from tfsvc.storage.folders import Folder, folder_at
from tfsvc.storage.snapshots import RunWriter, dtypes_of

INTERVAL = 1000
"""Elements from one checkpoint to the next, when not told."""

_KNOWN = {"directory", "checkpoint_interval", "max_to_keep", "step_counter"}


@dataclass(frozen=True)
class _Checkpoints:
    """The checkpoints in a directory, of which the newest counts."""

    folder: Folder
    interval: int
    keep: int

    @staticmethod
    def of(arguments: dict[str, Any]) -> _Checkpoints:
        if "checkpoint" in arguments:
            raise ValueError("'Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'.")
        if "directory" not in arguments or not arguments.keys() <= _KNOWN:
            raise ValueError(
                f"`checkpoint_args` needs a `directory` and may have {sorted(_KNOWN)}, but it has {sorted(arguments)}."
            )
        interval, keep = arguments.get("checkpoint_interval"), arguments.get("max_to_keep")
        return _Checkpoints(folder_at(os.fsdecode(arguments["directory"])), int(interval or INTERVAL), int(keep or 1))

    def write(self, state: Any) -> None:
        found = self._files()
        number = self._number(found[-1]) + 1 if found else 1
        self.folder.write(f"save-{number}.checkpoint", states.dumps(state))
        for old in found[: len(found) + 1 - self.keep]:
            self.folder.remove(old)

    def newest(self) -> Any:
        found = self._files()
        return states.loads(self.folder.read(found[-1])) if found else None

    def clear(self) -> None:
        for file in self._files():
            self.folder.remove(file)

    def _files(self) -> list[str]:
        found = [name for name in self.folder.children() if name.startswith("save-") and name.endswith(".checkpoint")]
        return sorted(found, key=self._number)

    @staticmethod
    def _number(name: str) -> int:
        return int(name.removeprefix("save-").removesuffix(".checkpoint"))


def save_with_checkpoints(
    operator: Operator,
    folder: Folder,
    compression: str,
    shard_func: Callable[..., Any] | None,
    arguments: dict[str, Any],
) -> None:
    """``Dataset.save`` with ``checkpoint_args``; raises as it says."""
    checkpoints = _Checkpoints.of(arguments)
    spec = operator.spec()
    iterator, writer, seed = _begun(operator, folder, compression, checkpoints)
    try:
        while True:
            try:
                element = iterator.next()
            except StopIteration:
                break
            writer.write(nest.flatten(element), shard_of(shard_func, element))
            if writer.count % checkpoints.interval == 0:
                checkpoints.write((seed, iterator.save(), writer.save()))
        writer.commit(dtypes_of(spec), spec)
    finally:
        writer.release()
    checkpoints.clear()


def _begun(
    operator: Operator, folder: Folder, compression: str, checkpoints: _Checkpoints
) -> tuple[OperatorIterator, RunWriter, int]:
    """Where the newest checkpoint stands, or at the beginning."""
    state = checkpoints.newest()
    if state is not None:
        seed, position, written = state
        writer = RunWriter.resumed(folder, compression, written)
        if writer is not None:
            iterator = operator.iterator(Context(seed=seed))
            iterator.load(position)
            # The old run goes once nothing needs it.
            checkpoints.write((seed, position, writer.save()))
            folder.remove(written[0])
            return iterator, writer, seed
    seed = int.from_bytes(os.urandom(8), "little")
    return operator.iterator(Context(seed=seed)), RunWriter(folder, compression), seed
