"""``Dataset.from_generator``: what a Python iterable gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data.elements import as_element, conform, spread, zero_examples
from tfsvc.data.functions import Wrapper, call, describe
from tfsvc.data.operator import UNKNOWN, Context, Operator, OperatorIterator, SourceOperator
from tfsvc.data.ops.cursor import Cursor
from tfsvc.data.ownership import settle
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import SplitPlan


@dataclass(frozen=True)
class Iterated:
    """The function behind ``Dataset.from_iterable``: gives the iterable, or calls what makes one."""

    iterable: Any

    def __post_init__(self) -> None:
        kind = type(self.iterable).__name__
        if callable(self.iterable):
            return
        if not isinstance(self.iterable, Iterable):
            raise TypeError(f"`iterable` must be an iterable or make one, but a {kind} does not.")
        if isinstance(self.iterable, Iterator):
            raise TypeError(
                f"`iterable` is an iterator ({kind}), which can be read once only; "
                "give what it is made from, or a function that makes it."
            )

    def __call__(self) -> Any:
        return self.iterable() if callable(self.iterable) else self.iterable


@dataclass(frozen=True, eq=False)
class Generator(SourceOperator):
    """The values of ``iter(function(*args))``, brought to the form of ``signature``; as they are where it is ``None``.

    It is one split, so that one worker runs the whole generator, and it cannot be positioned: a
    restored iterator runs it from its beginning and drops what had been given.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    signature: Any
    name = "from_generator"

    @property
    def spec_is_given(self) -> bool:
        return self.signature is not None

    @property
    def examples_at_hand(self) -> bool:
        return False

    def cardinality(self) -> int:
        return UNKNOWN

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(1),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _GeneratorIterator(self, context)

    def start(self) -> Iterator[Any]:
        """A fresh run of the function."""
        return iter(self.function(*self.args))

    def element(self, value: Any) -> Any:
        """A value of the generator as an element.

        Raises:
          InvalidArgumentError: if it does not fit the signature.
        """
        if self.signature is None:
            return settle([as_element(value)])
        try:
            return _fit(value, self.signature)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidArgumentError(
                message=f"{describe(self.function)} yielded {value!r}, which does not match {self.signature!r}: {error}"
            ) from error

    def _make_spec(self) -> Any:
        return Operator._make_spec(self) if self.signature is None else self.signature

    def _make_examples(self) -> tuple[Any, ...]:
        for value in self.start():
            example = self.element(value)
            return (example,) if self.signature is None else spread((example,), self.signature)
        if self.signature is None:
            raise InvalidArgumentError(
                message=f"{describe(self.function)} yields nothing, by which its elements could be known; "
                "use from_generator with an `output_signature`"
            )
        return zero_examples(self.signature)


def yielded(function: Callable[..., Any], element: Any) -> Generator:
    """What a generator function yields for an element."""
    return Generator(_Call(function, element), (), None)


@dataclass(frozen=True)
class _Call(Wrapper):
    """A function with its argument."""

    element: Any

    def __call__(self) -> Any:
        return call(self.function, self.element)


def _fit(value: Any, signature: Any) -> Any:
    """Sequences of any type fit each other, as in TensorFlow; the result has the signature's types."""
    if not nest.is_nested(signature):
        leaf = conform(value, signature)
        # A generator may fill one buffer again and again, while elements are kept.
        return leaf.copy() if isinstance(leaf, np.ndarray) and np.may_share_memory(leaf, value) else leaf
    if not nest.is_nested(value) or len(value) != len(signature):
        raise TypeError(f"expected {len(signature)} components")
    pairs = zip(nest.children(value), nest.children(signature), strict=True)
    return nest.rebuild(signature, [_fit(v, s) for v, s in pairs])


class _GeneratorIterator(OperatorIterator):
    def __init__(self, generator: Generator, context: Context) -> None:
        self._generator = generator
        self._cursor = Cursor(1, context.feed)
        self._running: Iterator[Any] | None = None
        self._asked = 0
        self._replay = 0

    def next(self) -> Any:
        if self._running is None:
            if not self._replay:
                self._cursor.next()
            self._running = self._generator.start()
            for _ in range(self._replay):
                _skip(self._running)
            self._asked, self._replay = self._replay, 0
        self._asked += 1
        return self._generator.element(next(self._running))

    def save(self) -> Any:
        return self._cursor.save(), self._asked + self._replay

    def load(self, state: Any) -> None:
        cursor, self._replay = state
        self._cursor.load(cursor)


def _skip(running: Iterator[Any]) -> None:
    # An iterator that raised and went on had its failure reported before.
    try:
        next(running, None)
    except Exception:
        return
