"""Reading a dataset in Python: element by element, from blocks where nobody minds."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from tfsvc.data import tokens
from tfsvc.data.operator import Context, Operator
from tfsvc.data.optional import Optional
from tfsvc.data.origins import explain
from tfsvc.data.pace import Pace
from tfsvc.data.stacking import to_columns
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError


@dataclass
class Passes:
    """How often a dataset has been iterated."""

    count: int = 0


class DatasetIterator(Iterator[Any]):
    """One pass over a dataset in this process, whole and in order; several threads may share it."""

    def __init__(self, operator: Operator, context: Context) -> None:
        self._operator = operator
        self._iterator = operator.iterator(context)
        self._turn = threading.Lock()
        self._started = False
        self._number = 0
        """How many elements came, or failed, since the start or since it was resumed."""
        self._since = ""
        _iterators.add(self)

    @property
    def element_spec(self) -> Any:
        """The nest of :class:`TensorSpec` of an element."""
        return self._operator.spec()

    def __next__(self) -> Any:
        with self._turn:
            self._started = True
            try:
                element = self._iterator.next()
            except StopIteration:
                raise
            except Exception as error:
                self._explain(error)
                raise
            self._number += 1
            return element

    def _explain(self, error: Exception) -> None:
        """Says in an error which element it took the place of."""
        explain(error, f"element {self._number} of the dataset{self._since}")
        self._number += 1

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
        with self._turn:
            return tokens.make(self._operator, self._save())

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
        with self._turn:
            if self._started:
                raise FailedPreconditionError(
                    message="The iterator has given elements already; load the state into a new one."
                )
            many = isinstance(state, (list, tuple))
            states = [tokens.read(self._operator, one) for one in (state if many else [state])]
            if not states:
                raise InvalidArgumentError(message="The list of states is empty.")
            merged = tokens.merge(states, self._save()) if many else states[0]
            self._started = True
            self._since = ", counted from where it was resumed"
            self._load(merged)

    def _save(self) -> Any:
        return self._iterator.save()

    def _load(self, state: Any) -> None:
        self._iterator.load(state)


class ReadAheadDatasetIterator(DatasetIterator):
    """A pass that reads blocks, so that functions run up to about a millisecond ahead.

    Its state has the elements in it that were read and not given, and which pass it is: the dataset that it is loaded
    into counts its passes on from there.
    """

    def __init__(self, operator: Operator, context: Context, passes: Passes) -> None:
        super().__init__(operator, context)
        self._context = context
        self._passes = passes
        self._pace = Pace()
        self._rows: Iterator[Any] = iter(())

    def __next__(self) -> Any:
        # The list behind it gives each element to one thread only.
        row = next(self._rows, _NONE_LEFT)
        return self._more() if row is _NONE_LEFT else row

    def _more(self) -> Any:
        with self._turn:
            row = next(self._rows, _NONE_LEFT)
            if row is _NONE_LEFT:
                self._started = True
                try:
                    block = self._pace.rows(self._iterator)
                except StopIteration:
                    raise
                except Exception as error:
                    self._explain(error)
                    raise
                self._number += len(block)
                rows = iter(block)
                row, self._rows = next(rows), rows
            return row

    def _save(self) -> Any:
        rows = list(copy(self._rows))
        place = (self._context.seed, self._context.path, self._context.turn)
        return place, to_columns(rows) if rows else None, self._iterator.save()

    def _load(self, state: Any) -> None:
        (seed, path, turn), ahead, saved = state
        self._context = replace(self._context, seed=seed, path=path, turn=turn)
        self._passes.count = max(self._passes.count, turn + 1)
        self._iterator = self._operator.iterator(self._context)
        self._iterator.load(saved)
        self._rows = iter(()) if ahead is None else iter(list(ahead.elements()))


def make_iterator(operator: Operator, passes: Passes, memory: WeakKeyDictionary[Operator, Any]) -> DatasetIterator:
    """The next pass over a dataset; ``memory`` is where caches keep what they have."""
    context = Context(path=(passes.count,), turn=passes.count, memory=memory, reorder=True)
    passes.count += 1
    return (
        ReadAheadDatasetIterator(operator, context, passes)
        if operator.may_read_ahead
        else DatasetIterator(operator, context)
    )


_NONE_LEFT: Any = object()
_iterators: WeakSet[DatasetIterator] = WeakSet()


def _free_turns() -> None:
    """A forked child has none of the threads whose turn it may have been."""
    for iterator in _iterators:
        iterator._turn = threading.Lock()


os.register_at_fork(after_in_child=_free_turns)
