"""Calling user functions the way ``tf.data`` does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from sys import getrefcount
from typing import Any, NoReturn

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import NUMBERS, as_element, spec_of_element
from tfsvc.data.operator import Operator
from tfsvc.data.ownership import NAMED, freeze, freeze_all, is_settled, settle
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
        freeze(element)
        # A named tuple is one argument, as a dict is.
        if isinstance(element, tuple) and not hasattr(element, "_fields"):
            return function(*element)
        return function(element)
    except StopIteration as error:
        raise _stopped(function) from error


def raise_for(function: Callable[..., Any], element: Any, error: BaseException) -> NoReturn:
    """Raises what ``function`` raised for ``element`` somewhere else; the arguments are for who explains the error."""
    raise error


def _stopped(function: Callable[..., Any]) -> InvalidArgumentError:
    return InvalidArgumentError(message=f"{describe(function)} raised StopIteration")


def check_arguments(function: Callable[..., Any], element: Any, **named: Any) -> None:
    """Checks that ``function`` may be called for ``element``, and ``named`` by name, without a call.

    Raises:
      TypeError: if it takes more or fewer arguments.
    """
    arguments = element if isinstance(element, tuple) and not hasattr(element, "_fields") else (element,)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # what is written in C need not say
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        raise TypeError(
            f"{describe(function)} takes {signature}, but the elements have {len(arguments)} component(s), each of "
            f"which is an argument: {error}."
        ) from None


def call_for_element(function: Callable[..., Any], element: Any) -> Any:
    """The result of ``function`` as an element."""
    made = [call(function, element)]
    settle_last(made)
    return made[0]


def as_result(value: Any) -> Any:
    """What a function gave, as an element; a list at the top is a tuple of components, as in ``tf.data``."""
    return as_element(tuple(value) if type(value) is list else value)


def settle_last(made: list[Any]) -> None:
    """Makes the last of ``made``, to which nothing else may refer, an element that stays what it is."""
    if not is_settled(made):
        result = [as_result(made.pop())]
        made.append(settle(result))


@dataclass(slots=True)
class Called:
    """What a function gave for the elements of a block, up to the first that it failed for.

    Attributes:
      results: what it gave.
      kind: the type of all results, where that is one of those that need no care; else ``None``.
      failure: why there are no more.
    """

    results: list[Any] = field(default_factory=list)
    kind: type | None = None
    failure: BaseException | None = None


def call_for_each(
    function: Callable[..., Any],
    columns: Columns,
    plain: frozenset[type],
    settle_last: Callable[[list[Any]], None],
    array: type[np.ndarray[Any, Any]] | None = None,
) -> Called:
    """The same as :func:`call` element by element, but faster.

    Args:
      function: the function.
      columns: the elements.
      plain: the types of results that never change, and stay as they are.
      settle_last: what becomes of the last of the results where it is of another type; nothing else refers to it. It is
        over before the next call, which may write to what this one gave.
      array: the type of arrays, if those to which nobody else refers may stay too, without a call of ``settle_last``.
    """
    freeze_all(columns)
    results: list[Any] = []
    kind: type | None = None
    alike = True
    failure: BaseException | None = None
    several = isinstance(columns.form, tuple) and not hasattr(columns.form, "_fields")
    call = _of_components(function) if several else function
    try:
        for element in columns.copies():
            made = call(element)
            results.append(made)
            # One comparison for most results; all else only where the type changes, or needs care.
            if type(made) is kind:
                continue
            if type(made) is array:
                alike = False
                if getrefcount(made) == NAMED and made.base is None and made.dtype in NUMBERS and made.ndim:
                    continue
                del made
                settle_last(results)
            elif type(made) in plain:
                alike = alike and kind is None
                kind = type(made)
            else:
                alike = False
                del made
                settle_last(results)
    except StopIteration as error:
        try:
            raise _stopped(function) from error
        except InvalidArgumentError as stopped:
            failure = stopped  # with this frame in its traceback, which tells the element
    except (Exception, SystemExit, GeneratorExit) as error:
        # Only who interrupts the reader has every element called again.
        failure = error
    return Called(results, kind if alike else None, failure)


def _of_components(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda element: function(*element)


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
class Wrapper:
    """A callable that stands for the user's ``function``, whose name it has in messages."""

    function: Callable[..., Any]


@dataclass(frozen=True)
class Vectorized(Wrapper):
    """A function that takes many elements at once, as :func:`vectorized` marks it."""

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


@dataclass(frozen=True)
class InProcesses(Wrapper):
    """A function that runs in processes of its own, as :func:`in_processes` marks it."""

    def __call__(self, *element: Any) -> Any:
        return self.function(*element)


def in_processes(function: Callable[..., Any]) -> InProcesses:
    """Marks a function for ``Dataset.map`` as one that keeps a core busy in Python, and so belongs in processes.

    Threads share the interpreter's lock, processes do not: ``num_parallel_calls`` of them, one a core with
    ``AUTOTUNE`` or when it is not given, call the function at the same time. They are shared by all datasets of this
    process, or of the worker that runs the dataset, and end ten seconds after the last work. Order, errors and saved
    states are those of any ``map``::

        @tf.data.experimental.in_processes
        def tokenize(text):
            return np.array(tokenizer.encode(text.decode()))

        texts.map(tokenize, num_parallel_calls=tf.data.AUTOTUNE)

    The function travels as a pickle, once to each process; what it keeps in globals stays there from call to call,
    and differs from process to process. Elements travel many at a time. It pays for functions that take more than
    some tens of microseconds; those that wait for input, or that run in C without the lock, do better on threads. A
    process that ends in the middle of a call, as by the system's want of memory, is replaced, and its elements are
    tried again; one that ends several processes in a row fails with ``UnavailableError``.
    """
    return function if isinstance(function, InProcesses) else InProcesses(function)


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
    """The graph of the dataset that the function makes; the values of a generator function are one too.

    With ``luck`` the operators in it have the seeds of :func:`seeds_of_function`; without it those of a program's own.

    Raises:
      TypeError: if it makes something else.
    """
    with nullcontext() if luck is None else seeds_of_function(seed, luck):
        result = call(function, element)
    if inspect.isgenerator(result):
        from tfsvc.data.ops.generator import yielded

        return yielded(function, element)
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
    while isinstance(function, (Wrapper, partial)):
        function = function.func if isinstance(function, partial) else function.function
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", None) or type(function).__name__
    if code is None:
        return f"function {name!r}"
    file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"function {name!r} ({file}:{code.co_firstlineno})"
