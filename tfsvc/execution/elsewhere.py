"""Servers stay where they are: what stands for one in a function that was shipped to a worker."""

from __future__ import annotations

from typing import Any, Final

from tfsvc.errors import FailedPreconditionError

_TENSORFLOWS: Final = "tensorflow.python.data.experimental.service.server_lib"


class Elsewhere:
    """Stands on a worker for a server of the process that registered the dataset."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise FailedPreconditionError(
            message=f"this {self.__dict__.get('_kind', 'server')} runs in the process that registered the dataset; a "
            f"dataset's function cannot use its '{name}'. Hand the function an address instead."
        )


def stands_for(obj: Any) -> Any:
    """How to make what stands for a server of TensorFlow's, which cannot be pickled; ``None`` for all else."""
    kind = type(obj)
    return (Elsewhere, (kind.__name__,)) if kind.__module__ == _TENSORFLOWS else None
