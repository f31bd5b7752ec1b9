"""Reading a dataset in Python: element by element, from blocks where nobody minds."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import length_hint
from typing import Any, Final, Self, cast
from weakref import WeakKeyDictionary, WeakSet

from tfsvc.data import tokens
from tfsvc.data.operator import Context, Operator, OperatorIterator, RowsIterator
from tfsvc.data.optional import Optional
from tfsvc.data.origins import explain
from tfsvc.data.pace import Pace
from tfsvc.data.stacking import to_columns
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError

LINKS: Final = 1024
"""So many failures a thread may sleep through in the middle of a call."""


@dataclass
class Passes:
    """How often a dataset has been iterated."""

    count: int = 0


@dataclass(eq=False)
class Reading:
    """How far a pass over a dataset has come.

    Attributes:
      iterator: what is read, by the thread whose ``turn`` it is.
      started: whether anything was asked for.
      number: how many elements came, or failed, since the start or since the pass was resumed.
      since: what ``number`` is counted from, for errors.
    """

    iterator: OperatorIterator
    turn: threading.Lock = field(default_factory=threading.Lock)
    started: bool = False
    number: int = 0
    since: str = ""

    def __post_init__(self) -> None:
        _readings.add(self)

    def explain(self, error: Exception) -> None:
        """Says in an error which element it took the place of."""
        explain(error, f"element {self.number} of the dataset{self.since}")
        self.number += 1


class DatasetIterator(Iterator[Any]):
    """One pass over a dataset in this process, whole and in order; several threads may share it.

    Made by ``iter(dataset)``.
    """

    def __init__(self, operator: Operator, reading: Reading) -> None:
        self._operator = operator
        self._reading = reading

    @property
    def element_spec(self) -> Any:
        """The nest of :class:`TensorSpec` of an element."""
        return self._operator.spec()

    def __next__(self) -> Any:
        reading = self._reading
        with reading.turn:
            reading.started = True
            try:
                element = reading.iterator.next()
            except StopIteration:
                raise
            except Exception as error:
                reading.explain(error)
                raise
            reading.number += 1
            return element

    def get_next(self) -> Any:
        """The next element.

        Raises:
          OutOfRangeError: at the end, where ``next()`` raises ``StopIteration``.
        """
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(message="End of sequence") from None

    def get_next_as_optional(self) -> Optional:
        """The next element, or an optional without a value at the end."""
        spec = self.element_spec
        try:
            return Optional(next(self), spec)
        except StopIteration:
            return Optional.empty(spec)

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator stands, for the trainer's own checkpoint: what comes next is what has not come yet.

        Returns:
          A dictionary that can be written as JSON. It holds positions, and what operators behind ``distribute``, or
          all operators of a dataset that is read here, keep of elements.

        Raises:
          tf.errors.FailedPreconditionError: for a service's dataset without a fixed order.
          tf.errors.InvalidArgumentError: if an operator keeps elements that cannot be written down.
        """
        with self._reading.turn:
            return tokens.make(self._operator, self._save())

    def mark(self) -> Callable[[], dict[str, Any]]:
        """Where the iterator stands now, for whoever reads ahead of its own reader.

        Returns:
          A function that gives, and raises, what :meth:`state_dict` would now. To ask for it costs a little, to call it
          the rest.
        """
        with self._reading.turn:
            try:
                state = self._save()
            except Exception as error:
                return partial(_raise, error)
        return partial(tokens.make, self._operator, state)

    def load_state_dict(self, state: Any) -> None:
        """Goes on where another iterator of an equal dataset stood; only before the first element.

        Args:
          state: what :meth:`state_dict` gave, in this process or another; or a list of the states of all consumers of
            a service's job, to go on with another number of them.

        Raises:
          tf.errors.InvalidArgumentError: if the state is of another dataset, damaged, or not whole; the message says
            what differs.
          tf.errors.FailedPreconditionError: if the iterator has given elements already.
        """
        reading = self._reading
        with reading.turn:
            if reading.started:
                raise FailedPreconditionError(
                    message="The iterator has given elements already; load the state into a new one."
                )
            many = isinstance(state, (list, tuple))
            states = [tokens.read(self._operator, one) for one in (state if many else [state])]
            if not states:
                raise InvalidArgumentError(message="The list of states is empty.")
            merged = tokens.merge(states, self._save()) if many else states[0]
            reading.started = True
            reading.since = ", counted from where it was resumed"
            self._load(merged)

    def _save(self) -> Any:
        return self._reading.iterator.save()

    def _load(self, state: Any) -> None:
        self._reading.iterator.load(state)


def _raise(error: Exception) -> Any:
    raise error


