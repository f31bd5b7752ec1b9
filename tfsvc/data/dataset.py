"""The public ``Dataset``: where elements come from, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfsvc import nest
from tfsvc.data.elements import as_element, as_leaf
from tfsvc.data.functions import call_for_state, check_state, vectorized
from tfsvc.data.iterators import DatasetIterator, Passes, make_iterator
from tfsvc.data.operator import INFINITE, UNKNOWN, Operator
from tfsvc.data.ops.choose import Choose
from tfsvc.data.ops.multinomial import Draw, draw_weighted
from tfsvc.data.ops.resampling import (
    ESTIMATED_TOGETHER,
    SMOOTHING,
    Acceptance,
    Judge,
    Label,
    Mixing,
    estimate,
    labelled,
    mixing,
    stays,
)
from tfsvc.data.ops.uniform import Uniform
from tfsvc.data.ops.zip import Zip
from tfsvc.data.origins import note_origin
from tfsvc.data.ownership import settle
from tfsvc.data.sources import Sources, lasting_seeds
from tfsvc.data.stacking import positions
from tfsvc.data.storing import Storing
from tfsvc.data.tables import Tables
from tfsvc.data.transformations import Transformations
from tfsvc.data.trying import try_functions
from tfsvc.errors import InvalidArgumentError
from tfsvc.random import seeds_in_own_function
from tfsvc.specs import TensorSpec

_memory: WeakKeyDictionary[Operator, Any] = WeakKeyDictionary()
"""What the caches of this process's datasets hold, for as long as the datasets live."""


