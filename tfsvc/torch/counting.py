"""The number of each pass over a dataset, agreed on by the worker processes of a ``DataLoader``.

A ``DataLoader`` starts its workers anew for each pass and tells them neither which it is nor anything of each other,
but all get one seed, which is drawn for each pass. So the last pass of each worker and its seed lie in memory that all
processes of one trainer share: the workers of a pass are those with the same seed.
"""

from __future__ import annotations

import os
from typing import Any, Final
from uuid import uuid4
from weakref import WeakSet

import torch

from tfsvc.errors import InvalidArgumentError

WORKERS_MAX: Final = 1023
"""Worker processes of one loader."""

TRAINER: Final = 0
"""The place of the trainer's own process; worker w has w + 1."""

_TAG_BITS: Final = 31
_NOBODY: Final = 1
"""The tag of a place that nobody has read at."""
_TRAINERS_TAG: Final = 0


class PassCounter:
    """Counts the passes over one dataset in one trainer: its process and the worker processes of its loaders.

    Attributes:
      job_name: of the job that these processes share.
    """

    def __init__(self) -> None:
        self.job_name = ""
        self._owner = 0
        self._cells: Any = torch.full((WORKERS_MAX + 1,), _cell(-1, _NOBODY), dtype=torch.int64, device="cpu")
        self.adopt()
        _counters.add(self)

    def adopt(self) -> None:
        """Makes it this process's own; in a process that was started with a copy it begins where that stood."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self.job_name = f"torch-{uuid4().hex}"
            self._cells = self._cells.clone().share_memory_()

    def next(self, place: int, seed: int | None, number: int | None = None) -> int:
        """The number of the pass that begins at a place, counted from 0.

        Args:
          place: ``TRAINER``, or of a worker.
          seed: what all workers of this pass were given.
          number: of the pass, where it is known.

        Raises:
          InvalidArgumentError: if there are too many workers.
        """
        if place > WORKERS_MAX:
            raise InvalidArgumentError(message=f"A loader may have {WORKERS_MAX} workers, and this is number {place}.")
        tag = _tag(seed)
        if number is None:
            # One look at all, since others begin at the same moment; a place's pass and tag are written as one number.
            cells = self._cells.tolist()
            mine = cells[place] >> _TAG_BITS if cells[place] & _TAG_MASK == tag else -1
            begun = [cell >> _TAG_BITS for cell in cells if cell & _TAG_MASK == tag and cell >> _TAG_BITS > mine]
            number = begun[0] if begun else (max(cells) >> _TAG_BITS) + 1
        self._cells[place] = _cell(number, tag)
        return number

    def begin_at(self, number: int) -> None:
        """Lets the next pass be this one, for all processes."""
        self._cells[:] = _cell(number - 1, _NOBODY)

    @property
    def following(self) -> int:
        """The pass that the trainer's own process would read next."""
        return (int(self._cells.max()) >> _TAG_BITS) + 1

    @property
    def read_by_workers(self) -> bool:
        """Whether worker processes have read."""
        return bool((self._cells[TRAINER + 1 :] & _TAG_MASK != _NOBODY).any())

    def __getstate__(self) -> dict[str, Any]:
        if torch.utils.data.get_worker_info() is None:
            self.adopt()
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if not self._cells.is_shared():
            # It is no child that shares it, but a copy.
            self._owner = 0
            self.adopt()
        _counters.add(self)


_TAG_MASK: Final = (1 << _TAG_BITS) - 1


def _tag(seed: int | None) -> int:
    return _TRAINERS_TAG if seed is None else 2 + seed % (_TAG_MASK - 2)


def _cell(number: int, tag: int) -> int:
    return number << _TAG_BITS | tag


_counters: WeakSet[PassCounter] = WeakSet()


def _adopt_all() -> None:
    """Before a fork: the child may be a worker, which shares what this process owns.

    A child that is a trainer of its own adopts what it has when it is the one to read or to fork.
    """
    if torch.utils.data.get_worker_info() is None:
        for counter in list(_counters):
            counter.adopt()


os.register_at_fork(before=_adopt_all)