@dataclass(eq=False)
class RowReading(Reading, ABC):
    """The same for a chain of rows.

    A chain ends for good where its next link fails. So there is a chain of chains: each gives the rows up to a failure,
    and the next what comes behind it.

    A thread may wait in a link while another thread comes to its end and goes on to the next. The interpreter's chain
    lets go of a link then, and the first thread would come back to freed memory. So all links are kept: here only made,
    held by the iterator, since a link refers to what it reads.
    """

    left: Iterator[Any] = field(default_factory=lambda: iter(()))
    """The rows that were read and not given; those of a list or an array, which gives each to one thread only."""
    ended: bool = False

    def part(self, links: deque[Any]) -> Iterator[Any] | None:
        """The rows that come before the next failure, which are added to the links; ``None`` behind the last."""
        if self.ended:
            return None
        rows = iter(self.rows, None)
        link: Iterator[Any] = chain.from_iterable(rows)
        links.append((rows, link))
        return link

    def rows(self) -> Iterator[Any] | None:
        """One row or more; ``None`` behind the last."""
        with self.turn:
            # Another thread may have read some meanwhile, which come first.
            if not length_hint(self.left):
                self.started = True
                try:
                    self.left = self.read()
                except StopIteration:
                    self.ended = True
                    return None
                except Exception as error:
                    self.explain(error)
                    raise
                self.number += length_hint(self.left)
            return self.left

    @abstractmethod
    def read(self) -> Iterator[Any]:
        """A list's or an array's iterator over the next rows."""


@dataclass(eq=False)
class BlockReading(RowReading):
    """Rows of blocks, which are as large as their elements are quick."""

    pace: Pace = field(default_factory=Pace)

    def read(self) -> Iterator[Any]:
        return self.pace.rows(self.iterator)


@dataclass(eq=False)
class CountedReading(RowReading):
    """Rows whose giver looks how many of them were taken."""

    iterator: RowsIterator

    def read(self) -> Iterator[Any]:
        return self.iterator.rows()


class ChainedDatasetIterator(chain[Any], DatasetIterator):
    """A pass that is a chain of rows: no method of Python's can hand on an element as fast as the interpreter does."""

    _links: Any

    def __new__(cls, operator: Operator, reading: RowReading, *_: Any) -> Self:
        links: deque[Any] = deque(maxlen=LINKS)
        parts = iter(partial(reading.part, links), None)
        made = cast(Self, super().from_iterable(parts))
        made._links = parts, links
        return made


class ReadAheadDatasetIterator(ChainedDatasetIterator):
    """A pass that reads blocks, so that functions run up to about a millisecond ahead.

    Its state has the elements in it that were read and not given, and which pass it is: the dataset that it is loaded
    into counts its passes on from there.
    """

    _reading: BlockReading

    def __init__(self, operator: Operator, reading: BlockReading, context: Context, passes: Passes) -> None:
        super().__init__(operator, reading)
        self._context = context
        self._passes = passes

    def _save(self) -> Any:
        rows = list(copy(self._reading.left))
        place = (self._context.seed, self._context.path, self._context.turn)
        return place, to_columns(rows) if rows else None, self._reading.iterator.save()

    def _load(self, state: Any) -> None:
        (seed, path, turn), ahead, saved = state
        self._context = replace(self._context, seed=seed, path=path, turn=turn)
        self._passes.count = max(self._passes.count, turn + 1)
        reading = self._reading
        reading.iterator = self._operator.iterator(self._context)
        reading.iterator.load(saved)
        reading.left = iter(()) if ahead is None else iter(list(ahead.elements()))


def make_iterator(
    operator: Operator, passes: Passes, memory: WeakKeyDictionary[Operator, Any], numbered: bool = False
) -> DatasetIterator:
    """The next pass over a dataset.

    Args:
      passes: counts them.
      memory: where caches keep what they have.
      numbered: as in :class:`Context`.
    """
    number = passes.count
    context = Context(path=(number,), turn=number, memory=memory, reorder=True, ahead=True, numbered=numbered)
    passes.count += 1
    iterator = operator.iterator(context)
    if operator.may_read_ahead:
        return ReadAheadDatasetIterator(operator, BlockReading(iterator), context, passes)
    if isinstance(iterator, RowsIterator):
        return ChainedDatasetIterator(operator, CountedReading(iterator))
    return DatasetIterator(operator, Reading(iterator))


_readings: WeakSet[Reading] = WeakSet()


def _free_turns() -> None:
    """A forked child has none of the threads whose turn it may have been."""
    for reading in _readings:
        reading.turn = threading.Lock()


os.register_at_fork(after_in_child=_free_turns)
