"""``Dataset.map`` with ``num_parallel_calls``: a function of several elements at once, on threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from tfsvc.data.functions import call_for_element
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.map import Map
from tfsvc.data.parallelism import AUTOTUNE, calls_at_once, check_calls
from tfsvc.data.threads import Crew
from tfsvc.errors import RpcError, from_exception, to_exception
from tfsvc.protocol.splits import Starved


@dataclass(frozen=True, eq=False)
class ParallelMap(Map):
    """``function(element)`` for each element, ``parallel_calls`` of them at a time.

    Attributes:
      parallel_calls: -1 for one a core.
      deterministic: whether results come in the order of the input; ``None`` leaves it to the dataset's options.
    """

    parallel_calls: int = AUTOTUNE
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        check_calls(self.parallel_calls)

    def iterator(self, context: Context) -> OperatorIterator:
        if context.inline:
            return super().iterator(context)
        in_order = context.in_order(self.deterministic)
        return _ParallelMapIterator(*self.started(context), calls_at_once(self.parallel_calls), in_order)


@dataclass(frozen=True, eq=False)
class _Call:
    """An element on its way, or the failure of the input in its place."""

    element: Any
    result: Future[Any]


class _ParallelMapIterator(OperatorIterator):
    """Only the calls run on threads; the input is read here.

    A saved state holds the elements on their way, so a restored iterator calls the function for them again.
    """

    def __init__(self, function: Callable[..., Any], input: OperatorIterator, threads: int, in_order: bool) -> None:
        self._function = function
        self._input = input
        self._threads = threads
        self._in_order = in_order
        self._calls: deque[_Call] = deque()
        self._input_ended = False
        self._crew = Crew("tfsvc-map", threads)

    def next(self) -> Any:
        self._crew.check()
        self._fill()
        if not self._calls:
            raise StopIteration
        first = self._calls[0] if self._in_order else self._first_done()
        # Waits; who is interrupted here finds the call in its place the next time.
        first.result.exception()
        self._calls.remove(first)
        return first.result.result()

    def _fill(self) -> None:
        while not self._input_ended and len(self._calls) < self._threads:
            try:
                element = self._input.next()
            except StopIteration:
                self._input_ended = True
            except Starved:
                if not self._calls:
                    raise
                return
            except Exception as error:
                self._calls.append(_failed(error))
            else:
                self._calls.append(self._start(element))

    def _start(self, element: Any) -> _Call:
        return _Call(element, self._crew.submit(call_for_element, self._function, element))

    def _first_done(self) -> _Call:
        done, _ = wait([call.result for call in self._calls], return_when=FIRST_COMPLETED)
        return next(call for call in self._calls if call.result in done)

    def save(self) -> Any:
        calls = [(call.element, _failure(call)) for call in self._calls]
        return calls, self._input_ended, self._input.save()

    def load(self, state: Any) -> None:
        calls, self._input_ended, input = state
        for element, failure in calls:
            self._calls.append(_failed(to_exception(failure)) if failure else self._start(element))
        self._input.load(input)


_NO_ELEMENT = "the input failed here"


def _failed(error: Exception) -> _Call:
    result: Future[Any] = Future()
    result.set_exception(error)
    return _Call(_NO_ELEMENT, result)


def _failure(call: _Call) -> RpcError | None:
    """The failure of the input, as a value since an exception need not pickle."""
    error = call.result.exception() if call.element is _NO_ELEMENT else None
    return None if error is None else from_exception(error)
