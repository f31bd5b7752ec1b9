"""The contract of dataset operators: an immutable graph node, and the iterator that runs it.

Laws of this module
1. An :class:`Operator` is a value: it holds no state of any iteration and ships as a pickle.
2. An :class:`OperatorIterator` keeps all progress in itself. Whatever ``next`` lets through, be it
   :class:`Starved` or an exception of user code, the next call goes on as if it had not been asked before;
   only the element whose function failed is missing.
3. ``save`` at any element, ``load`` into a fresh iterator, and the rest is the same.
4. :class:`Starved` is raised only where nothing can be given without more splits, by ``next`` and ``block`` alike:
   what comes between two splits must not depend on how it was asked for, or an ordered job would have no order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import urandom
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.elements import relax, spec_of_element
from tfsvc.protocol.splits import SplitFeed, SplitPlan

INFINITE = -1
"""The cardinality of a dataset without end."""

UNKNOWN = -2
"""The cardinality of a dataset whose length is known only by running it."""


@dataclass(frozen=True, slots=True)
class Context:
    """What one iteration is given from outside.

    Attributes:
      feeds: the split feed of each provider below this operator, in the order of
        :meth:`Operator.plans`; empty when the dataset runs whole.
      seed: of the luck of unseeded shuffles. Drawn when not given; to restore an iterator that draws luck
        later on, give the seed it was made with.
      path: where this iterator stands: the epoch, then which input, repetition or inner dataset it is. With the seed
        it makes every shuffle a pure function of its place.
      shared_seed: of the luck that belongs to elements, the same in all pipelines of an iteration; ``None`` for
        ``seed``, which each pipeline has of its own.
      memory: what in-memory caches hold, for as long as their operators live. One for each iteration unless
        several share it.
      deterministic: what the dataset's options say of the order of elements.
      inline: whether all is done on the spot, without threads or processes, as where time is simulated.
      ahead: whether an operator may make elements before they are asked for on a thread of its own; the service
        does so for whole pipelines.
      reorder: whether an operator may keep to a wish for no order. Never in the service: what is made a second
        time after a crash must come in the same order.
    """

    feeds: tuple[SplitFeed, ...] = ()
    seed: int = field(default_factory=lambda: int.from_bytes(urandom(8), "little"))
    path: tuple[int, ...] = ()
    memory: WeakKeyDictionary[Operator, Any] = field(default_factory=WeakKeyDictionary)
    deterministic: bool | None = None
    reorder: bool = False
    ahead: bool = False
    inline: bool = False
    shared_seed: int | None = None

    @property
    def element_seed(self) -> int:
        """The seed of the luck that belongs to elements."""
        return self.seed if self.shared_seed is None else self.shared_seed

    @property
    def feed(self) -> SplitFeed | None:
        """The feed of a source, which is the only one it has."""
        return self.feeds[0] if self.feeds else None

    def in_order(self, wish: bool | None) -> bool:
        """Whether an operator that was told ``wish``, or nothing, must keep the order of its elements."""
        wish = self.deterministic if wish is None else wish
        return wish is not False or not self.reorder

    def within(self, place: int) -> Context:
        """The same for something made below this operator, with luck of its own."""
        return replace(self, path=(*self.path, place))

    def whole(self, place: int) -> Context:
        """For a dataset made inside a function, which runs whole."""
        return replace(self, feeds=(), path=(*self.path, place))

    def divided(self, inputs: tuple[Operator, ...]) -> tuple[Context, ...]:
        """One context for each of several inputs, each with the feeds of its own sources."""
        contexts = []
        start = 0
        for place, operator in enumerate(inputs):
            stop = start + len(operator.plans()) if self.feeds else 0
            contexts.append(replace(self.within(place), feeds=self.feeds[start:stop]))
            start = stop
        return tuple(contexts)

    def generator(self, seed: int | None, reshuffle: bool) -> np.random.Generator:
        """The random numbers of one pass of a shuffle."""
        entropy = (self.seed if seed is None else seed) % 2**64
        sequence = np.random.SeedSequence(entropy, spawn_key=self.path if reshuffle else ())
        return np.random.Generator(np.random.PCG64(sequence))


class OperatorIterator(ABC):
    """One pass over an operator's elements; not safe for several threads at once."""

    @abstractmethod
    def next(self) -> Any:
        """The next element.

        Raises:
          StopIteration: at the end, and again on every later call.
          Starved: when a source needs more splits first; call again once they are there.
          Exception: whatever user code raised; call again to go on behind that element.
        """

    @abstractmethod
    def save(self) -> Any:
        """A picklable state that later calls do not change; positions of split feeds are not in it."""

    @abstractmethod
    def load(self, state: Any) -> None:
        """Takes a state of :meth:`save`; only for an iterator that has given nothing yet.

        Split feeds must already stand where they stood when the state was saved.
        """

    def block(self, limit: int) -> Columns | None:
        """Between 1 and ``limit`` elements at once, or ``None`` where only :meth:`next` can go on.

        May be mixed with :meth:`next` at will, and raises what it raises.
        """
        return None


