"""``Dataset.group_by_window``: elements of one key, so many at a time, made into a dataset by a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

from tfsvc.data.elements import as_leaf, relax, spread, zero_examples
from tfsvc.data.functions import call, call_for_dataset, call_for_examples, describe
from tfsvc.data.operator import UNKNOWN, Context, Operator, OperatorIterator, UnaryOperator
from tfsvc.data.ops.flat_map import Expanded, ExpansionIterator
from tfsvc.data.ops.held import Held, spec_of_rows
from tfsvc.errors import InvalidArgumentError
from tfsvc.random import global_seed


@dataclass(frozen=True, eq=False)
class GroupByWindow(UnaryOperator):
    """The elements of ``reduce_func(key, group)`` for each full group; at the end for the others by their key.

    Attributes:
      key_func: from an element to its key, an integer scalar.
      reduce_func: from a key and a dataset to a dataset.
      window_size: elements of a full group, or a function of the key.
      dataset: makes the public dataset of an operator.
      keys: all keys, where they are known: the spec must fit what becomes of any of them.
      seed: the global seed that was set when the functions were given.
    """

    key_func: Callable[..., Any]
    reduce_func: Callable[..., Any]
    window_size: int | Callable[..., Any]
    dataset: Callable[[Operator], Any]
    keys: tuple[int, ...] = ()
    seed: int | None = field(default_factory=global_seed)
    name = "group_by_window"

    @property
    def spec_is_given(self) -> bool:
        return False

    def cardinality(self) -> int:
        return UNKNOWN

    def iterator(self, context: Context) -> OperatorIterator:
        return _GroupByWindowIterator(self, context)

    def try_function(self) -> None:
        example = self.input.examples()[0]
        key = self.key(example)
        # An example may have a key for which no group can be made; elements need not.
        self.expand((self.keys[0] if self.keys else key, (example,)), 0)

    def key(self, element: Any) -> int:
        """The key of an element."""
        return _integer(call(self.key_func, element), self.key_func)

    def size(self, key: int) -> int:
        """How many elements make a full group.

        Raises:
          InvalidArgumentError: if it is not positive.
        """
        size = self.window_size
        if callable(size):
            size = _integer(call(size, np.int64(key)), size)
        if size <= 0:
            raise InvalidArgumentError(message=f"Window size must be greater than zero, but got {size}.")
        return size

    def place(self, rows: tuple[Any, ...], made: int) -> int:
        """What tells a group from others, of which ``made`` were made up to this one."""
        return made

    def expand(self, element: tuple[int, tuple[Any, ...]], luck: int) -> Operator:
        """The graph of the dataset that the group of a key becomes."""
        key, rows = element
        return self.reduced(key, Held(rows, spec_of_rows(self.input, rows)), luck)

    def reduced(self, key: int, group: Held, luck: int) -> Operator:
        """The graph of the dataset that the function makes of a group."""
        return call_for_dataset(self.reduce_func, (np.int64(key), self.dataset(group)), self.seed, luck)

    def _make_spec(self) -> Any:
        examples = self.input.examples()
        keys = self.keys or tuple(map(self.key, examples))
        groups = zip(keys, cycle(examples), strict=False)
        return relax(self.expand((key, (example,)), 0).spec() for key, example in groups)

    def _make_examples(self) -> tuple[Any, ...]:
        spec = self.spec()
        try:
            groups = call_for_examples(lambda example: self._group_of(example).examples(), self.input.examples())
        except Exception:
            # As where an example is too long for its bucket; the spec is known all the same.
            return zero_examples(spec)
        return spread((groups[0][0], groups[-1][-1]), spec)

    def _group_of(self, example: Any) -> Operator:
        return self.expand((self.key(example), (example,)), 0)


def _integer(value: Any, function: Callable[..., Any]) -> int:
    leaf = as_leaf(value)
    if not isinstance(leaf, np.integer):
        raise ValueError(f"{describe(function)} must return a single integer scalar but gave {value!r}.")
    return int(leaf)


class _GroupByWindowIterator(ExpansionIterator):
    def __init__(self, group_by_window: GroupByWindow, context: Context) -> None:
        super().__init__()
        self._operator = group_by_window
        self._input = group_by_window.input.iterator(context)
        self._context = context
        self._groups: dict[int, list[Any]] = {}
        self._sizes: dict[int, int] = {}
        self._made = 0
        self._input_ended = False

    def _expand_next(self) -> Expanded:
        key = self._full_group()
        rows, self._made = tuple(self._groups.pop(key)), self._made + 1
        place = self._operator.place(rows, self._made)
        return Expanded(self._operator, (key, rows), place, self._context)

    def _full_group(self) -> int:
        """The key of the next group to reduce."""
        while not self._input_ended:
            try:
                element = self._input.next()
            except StopIteration:
                self._input_ended = True
                break
            key = self._operator.key(element)
            if key not in self._groups:
                self._sizes[key] = self._operator.size(key)
            group = self._groups.setdefault(key, [])
            group.append(element)
            if len(group) == self._sizes[key]:
                return key
        if not self._groups:
            raise StopIteration
        return min(self._groups)

    def save(self) -> Any:
        groups = {key: list(rows) for key, rows in self._groups.items()}
        inner = self._inner and self._inner.save()
        return groups, dict(self._sizes), self._made, inner, self._input_ended, self._input.save()

    def load(self, state: Any) -> None:
        groups, sizes, self._made, inner, self._input_ended, input = state
        self._groups = {key: list(rows) for key, rows in groups.items()}
        self._sizes = dict(sizes)
        self._inner = inner and Expanded.load(inner, self._operator, self._context)
        self._input.load(input)
