"""Saving a dataset with checkpoints, so that a crash costs no more than what lies behind the last of them.

A checkpoint holds the iterator's state and the chunks that were whole.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from os import urandom
from pathlib import Path
from typing import Any

from tfsvc import nest
from tfsvc.data import states
from tfsvc.data.operator import Context, Operator, OperatorIterator
from tfsvc.data.ops.snapshot import shard_of
from tfsvc.storage.folders import write_atomically
from tfsvc.storage.snapshots import RunWriter, dtypes_of

INTERVAL = 1000
"""Elements from one checkpoint to the next, when not told."""

_KNOWN = {"directory", "checkpoint_interval", "max_to_keep", "step_counter"}


@dataclass(frozen=True)
class _Checkpoints:
    """The checkpoints in a directory, of which the newest counts."""

    directory: Path
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
        return _Checkpoints(Path(arguments["directory"]), int(interval or INTERVAL), int(keep or 1))

    def write(self, state: Any) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        found = self._files()
        number = self._number(found[-1]) + 1 if found else 1
        write_atomically(self.directory / f"save-{number}.checkpoint", states.dumps(state))
        for old in found[: len(found) + 1 - self.keep]:
            old.unlink(missing_ok=True)

    def newest(self) -> Any:
        found = self._files()
        return states.loads(found[-1].read_bytes()) if found else None

    def clear(self) -> None:
        for file in self._files():
            file.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(self.directory.glob("save-*.checkpoint"), key=self._number)

    @staticmethod
    def _number(path: Path) -> int:
        return int(path.stem.removeprefix("save-"))


def save_with_checkpoints(
    operator: Operator,
    directory: Path,
    compression: str,
    shard_func: Callable[..., Any] | None,
    arguments: dict[str, Any],
) -> None:
    """``Dataset.save`` with ``checkpoint_args``; raises as it says."""
    checkpoints = _Checkpoints.of(arguments)
    spec = operator.spec()
    iterator, writer, seed = _begun(operator, directory, compression, checkpoints)
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
    operator: Operator, directory: Path, compression: str, checkpoints: _Checkpoints
) -> tuple[OperatorIterator, RunWriter, int]:
    """Where the newest checkpoint stands, or at the beginning."""
    state = checkpoints.newest()
    if state is not None:
        seed, position, written = state
        writer = RunWriter.resumed(directory, compression, written)
        if writer is not None:
            iterator = operator.iterator(Context(seed=seed))
            iterator.load(position)
            # The old run goes once nothing needs it.
            checkpoints.write((seed, position, writer.save()))
            shutil.rmtree(directory / written[0], ignore_errors=True)
            return iterator, writer, seed
    seed = int.from_bytes(urandom(8), "little")
    return operator.iterator(Context(seed=seed)), RunWriter(directory, compression), seed
