"""A dataset for PyTorch's ``DataLoader``, which its worker processes read together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from weakref import ref

import cloudpickle
import torch
from torch.utils.data import get_worker_info

from tfsvc.data import Dataset, DatasetIterator
from tfsvc.data.pickler import dumps
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError
from tfsvc.torch.counting import TRAINER, PassCounter
from tfsvc.torch.tensors import to_tensors
from tfsvc.trainers.parts import Part, Parted


class IterableDataset(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """The elements of a dataset as tensors, for ``torch.utils.data.DataLoader`` and torchdata's ``StatefulDataLoader``.

    The worker processes of a loader, forked or spawned, share the elements of a service's dataset, each element once.
    In a fixed order each of them is a consumer of the job, with lanes of its own. Iterating again, with or without
    worker processes, is the next pass.

    Batches are best made by ``dataset.batch(n)``, as columns; give the loader ``batch_size=None`` then.

    Args:
      dataset: what is read, mostly through ``distribute``.
      copy: as in :func:`to_tensors`.
      length: the number of elements of a pass, all worker processes together, where the dataset does not know it.

    Raises:
      TypeError: if ``dataset`` is no ``tf.data.Dataset``.
    """

    _reading: Callable[[], DatasetIterator | None]
    """The iterator of the last pass, for as long as somebody reads it."""

    def __init__(self, dataset: Dataset, *, copy: bool = True, length: int | None = None) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a `tf.data.Dataset`. Got {type(dataset)}.")
        self._dataset = dataset
        self._convert = partial(to_tensors, copy=copy)
        self._length = length
        self._counter = PassCounter()
        self._pending: dict[str, Any] | None = None
        self._loaded_by = 0
        self._begin()

    def __iter__(self) -> Iterator[Any]:
        place, seed, part = _this_process()
        if place == TRAINER:
            self._counter.adopt()
        if part not in self._parted:  # a forked worker has those of its parent too
            self._parted[part] = Parted(self._dataset, part, self._counter.job_name)
        pending, self._pending = self._pending, None
        known = pending["pass"] if pending is not None and self._loaded_by == os.getpid() else None
        number = self._counter.next(place, seed, known)
        iterator = self._parted[part].iterator(number)
        if pending is not None and pending["iterator"] is not None and pending["pass"] == number:
            iterator.load_state_dict(pending["iterator"])
        self._reading = ref(iterator)
        self._number = number
        return map(self._convert, iterator)

    def __len__(self) -> int:
        return len(self._dataset) if self._length is None else self._length

    def __bool__(self) -> bool:
        return True

    def set_epoch(self, epoch: int) -> None:
        """Lets the next pass be number ``epoch``, counted from 0; also for worker processes that are running.

        Without it each pass is the one behind the last. A state of that pass that was loaded stays loaded.
        """
        if epoch < 0:
            raise InvalidArgumentError(message=f"`epoch` must be 0 or more; got {epoch}")
        self._counter.adopt()
        self._counter.begin_at(epoch)
        if self._pending is not None and self._pending["pass"] != epoch:
            self._pending = None

    def state_dict(self) -> dict[str, Any]:
        """Where the pass of this process stands; between two passes, which comes next.

        ``StatefulDataLoader`` asks for it in each of its processes.

        Raises:
          tf.errors.FailedPreconditionError: for a service's dataset without ``deterministic=True``; or in the trainer,
            where worker processes have read.
          tf.errors.InvalidArgumentError: if an operator keeps elements that cannot be written down.
        """
        iterator = self._reading()
        if iterator is not None:
            return {"pass": self._number, "iterator": iterator.state_dict()}
        if self._pending is not None:
            return dict(self._pending)
        if get_worker_info() is None and self._counter.read_by_workers:
            raise FailedPreconditionError(
                message="The worker processes of a DataLoader have read this dataset, and each of them knows only how "
                "far it has come itself. Use torchdata's StatefulDataLoader, and its state_dict()."
            )
        return {"pass": self._counter.following, "iterator": None}

    def load_state_dict(self, state: Any) -> None:
        """Lets the next pass go on where another one stood.

        Args:
          state: what :meth:`state_dict` gave; or a list of the states of all processes that read one pass, to go on
            with another number of them.

        Raises:
          tf.errors.InvalidArgumentError: if it is no such state; when the pass begins, if it is one of another dataset.
        """
        states = state if isinstance(state, list) else [state]
        if not states or not all(isinstance(one, dict) and one.keys() == {"pass", "iterator"} for one in states):
            raise InvalidArgumentError(message="This is no state_dict() of a tfsvc.torch.IterableDataset.")
        passes = sorted({one["pass"] for one in states})
        positions = [one["iterator"] for one in states]
        if len(passes) > 1 or (None in positions and any(positions)):
            raise InvalidArgumentError(message=f"The states are not of one moment: they are of the passes {passes}.")
        many = isinstance(state, list) and positions[0] is not None
        if get_worker_info() is None:
            self._counter.adopt()
            self._counter.begin_at(passes[0])
        self._loaded_by = os.getpid()
        self._pending = {"pass": passes[0], "iterator": positions if many else positions[0]}
        self._reading = _no_iterator

    def _begin(self) -> None:
        """As nothing has been read in this process."""
        self._parted: dict[Part, Parted] = {}
        self._reading = _no_iterator
        self._number = 0

    def __getstate__(self) -> dict[str, Any]:
        # Functions behind `distribute` may be lambdas, which only cloudpickle takes along.
        return {
            "dataset": dumps(self._dataset),
            "convert": self._convert,
            "length": self._length,
            "counter": self._counter,
            "pending": self._pending,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._dataset = cloudpickle.loads(state["dataset"])
        self._convert, self._length, self._counter = state["convert"], state["length"], state["counter"]
        self._pending, self._loaded_by = state["pending"], 0
        self._begin()


def _no_iterator() -> None:
    return None


def _this_process() -> tuple[int, int | None, Part]:
    """The place, the seed of its pass, and the part of the process that reads."""
    info = get_worker_info()
    if info is None:
        return TRAINER, None, Part()
    return TRAINER + 1 + info.id, info.seed - info.id, Part(info.id, info.num_workers)