@dataclass(frozen=True, eq=False)
class Operator(ABC):
    """A node of the dataset graph. Subclasses are frozen dataclasses, one file each."""

    name: ClassVar[str]
    """The name of the method of ``tf.data.Dataset`` that builds it."""

    expands: ClassVar[bool] = False
    """Whether one element that it reads may become any number of elements."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Operator, ...]:
        """The operators it reads from, in order; none for a source."""

    @abstractmethod
    def cardinality(self) -> int:
        """The number of elements of a whole pass, or ``INFINITE`` or ``UNKNOWN``."""

    @abstractmethod
    def iterator(self, context: Context) -> OperatorIterator:
        """A fresh pass."""

    def plans(self) -> tuple[SplitPlan, ...]:
        """The split providers, in TensorFlow's order: those of the inputs one after the other.

        Raises:
          UnimplementedError: if a source below cannot be split.
        """
        return tuple(plan for operator in self.inputs for plan in operator.plans())

    def spec(self) -> Any:
        """The nest of :class:`TensorSpec` of an element; computed once.

        Raises:
          Exception: what a user's function raises when it is probed with an example.
        """
        return self._spec

    @property
    def spec_is_given(self) -> bool:
        """Whether :meth:`spec` runs no code of the user."""
        return all(operator.spec_is_given for operator in self.inputs)

    def told_elsewhere(self) -> tuple[str, ...] | None:
        """The operators below in words, one each, where they are not in this graph."""
        return None

    def examples(self) -> tuple[Any, ...]:
        """One or two elements as the operator may give, made without a scan; computed once.

        Where a dimension varies, the two differ in it: that is how a function's spec is probed.
        """
        return self._examples

    def _make_spec(self) -> Any:
        return relax(spec_of_element(example) for example in self.examples())

    @cached_property
    def identified(self) -> Operator:
        """The same with pairs of an element and what tells it apart, as :mod:`tfsvc.data.identity` says.

        One for all, since in-memory caches belong to operators.
        """
        from tfsvc.data.identity import identified

        return identified(self)

    @abstractmethod
    def _make_examples(self) -> tuple[Any, ...]: ...

    @cached_property
    def _spec(self) -> Any:
        return self._make_spec()

    @cached_property
    def _examples(self) -> tuple[Any, ...]:
        with _probing(self.name):
            return self._make_examples()

    def __getstate__(self) -> dict[str, Any]:
        # What was computed on the way stays at home, so that equal graphs have equal pickles.
        return {f.name: getattr(self, f.name) for f in fields(self)}


@contextmanager
def _probing(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not getattr(error, "__notes__", None):
            error.add_note(f"raised by {name}() for an example element, which is how element_spec is found")
        raise


@dataclass(frozen=True, eq=False)
class SourceOperator(Operator):
    """An operator that reads from no other."""

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return ()


@dataclass(frozen=True, eq=False)
class UnaryOperator(Operator):
    """An operator with one input, whose elements and length it keeps unless a subclass says otherwise."""

    input: Operator

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    def cardinality(self) -> int:
        return self.input.cardinality()

    def _make_spec(self) -> Any:
        return self.input.spec()

    def _make_examples(self) -> tuple[Any, ...]:
        return self.input.examples()
