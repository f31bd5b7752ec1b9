"""``choose_from_datasets``: one dataset says from which of the others comes the next element."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tfsvc.data.elements import ends, relax
from tfsvc.data.operator import INFINITE, UNKNOWN, Context, Operator, OperatorIterator, remade
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import Starved


@dataclass(frozen=True, eq=False)
class Choose(Operator):
    """The next element of the input whose number ``selector`` gives, for each number that it gives.

    Under splits each worker runs the whole selector for itself: choices of several workers that were agreed
    on would have to wait for each other.

    Attributes:
      stop_on_empty: whether all ends when an ended input is chosen; else that choice is passed over.
    """

    selector: Operator
    operators: tuple[Operator, ...]
    stop_on_empty: bool
    name = "choose_from_datasets"

    def __post_init__(self) -> None:
        if self.spec_is_given:
            self.spec()

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.operators

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Operator:
        return remade(self, operators=inputs)

    def cardinality(self) -> int:
        if self.selector.cardinality() != INFINITE:
            return UNKNOWN
        endless = [operator.cardinality() == INFINITE for operator in self.operators]
        return INFINITE if (all(endless) if self.stop_on_empty else any(endless)) else UNKNOWN

    def iterator(self, context: Context) -> OperatorIterator:
        return _ChooseIterator(self, context)

    def _make_spec(self) -> Any:
        try:
            return relax(operator.spec() for operator in self.operators)
        except TypeError as error:
            raise TypeError(f"Invalid `datasets`. `datasets` must have compatible element specs.\n{error}") from error

    def _make_examples(self) -> tuple[Any, ...]:
        return ends(operator.examples() for operator in self.operators)


class _ChooseIterator(OperatorIterator):
    def __init__(self, choose: Choose, context: Context) -> None:
        contexts = context.divided(choose.operators)
        self._selector = choose.selector.iterator(replace(context.within(len(contexts)), feeds=()))
        self._inputs = [input.iterator(own) for input, own in zip(choose.operators, contexts, strict=True)]
        self._ended = [False] * len(self._inputs)
        self._stop_on_empty = choose.stop_on_empty
        self._choice: int | None = None

    def next(self) -> Any:
        while not all(self._ended):
            choice = self._choose()
            if not self._ended[choice]:
                try:
                    element = self._inputs[choice].next()
                except StopIteration:
                    self._ended[choice] = True
                except Starved:
                    raise
                except Exception:
                    self._choice = None
                    raise
                else:
                    self._choice = None
                    return element
            if self._stop_on_empty:
                raise StopIteration
            self._choice = None
        raise StopIteration

    def _choose(self) -> int:
        """The input whose turn it is; it stays so until an element has come out of it."""
        if self._choice is None:
            choice = int(self._selector.next())
            if not 0 <= choice < len(self._inputs):
                raise InvalidArgumentError(message=f"Selector index out of range: {choice} >= {len(self._inputs)}")
            self._choice = choice
        return self._choice

    def save(self) -> Any:
        inputs = [input.save() for input in self._inputs]
        return self._selector.save(), inputs, list(self._ended), self._choice

    def load(self, state: Any) -> None:
        selector, inputs, ended, self._choice = state
        self._selector.load(selector)
        self._ended = list(ended)
        for input, saved in zip(self._inputs, inputs, strict=True):
            input.load(saved)