class Dataset(Sources, Tables, Transformations, Storing):
    """A sequence of elements, as ``tf.data.Dataset``: it says how to make them, and runs when iterated.

    Made by its static methods, ``range``, ``from_generator`` and so on. Where a method takes a ``name``, it is a
    label and changes nothing.

    Args:
      operator: the graph node that makes the elements.
    """

    def __init__(self, operator: Operator) -> None:
        note_origin(operator)
        self.operator = operator
        self._passes = Passes()

    @staticmethod
    def _then(operator: Operator) -> Dataset:
        dataset = Dataset(operator)
        try_functions(operator)
        return dataset

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """One element of each dataset at a time, until the shortest ends.

        Args:
          *args: datasets, or one nest of datasets; elements have its form.
          datasets: the nest, as an alternative.
          name: a label.

        Raises:
          TypeError: if there is none, if both are given, or if a leaf is not a dataset.
        """
        if bool(args) == (datasets is not None):
            raise TypeError("Both `*args` and `datasets` cannot be set." if args else "Must pass at least one dataset.")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        leaves = [] if isinstance(structure, list) else nest.flatten(structure)
        if not leaves or not all(isinstance(leaf, Dataset) for leaf in leaves):
            raise TypeError(
                f"Invalid input to `zip`: expected (nested) tuples or dicts of datasets, got {structure!r}."
            )
        return Dataset(Zip(tuple(leaf.operator for leaf in leaves), positions(structure)))

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """The next element of the dataset whose number ``choice_dataset`` gives, for each number.

        Under dynamic sharding each worker makes all choices for itself.

        Args:
          datasets: one or more datasets.
          choice_dataset: int64 scalars, positions in ``datasets``.
          stop_on_empty_dataset: whether all ends when an ended dataset is chosen; else that choice is passed over.

        Raises:
          ValueError: if there are no datasets.
          TypeError: if ``choice_dataset`` has other elements, or specs do not agree.
          InvalidArgumentError: on iteration, if there is no dataset of that number.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if not isinstance(choice_dataset, Dataset):
            raise TypeError(
                "Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
                f"{type(choice_dataset)}."
            )
        if choice_dataset.element_spec != TensorSpec((), "int64"):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                f"{choice_dataset.element_spec}."
            )
        operators = tuple(dataset.operator for dataset in datasets)
        return Dataset(Choose(choice_dataset.operator, operators, stop_on_empty_dataset))

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets, each from one that is drawn at random.

        Args:
          datasets: one or more datasets.
          weights: how likely each is to be drawn, floats; the same for all when ``None``. A dataset of such
            vectors changes them from element to element.
          seed: of the draws, which are TensorFlow's for it; drawn itself when neither it nor the global seed is set.
          stop_on_empty_dataset: whether all ends when an ended dataset is drawn; else another is drawn.
          rerandomize_each_iteration: whether each epoch and repetition has draws of its own.

        Raises:
          ValueError: if there are no datasets, or not one weight for each.
          TypeError: if weights are no floats, or specs do not agree.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if isinstance(weights, Dataset):
            pairs = Dataset.random(seed, rerandomize_each_iteration).batch(2, drop_remainder=True)
            selector = Dataset.zip(weights, pairs).map(vectorized(draw_weighted))
            return Dataset.choose_from_datasets(datasets, selector, stop_on_empty_dataset)
        shares = np.ones(len(datasets), np.float32) if weights is None else np.asarray(as_leaf(weights))
        if shares.shape != (len(datasets),):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={len(shares)}` vs. `len(datasets)={len(datasets)}`."
            )
        if shares.dtype not in (np.float32, np.float64):
            raise TypeError(
                "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
                f"{shares.dtype.name}."
            )
        chosen = [dataset for dataset, share in zip(datasets, shares, strict=True) if share > 0]
        if len(chosen) < 2:
            return chosen[0] if chosen else datasets[0].take(0)
        logits = np.log(shares[shares > 0])
        pairs = Dataset.random(seed, rerandomize_each_iteration).batch(2, drop_remainder=True)
        selector = pairs.map(vectorized(Draw(tuple(logits.tolist()), logits.dtype.name)))
        return Dataset.choose_from_datasets(chosen, selector, stop_on_empty_dataset)

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Pairs of a class and an element, some left out or repeated, so that classes come as often as wished.

        As in TensorFlow, two streams of the dataset are mixed, one of all elements and one of those that stay, so the
        dataset is read twice; twice more where ``initial_dist`` is not given.

        Args:
          class_func: from an element to its class, an integer scalar.
          target_dist: how often each class is to come, floats.
          initial_dist: how often each class comes; estimated on the way when ``None``.
          seed: of the draws, which are TensorFlow's for it and the same in each pass; drawn itself when neither it nor
            the global seed is set.
          name: a label.
        """
        target = np.asarray(target_dist, np.float32)
        label = Label(class_func)
        if initial_dist is None:
            counts = np.full(target.shape, SMOOTHING, np.int64)
            shares = self.map(label.alone).batch(ESTIMATED_TOGETHER).scan(counts, estimate).unbatch()
            mixed: Any = None
        else:
            initial = np.asarray(initial_dist, np.float32)
            shares = Dataset.from_tensors(initial).repeat()
            mixed = mixing(target, initial)[1]
        if mixed == 1:
            return self.map(label)
        numbers = Dataset(Uniform(seeds_in_own_function(seed) or lasting_seeds(seed)))
        kept = Dataset.zip(shares.map(Acceptance(target)), self, numbers).map(Judge(label)).filter(stays).map(labelled)
        if mixed == 0:
            return kept
        return Dataset.sample_from_datasets([self.map(label), kept], shares.map(Mixing(target)), seed, True)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """``transformation_func(self)``.

        Raises:
          TypeError: if that is not a dataset.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}.")
        return dataset

    @property
    def element_spec(self) -> Any:
        """The nest of :class:`TensorSpec` of an element, found when first asked for.

        A Python function is probed with one or two example elements; what it raises comes through.
        """
        return self.operator.spec()

    def cardinality(self) -> Any:
        """The number of elements as an int64 scalar, ``INFINITE_CARDINALITY`` or ``UNKNOWN_CARDINALITY``."""
        return np.int64(self.operator.cardinality())

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The state after all elements, read here and now.

        Args:
          initial_state: the state before the first element, a nest of tensors.
          reduce_func: from a state and an element to the next state.
          name: a label.

        Raises:
          TypeError: if a state has another structure or dtype than the first.
        """
        first = state = settle([as_element(initial_state)])
        for element in self:
            state = call_for_state(reduce_func, state, element)
            check_state(state, first)
        return state

    def get_single_element(self, name: str | None = None) -> Any:
        """The one element.

        Raises:
          InvalidArgumentError: if there is none, or more than one.
        """
        elements = list(self.take(2))
        if len(elements) != 1:
            what = "had more than one element" if elements else "was empty"
            raise InvalidArgumentError(message=f"Dataset {what}.")
        return elements[0]

    def __len__(self) -> int:
        count = self.operator.cardinality()
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> DatasetIterator:
        return make_iterator(self.operator, self._passes, _memory)

    def as_numpy_iterator(self) -> DatasetIterator:
        """The same as iterating: elements are NumPy's anyway."""
        return iter(self)

    def __reduce__(self) -> Any:
        # How often it was iterated here is no part of what a dataset is.
        return Dataset, (self.operator,)

    def __repr__(self) -> str:
        return f"<Dataset {_chain(self.operator)}>"


def _chain(operator: Operator) -> str:
    inputs = operator.inputs
    if not inputs:
        return operator.name
    below = _chain(inputs[0]) if len(inputs) == 1 else f"({', '.join(map(_chain, inputs))})"
    return f"{below} > {operator.name}"
