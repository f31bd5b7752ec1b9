"""Calling user functions the way ``tf.data`` does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import as_element, spec_of_element
from tfsvc.data.operator import Operator
from tfsvc.data.stacking import positions
from tfsvc.errors import InvalidArgumentError
from tfsvc.random import seeds_of_function


def call(function: Callable[..., Any], element: Any) -> Any:
    """What ``function`` gives for ``element``: a tuple becomes several arguments, a dict is one.

    Raises:
      InvalidArgumentError: in place of a ``StopIteration``, which would look like the end of the data.
      Exception: whatever the function raises.
    """
    try:
        # A named tuple is one argument, as a dict is.
        if isinstance(element, tuple) and not hasattr(element, "_fields"):
            return function(*element)
        return function(element)
    except StopIteration as error:
        raise InvalidArgumentError(message=f"{describe(function)} raised StopIteration") from error


def check_arguments(function: Callable[..., Any], element: Any) -> None:
    """Checks that ``function`` may be called for ``element``, without a call.

    Raises:
      TypeError: if it takes more or fewer arguments.
    """
    arguments = element if isinstance(element, tuple) and not hasattr(element, "_fields") else (element,)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # what is written in C need not say
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise TypeError(
            f"{describe(function)} takes {signature}, but the elements have {len(arguments)} component(s), each of "
            f"which is an argument: {error}."
        ) from None


def call_for_element(function: Callable[..., Any], element: Any) -> Any:
    """The result of ``function`` as an element."""
    return as_result(call(function, element))


def as_result(value: Any) -> Any:
    """What a function gave, as an element; a list at the top is a tuple of components, as in ``tf.data``."""
    return as_element(tuple(value) if type(value) is list else value)


def call_for_each(
    function: Callable[..., Any],
    columns: Columns,
    convert: Callable[[Any], Any],
    are_settled: Callable[[Sequence[Any]], bool],
) -> tuple[list[Any], BaseException | None]:
    """``convert`` of what the function gives for each element, up to the first that fails, and that failure.

    The same as :func:`call` element by element, but faster; ``are_settled`` says that ``convert`` would change none.
    """
    results: list[Any] = []
    failure: BaseException | None = None
    several = isinstance(columns.structure, tuple) and not hasattr(columns.structure, "_fields")
    try:
        # A list keeps what it was extended by before something was raised.
        results.extend((starmap if several else map)(function, columns.elements()))
        if len(results) < columns.count:
            # It has taken a StopIteration of the function for the end. Once more, for what there is to say about it.
            results.append(call(function, columns.element(len(results))))
    except (Exception, SystemExit, GeneratorExit) as error:
        # Only who interrupts the reader has every element called again.
        failure = error
    if not are_settled(results):
        for place, value in enumerate(results):
            try:
                results[place] = convert(value)
            except Exception as error:
                return results[:place], error
    return results, failure


def call_for_examples(make: Callable[[Any], Any], examples: tuple[Any, ...]) -> tuple[Any, ...]:
    """What ``make`` gives for each example; one that it fails for tells nothing, unless it fails for all.

    Raises:
      Exception: what it raised for the first.
    """
    made, failures = [], []
    for example in examples:
        try:
            made.append(make(example))
        except Exception as failure:
            failures.append(failure)
    if not made:
        raise failures[0]
    return tuple(made)


@dataclass(frozen=True)
class Vectorized:
    """A function that takes many elements at once, as :func:`vectorized` marks it."""

    function: Callable[..., Any]

    def __call__(self, *batch: Any) -> Any:
        return self.function(*batch)


def vectorized(function: Callable[..., Any]) -> Vectorized:
    """Marks a function for ``Dataset.map`` as one that works on many elements at once.

    It is called as usual, but each component has a further dimension in front: one row an element, any number of
    rows, at the worker's choice. What it gives must have as many rows, and row ``i`` must depend on row ``i`` of the
    input only. So it is an optimization that nobody sees: the dataset's elements and spec are those of the same
    function applied to one row. Where a call fails its elements are tried one by one::

        @tf.data.experimental.vectorized
        def normalize(image, label):           # (n, 32, 32, 3) and (n,)
            return image / np.float32(255), label
    """
    return Vectorized(function)


def call_for_columns(function: Vectorized, columns: Columns) -> Columns:
    """The results for all elements of regular columns at once.

    Raises:
      InvalidArgumentError: if a component of the result has not one row for each element.
    """
    element = nest.pack_sequence_as(columns.structure, columns.leaves)
    result = call_for_element(function.function, element)
    leaves = nest.flatten(result)
    if any(not np.ndim(leaf) or len(leaf) != columns.count for leaf in leaves):
        raise InvalidArgumentError(
            message=f"{describe(function.function)} is vectorized: for {columns.count} elements each component must "
            f"have {columns.count} rows, but their shapes are {[np.shape(leaf) for leaf in leaves]}."
        )
    return Columns(positions(result), tuple(leaves), columns.count)


def call_for_dataset(
    function: Callable[..., Any], element: Any, seed: int | None = None, luck: int | None = None
) -> Operator:
    """The graph of the dataset that the function makes.

    With ``luck`` the operators in it have the seeds of :func:`seeds_of_function`; without it those of a program's own.

    Raises:
      TypeError: if it makes something else.
    """
    with nullcontext() if luck is None else seeds_of_function(seed, luck):
        result = call(function, element)
    operator = result if isinstance(result, Operator) else getattr(result, "operator", None)
    if not isinstance(operator, Operator):
        raise TypeError(f"`map_func` must return a `Dataset` object, but {describe(function)} gave {result!r}.")
    return operator


def call_for_truth(predicate: Callable[..., Any], element: Any) -> bool:
    """Whether ``predicate`` holds.

    Raises:
      ValueError: if it gives anything but a ``bool`` scalar.
    """
    return as_truth(predicate, call(predicate, element))


def as_truth(predicate: Callable[..., Any], value: Any) -> bool:
    """What ``predicate`` gave, as a truth value; raises as :func:`call_for_truth`."""
    result = as_result(value)
    if not isinstance(result, np.bool_):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, "
            f"but its return type is {spec_of_element(result)}."
        )
    return bool(result)


def call_for_state(function: Callable[..., Any], state: Any, element: Any) -> Any:
    """The result of a function of two arguments, a state and an element."""
    return call_for_element(function, (state, element))


def check_state(new: Any, old: Any) -> None:
    """Checks that a state keeps its structure and dtypes.

    Raises:
      TypeError: if it does not.
    """
    try:
        nest.assert_same_structure(old, new)
    except ValueError as error:
        raise TypeError(f"The structure of the new state must match the initial state. {error}") from None
    specs = [[spec.dtype for spec in nest.flatten(spec_of_element(state))] for state in (old, new)]
    if specs[0] != specs[1]:
        raise TypeError(
            f"The element types for the new state must match the initial state. Expected {specs[0]} but got {specs[1]}."
        )


def describe(function: Any) -> str:
    """A function's name and where it was written: ``function 'tokenize' (pipeline.py:12)``."""
    if isinstance(function, Vectorized):
        function = function.function
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", None) or type(function).__name__
    if code is None:
        return f"function {name!r}"
    file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"function {name!r} ({file}:{code.co_firstlineno})"
