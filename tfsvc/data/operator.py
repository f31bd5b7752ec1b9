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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from hashlib import blake2b
from os import urandom
from typing import Any, ClassVar, Final, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.elements import relax, spec_of_element
from tfsvc.data.philox import Philox
from tfsvc.errors import NotFoundError
from tfsvc.protocol.splits import SplitFeed, SplitPlan
from tfsvc.random import Seeds
from tfsvc.record import but, record

AnyOperator = TypeVar("AnyOperator", bound="Operator")

INFINITE = -1
"""The cardinality of a dataset without end."""

UNKNOWN = -2
"""The cardinality of a dataset whose length is known only by running it."""

ENDLESS_PASSES = 1 << 32
"""As how many passes an endless repetition counts, for those of a later epoch to be others."""


SKIPPED_TOGETHER: Final = 256
"""How many elements are made at once that nobody wants."""

WAYS_OUT: Final = (
    "Use ShardingPolicy.DATA, where every worker makes all elements and keeps its share, FILE_OR_DATA, or DYNAMIC, "
    "which hands out splits as workers ask for them."
)
"""What to do about a dataset that cannot be sharded by file."""


@record
class Context:
    """What one iteration is given from outside.

    Attributes:
      feeds: the split feed of each provider below this operator, in the order of
        :meth:`Operator.plans`; empty when the dataset runs whole.
      seed: of the luck of unseeded shuffles. Drawn when not given; to restore an iterator that draws luck
        later on, give the seed it was made with.
      path: where this iterator stands: the epoch, then which input, repetition or inner dataset it is. With the seed
        it makes every unseeded shuffle a pure function of its place.
      turn: which pass over its dataset this is, counted over epochs and repetitions as TensorFlow counts those that
        run to their end. It makes seeded shuffles functions of their seeds and the pass.
      shared_seed: of the luck that belongs to elements, the same in all pipelines of an iteration; ``None`` for
        ``seed``, which each pipeline has of its own.
      numbered: whether ``turn`` also says which pass over a service's job is read, and one in a fixed order from its
        start, so that readers in several processes read the same; else it is the next that this process has not read.
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
    turn: int = 0
    memory: WeakKeyDictionary[Operator, Any] = field(default_factory=WeakKeyDictionary)
    deterministic: bool | None = None
    reorder: bool = False
    ahead: bool = False
    inline: bool = False
    shared_seed: int | None = None
    numbered: bool = False

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
        return but(self, path=(*self.path, place))

    def repetition(self, number: int, count: int) -> Context:
        """For one of ``count`` passes over the same input, which are endless where it is negative."""
        passes = count if count >= 0 else ENDLESS_PASSES
        return but(self, path=(*self.path, number), turn=self.turn * passes + number)

    def whole(self, place: int) -> Context:
        """For a dataset made inside a function, which runs whole and is new each time."""
        return but(self, feeds=(), path=(*self.path, place), turn=0, numbered=False)

    def divided(self, inputs: tuple[Operator, ...]) -> tuple[Context, ...]:
        """One context for each of several inputs, each with the feeds of its own sources."""
        contexts = []
        start = 0
        for place, operator in enumerate(inputs):
            stop = start + len(operator.plans()) if self.feeds else 0
            same = [other is operator for other in inputs]
            turn = self.turn * sum(same) + sum(same[:place])
            contexts.append(but(self.within(place), feeds=self.feeds[start:stop], turn=turn))
            start = stop
        return tuple(contexts)

    def luck_within(self, place: int) -> int:
        """A number for the unseeded operators of a dataset that a function makes."""
        name = f"{self.seed} {self.path} {place}".encode()
        return int.from_bytes(blake2b(name, digest_size=8).digest(), "little")

    def luck(self, seeds: Seeds | None, anew: bool) -> Philox:
        """The random numbers of one pass of an operator.

        With ``seeds`` they are TensorFlow's: those of the seeds themselves or, with ``anew``, of a pair that the
        seeds give to each pass. Without them they are a function of this iteration's seed and path.
        """
        if seeds is None:
            sequence = np.random.SeedSequence(self.seed % 2**64, spawn_key=self.path)
            first, second = sequence.generate_state(2, np.uint64).tolist()
        else:
            first, second = Philox(seeds, 2 * self.turn).take(2).tolist() if anew else seeds
        return Philox((first, second))


class OperatorIterator(ABC):
    """One pass over an operator's elements; not safe for several threads at once."""

    operator: Operator | None = None
    """Whose elements they are; see :meth:`Operator.iterator`."""

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

    def skip(self, limit: int) -> int:
        """Passes over one to ``limit`` elements, and says over how many; raises what :meth:`next` raises.

        A source whose elements have places need not make them, and so is anywhere at once.
        """
        columns = self.block(min(limit, SKIPPED_TOGETHER))
        if columns is not None:
            return columns.count
        self.next()
        return 1


class RowsIterator(OperatorIterator):
    """A pass that knows what it has given though nobody asks it for single elements."""

    @abstractmethod
    def rows(self) -> Iterator[Any]:
        """A list's iterator over one or more next elements; what is taken of it counts as given.

        May be mixed with :meth:`next` and :meth:`block` at will, and raises what they raise.
        """


