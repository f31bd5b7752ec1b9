"""``Dataset.scan``: a function of each element and of a state that it hands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.data.functions import call_for_examples, call_for_state, check_state, describe
from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator


@dataclass(frozen=True, eq=False)
class Scan(UnaryOperator):
    """``function(state, element)`` gives the next state and the output; one that fails leaves the state alone."""

    initial_state: Any
    function: Callable[..., Any]
    name = "scan"

    @property
    def spec_is_given(self) -> bool:
        return False

    def iterator(self, context: Context) -> OperatorIterator:
        return _ScanIterator(self, context)

    def try_function(self) -> None:
        self.step(self.initial_state, self.input.examples()[0])

    def step(self, state: Any, element: Any) -> tuple[Any, Any]:
        """The next state and the output.

        Raises:
          TypeError: if the function gives no pair, or a state of another structure or dtype.
        """
        result = call_for_state(self.function, state, element)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(
                "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value, "
                f"but {describe(self.function)} gave {result!r}."
            )
        check_state(result[0], self.initial_state)
        return result

    def _make_spec(self) -> Any:
        return Operator._make_spec(self)

    def _make_examples(self) -> tuple[Any, ...]:
        return call_for_examples(lambda example: self.step(self.initial_state, example)[1], self.input.examples())


class _ScanIterator(OperatorIterator):
    def __init__(self, scan: Scan, context: Context) -> None:
        self._scan = scan
        self._state = scan.initial_state
        self._input = scan.input.iterator(context)

    def next(self) -> Any:
        self._state, output = self._scan.step(self._state, self._input.next())
        return output

    def save(self) -> Any:
        return self._state, self._input.save()

    def load(self, state: Any) -> None:
        self._state, input = state
        self._input.load(input)
