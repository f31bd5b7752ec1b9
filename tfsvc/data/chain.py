"""What the methods that chain datasets stand on."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from tfsvc.data.elements import DatasetLeaf
from tfsvc.data.operator import Operator

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