@dataclass(frozen=True, eq=False)
class Operator(ABC):
    """A node of the dataset graph. Subclasses are frozen dataclasses, one file each."""

    name: ClassVar[str]
    """The name of the method of ``tf.data.Dataset`` that builds it."""

    # No field, so that it is no part of what an operator is: two graphs may be equal and come from different lines.
    origin = ""
    """The line of the program that made it, as ``file:line``; see :mod:`tfsvc.data.origins`."""

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
        """A fresh pass, which knows its operator."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "iterator" in cls.__dict__:
            setattr(cls, "iterator", _signed(cls.iterator))  # noqa: B010

    def plans(self) -> tuple[SplitPlan, ...]:
        """The split providers, in TensorFlow's order: those of the inputs one after the other.

        Raises:
          UnimplementedError: if a source below cannot be split.
        """
        return tuple(plan for operator in self.inputs for plan in operator.plans())

    @abstractmethod
    def with_inputs(self, inputs: tuple[Operator, ...]) -> Operator:
        """The same operator reading from others, as many as it has."""

    @property
    def may_be_taken_by_others(self) -> bool:
        """Whether a pass may be empty since others have read it, as of a job that several readers share."""
        return any(operator.may_be_taken_by_others for operator in self.inputs)

    @property
    def reads_files(self) -> bool:
        """Whether records of files are read by it or below it."""
        return any(operator.reads_files for operator in self.inputs)

    def by_file(self, divide: Callable[[Operator], Operator]) -> Operator:
        """The same dataset of one worker's share of the files.

        Args:
          divide: from a dataset of file names to the worker's share of it.

        Raises:
          NotFoundError: if this operator, or a source below it, cannot be sharded by file.
        """
        raise NotFoundError(
            message=f"Did not find a shardable source: {self.name}() would see other elements if files were divided "
            f"among workers. {WAYS_OUT}"
        )

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

    @property
    def may_read_ahead(self) -> bool:
        """Whether nobody minds when elements are taken before the reader asks for them."""
        return all(operator.may_read_ahead for operator in self.inputs)

    @property
    def fetches_ahead(self) -> bool:
        """Whether its elements are on their way before they are asked for, by themselves."""
        return False

    @property
    def examples_at_hand(self) -> bool:
        """Whether :meth:`examples` runs no code of the user."""
        return self.spec_is_given and all(operator.examples_at_hand for operator in self.inputs)

    def try_function(self) -> None:  # noqa: B027  (most operators have none)
        """Calls a function of the user whose result must have a certain form, for an example.

        Raises:
          Exception: if it has another one, or whatever the function raises.
        """

    def told_elsewhere(self) -> tuple[str, ...] | None:
        """The operators below in words, one each, where they are not in this graph."""
        return None

    def examples(self) -> tuple[Any, ...]:
        """One or two elements as the operator may give, or a few more, made without a scan; computed once.

        Where a dimension varies, two differ in it: that is how a function's spec is probed.
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
        with _probing(self):
            return self._make_examples()

    def __getstate__(self) -> dict[str, Any]:
        # What was computed on the way stays at home, so that equal graphs have equal pickles.
        return {f.name: getattr(self, f.name) for f in fields(self)}


def _signed(iterator: Callable[[Any, Context], OperatorIterator]) -> Callable[[Any, Context], OperatorIterator]:
    @wraps(iterator)
    def signed(operator: Any, context: Context) -> OperatorIterator:
        made = iterator(operator, context)
        # An operator that hands on its input's pass does not sign it again.
        if made.operator is None:
            made.operator = operator
        return made

    return signed


def remade(operator: AnyOperator, **changes: Any) -> AnyOperator:
    """The operator with other values of some fields, said to come from the same line."""
    made = replace(operator, **changes)
    object.__setattr__(made, "origin", operator.origin)
    return made


@contextmanager
def _probing(operator: Operator) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not getattr(error, "__notes__", None):
            place = f" at {operator.origin}" if operator.origin else ""
            error.add_note(f"In {operator.name}(){place}, for an example element, by which element_spec is found.")
        raise


@dataclass(frozen=True, eq=False)
class SourceOperator(Operator):
    """An operator that reads from no other."""

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return ()

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Operator:
        return self

    def by_file(self, divide: Callable[[Operator], Operator]) -> Operator:
        raise NotFoundError(
            message=f"Found an unshardable source dataset: {self.name}() reads no files that could be divided among "
            f"workers. {WAYS_OUT}"
        )


@dataclass(frozen=True, eq=False)
class UnaryOperator(Operator):
    """An operator with one input, whose elements and length it keeps unless a subclass says otherwise."""

    input: Operator

    shards_by_file: ClassVar[bool] = False
    """Whether it may run on a part of the files; set where TensorFlow's rewrite passes the operator."""

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Operator:
        (input,) = inputs
        return remade(self, input=input)

    def by_file(self, divide: Callable[[Operator], Operator]) -> Operator:
        if not self.shards_by_file:
            return super().by_file(divide)
        return remade(self, input=self.input.by_file(divide))

    def cardinality(self) -> int:
        return self.input.cardinality()

    def _make_spec(self) -> Any:
        return self.input.spec()

    def _make_examples(self) -> tuple[Any, ...]:
        return self.input.examples()
