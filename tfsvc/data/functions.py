"""Calling user functions the way ``tf.data`` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsvc.data.elements import as_element
from tfsvc.data.operator import Operator
from tfsvc.errors import InvalidArgumentError


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


def call_for_element(function: Callable[..., Any], element: Any) -> Any:
    """The result as an element; a list at the top is a tuple of components, as in ``tf.data``."""
    result = call(function, element)
    return as_element(tuple(result) if isinstance(result, list) else result)


def call_for_dataset(function: Callable[..., Any], element: Any) -> Operator:
    """The graph of the dataset that the function makes.

    Raises:
      TypeError: if it makes something else.
    """
    result = call(function, element)
    operator = result if isinstance(result, Operator) else getattr(result, "operator", None)
    if not isinstance(operator, Operator):
        raise TypeError(f"`map_func` must return a `Dataset` object, but {describe(function)} gave {result!r}.")
    return operator


def describe(function: Any) -> str:
    """A function's name and where it was written: ``function 'tokenize' (pipeline.py:12)``."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", None) or type(function).__name__
    if code is None:
        return f"function {name!r}"
    file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"function {name!r} ({file}:{code.co_firstlineno})"
