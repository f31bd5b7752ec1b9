"""Passes over a dataset that several processes of one trainer read together, each its part, each element once.

The processes know nothing of each other but their number and place, so a pass is named by its number, and the parts by
what the dispatcher divides: in a fixed order each process is a consumer with lanes of its own; else all are readers of
one job.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from tfsvc.data import Dataset
from tfsvc.data.iterators import DatasetIterator, Passes, make_iterator
from tfsvc.data.operator import Operator, remade
from tfsvc.errors import InvalidArgumentError
from tfsvc.service.reading import ServiceDataset


@dataclass(frozen=True)
class Part:
    """Which of ``count`` processes of a trainer reads."""

    index: int = 0
    count: int = 1


class Parted:
    """A dataset of which one process reads its part.

    Args:
      dataset: whose elements all processes read together.
      part: which of them this is.
      job_name: of the job that they share where it has no name of its own.

    Raises:
      InvalidArgumentError: if it cannot be divided among so many; the message says what to do.
    """

    def __init__(self, dataset: Dataset, part: Part, job_name: str) -> None:
        self._operator = dataset.operator if part.count == 1 else _part_of(dataset.operator, part, job_name, {})
        self._memory: WeakKeyDictionary[Operator, Any] = WeakKeyDictionary()

    def iterator(self, number: int) -> DatasetIterator:
        """Pass ``number`` over the dataset, counted from 0."""
        return make_iterator(self._operator, Passes(number), self._memory, numbered=True)


def _part_of(operator: Operator, part: Part, job_name: str, made: dict[int, Operator]) -> Operator:
    """The same graph of which this process reads its part; one operator stays one, however often it is read."""
    if id(operator) not in made:
        if isinstance(operator, ServiceDataset):
            made[id(operator)] = _share(operator, part, job_name)
        elif not operator.inputs:
            raise InvalidArgumentError(
                message=f"{operator.name}() would be read whole by each of the {part.count} worker processes, so that "
                "every element came as often. Distribute the dataset, or read it with `num_workers` 0 or 1."
            )
        else:
            inputs = tuple(_part_of(below, part, job_name, made) for below in operator.inputs)
            made[id(operator)] = operator.with_inputs(inputs)
    return made[id(operator)]


def _share(dataset: ServiceDataset, part: Part, job_name: str) -> ServiceDataset:
    index, count = dataset.consumer
    name = dataset.job_name or job_name
    if not dataset.order.lanes:
        if count:
            raise InvalidArgumentError(
                message=f"Coordinated reads go round by round, in which {part.count} worker processes of one consumer "
                "cannot agree. Read with `num_workers` 0 or 1."
            )
        return remade(dataset, job_name=name)
    if count * part.count > dataset.order.lanes:
        raise InvalidArgumentError(
            message=f"{count} consumers with {part.count} worker processes each are {count * part.count} readers, of "
            f"which each needs a lane, and the job has {dataset.order.lanes}: give distribute() more `lanes`."
        )
    return remade(dataset, job_name=name, consumer=(index * part.count + part.index, count * part.count))
