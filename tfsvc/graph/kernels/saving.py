"""Operators that save variables to files of the task that runs them, and restore them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError, UnimplementedError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import Run
from tfsvc.storage.checkpoints import read_checkpoint, remove_checkpoint, write_checkpoint


def _text(value: Any) -> str:
    return str(np.asarray(value).item().decode())


def _names(names: Any, slices: Any) -> list[str]:
    if any(np.reshape(slices, -1).tolist()):
        raise UnimplementedError(message="Variables that are saved in parts are not supported")
    return [name.decode() for name in np.reshape(names, -1).tolist()]


@kernel("SaveV2")
def _save(node: Attributes) -> Run:
    def run(prefix: Any, names: Any, slices: Any, *tensors: Any) -> Any:
        write_checkpoint(_text(prefix), dict(zip(_names(names, slices), map(np.asarray, tensors), strict=True)))
        return ()

    return run


@kernel("RestoreV2")
def _restore(node: Attributes) -> Run:
    kinds = node.types("dtypes")

    def run(prefix: Any, names: Any, slices: Any) -> Any:
        wanted = _names(names, slices)
        found = read_checkpoint(_text(prefix), wanted)
        for name, kind in zip(wanted, kinds, strict=True):
            if found[name].dtype != kind:
                raise InvalidArgumentError(message=f"'{name}' was saved as {found[name].dtype}, not as {kind}")
        return tuple(found[name] for name in wanted)

    return run


@kernel("MergeV2Checkpoints")
def _merge(node: Attributes) -> Run:
    """Puts the files of several tasks together; they must lie where this task reaches them."""
    delete = not node.has("delete_old_dirs") or node.bool("delete_old_dirs")

    def run(prefixes: Any, destination: Any) -> Any:
        parts = [prefix.decode() for prefix in np.reshape(prefixes, -1).tolist()]
        write_checkpoint(
            _text(destination), {name: each for part in parts for name, each in read_checkpoint(part).items()}
        )
        if delete:
            for part in parts:
                remove_checkpoint(part)
        return ()

    return run


@kernel("ShardedFilename")
def _sharded(node: Attributes) -> Run:
    return lambda base, shard, count: np.array(
        b"%b-%05d-of-%05d" % (np.asarray(base).item(), int(shard), int(count)), object
    )
