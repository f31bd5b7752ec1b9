"""What a step is asked for: a nest of tensors, operations and variables, and how its results go back in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfsvc.compat.v1.graph import Graph, Operation, Tensor

Build = Callable[[Mapping[str, Any]], Any]


class Fetches:
    """A nest of fetches: which tensors and operations it needs, and how to build the nest of their values.

    Raises:
      TypeError: if something in it is neither a tensor nor an operation.
      ValueError: if something is not of the graph.
    """

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self.tensors: dict[str, None] = {}
        self.targets: dict[str, None] = {}
        self._graph = graph
        self.build = self._add(fetches)

    def _add(self, fetch: Any) -> Build:
        if isinstance(fetch, Mapping):
            parts = {key: self._add(value) for key, value in fetch.items()}
            kind = type(fetch)
            return lambda values: _like(kind, {key: part(values) for key, part in parts.items()})
        if isinstance(fetch, tuple) and hasattr(fetch, "_fields"):
            named, maker = [self._add(each) for each in fetch], type(fetch)
            return lambda values: maker(*(each(values) for each in named))
        if isinstance(fetch, list | tuple):
            several, outer = [self._add(each) for each in fetch], type(fetch)
            return lambda values: outer(each(values) for each in several)
        element = self._element(fetch)
        if isinstance(element, Operation):
            self.targets[element.name] = None
            return lambda values: None
        name = element.name
        self.tensors[name] = None
        return lambda values: values[name]

    def _element(self, fetch: Any) -> Tensor | Operation:
        try:
            return self._graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(
                f"Argument `fetch` = {fetch!r} has invalid type {type(fetch).__name__}; it must be a tensor, an "
                "operation, a variable, the name of one, or a nest of them"
            ) from error
        except KeyError as error:
            raise ValueError(f"Argument `fetch` = {fetch!r} cannot be interpreted as a Tensor. {error}") from error


def _like(kind: Any, items: dict[Any, Any]) -> Any:
    return items if kind is dict else kind(items)


def flat_feeds(graph: Graph, feed_dict: Mapping[Any, Any] | None) -> dict[str, Any]:
    """The arrays to feed, by the name of the tensor.

    Raises:
      TypeError: if a key is no tensor, or a value is one.
      ValueError: if a value does not fit its tensor's shape.
    """
    feeds: dict[str, Any] = {}
    for key, value in (feed_dict or {}).items():
        keys: Sequence[Any] = key if isinstance(key, tuple) else (key,)
        values = value if isinstance(key, tuple) else (value,)
        for each, given in zip(keys, values, strict=True):
            tensor = graph.as_graph_element(each)
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {each!r}")
            if isinstance(given, Tensor):
                raise TypeError("The value of a feed cannot be a tensor of a graph; feed its value.")
            feeds[tensor.name] = _fitting(tensor, given)
    return feeds


def _fitting(tensor: Tensor, given: Any) -> Any:
    array = np.asarray(given, dtype=tensor.dtype.numpy)
    shape = tensor.shape
    fits = shape is None or (
        len(shape) == array.ndim and all(d in (None, have) for d, have in zip(shape, array.shape, strict=True))
    )
    if not fits:
        raise ValueError(f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape {shape}")
    return array
