"""Values that are not known yet: a function is called with them to learn the specs of what it gives.

An operation on such a value is tried on arrays of ones whose unknown dimensions have one size, and then another: so
the specs of results need no rules of their own. What needs the value itself (``if x > 0``, ``int(x)``) cannot be
learned this way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tfsvc import nest
from tfsvc.data.elements import as_leaf, relax
from tfsvc.specs import DType, Shape, TensorSpec, spec_of

SIZES: Final = (2, 3)
"""What unknown dimensions are tried with."""


class NotTraceableError(TypeError):
    """The value is needed, and only a call has it."""


class Symbolic(NDArrayOperatorsMixin):
    """A tensor of a spec, without its value."""

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def shape(self) -> Shape | None:
        return self.spec.shape

    @property
    def ndim(self) -> int:
        return len(self._known_shape())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return infer(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return infer(function, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return infer(lambda array: array[key], (self,), {})

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else getattr(np.ndarray, name, None)
        if found is None:
            raise AttributeError(name)
        if callable(found):
            return lambda *args, **kwargs: infer(found, (self, *args), kwargs)
        return infer(lambda array: getattr(array, name), (self,), {})

    def __len__(self) -> int:
        shape = self._known_shape()
        if not shape or shape[0] is None:
            raise self._refusal()
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self._refusal()

    def __bool__(self) -> bool:
        raise self._refusal()

    def __int__(self) -> int:
        raise self._refusal()

    def __float__(self) -> float:
        raise self._refusal()

    def __index__(self) -> int:
        raise self._refusal()

    def __repr__(self) -> str:
        return f"Symbolic({self.spec!r})"

    def _known_shape(self) -> Shape:
        if self.spec.shape is None:
            raise self._refusal()
        return self.spec.shape

    def _refusal(self) -> NotTraceableError:
        return NotTraceableError(f"the value of {self.spec!r} is not known before a call")


def infer(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a function of arrays gives for symbolic ones among its arguments.

    Raises:
      NotTraceableError: if it gives no arrays.
      Exception: what the function raises, if it does so for every size that was tried.
    """
    found: list[Any] = []
    failure: Exception | None = None
    for size in SIZES:
        with np.errstate(all="ignore"):
            try:
                result = function(*_sampled(args, size), **_sampled(dict(kwargs), size))
            except Exception as error:
                failure = error
                continue
        found.append(nest.map_structure(_spec_of_result, result))
    if not found:
        assert failure is not None
        raise failure
    return nest.map_structure(Symbolic, relax(found))


def _spec_of_result(value: Any) -> TensorSpec:
    if not isinstance(value, np.ndarray | np.generic):
        raise NotTraceableError(f"{value!r} would depend on values that are not known before a call")
    return spec_of(as_leaf(value))


def _sampled(value: Any, size: int) -> Any:
    return nest.map_structure(lambda leaf: _sample(leaf.spec, size) if isinstance(leaf, Symbolic) else leaf, value)


def _sample(spec: TensorSpec, size: int) -> Any:
    shape = (size,) * (size - SIZES[0]) if spec.shape is None else tuple(size if d is None else d for d in spec.shape)
    return np.full(shape, b"" if spec.dtype == "string" else 1, spec.dtype.numpy)


class _Tracing(threading.local):
    active = False


_tracing = _Tracing()


def tracing() -> bool:
    """Whether this thread is learning what a function gives: nothing may change then."""
    return _tracing.active


@contextmanager
def traced() -> Iterator[None]:
    """Within it, :func:`tracing` holds."""
    before, _tracing.active = _tracing.active, True
    try:
        yield
    finally:
        _tracing.active = before
