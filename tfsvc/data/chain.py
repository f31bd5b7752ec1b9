"""What the methods that chain datasets stand on."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from tfsvc.data.elements import DatasetLeaf
from tfsvc.data.operator import Operator
from tfsvc.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tfsvc.data.dataset import Dataset


class Chain(DatasetLeaf):
    """A dataset as its operator and a way to make another."""

    operator: Operator
    """The graph node that makes the elements."""

    @staticmethod
    @abstractmethod
    def _then(operator: Operator) -> Dataset:
        """The dataset of an operator."""


def check_parallel_calls(count: int | None, most: int | None = None) -> None:
    """Checks a ``num_parallel_calls`` that is no more than a hint; ``None`` and ``AUTOTUNE`` are right everywhere.

    Raises:
      InvalidArgumentError: if it is not positive, or exceeds ``most`` where that is given.
    """
    if count is None or count == -1:
        return
    if count <= 0:
        raise InvalidArgumentError(message=f"`num_parallel_calls` must be greater than zero, but is {count}.")
    if most is not None and count > most:
        raise InvalidArgumentError(message=f"`num_parallel_calls` must be at most {most}, but is {count}.")
