"""What a function of single elements is given: elements one by one, or those of a block, of which one may fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.functions import Called
from tfsvc.data.operator import OperatorIterator
from tfsvc.data.stacking import cut


class FunctionInput:
    """The elements of ``input``, each of them once.

    When an element of a block fails, the results before it come first: the failure is kept for the next call, and so
    is the rest of the block. A saved state has the failed element in it, so a restored iterator calls the function for
    it again.
    """

    def __init__(self, input: OperatorIterator) -> None:
        self._input = input
        self._held: Columns | None = None
        self._at = 0
        self._failure: BaseException | None = None

    def next(self) -> Any:
        """The next element; raises what is left to be told of the one before."""
        self._tell()
        held = self._held
        if held is None:
            return self._input.next()
        self._pass(1, held)
        return held.element(self._at - 1)

    def block(self, limit: int, call: Callable[[Columns], Called]) -> tuple[Columns, Called] | None:
        """Elements as :meth:`OperatorIterator.block` gives them, with the results of ``call`` for each of them.

        Raises:
          Exception: what the first one failed with.
        """
        self._tell()
        if self._held is None:
            self._held, self._at = self._input.block(limit), 0
            if self._held is None:
                return None
        held, at = self._held, self._at
        block = held if not at and held.count <= limit else cut(held, at, min(at + limit, held.count))
        called = call(block)
        count = len(called.results)
        self._pass(count, held)
        self._failure = called.failure
        if not count:
            self._tell()
        return block if count == block.count else cut(block, 0, count), called

    def _tell(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            assert self._held is not None
            self._pass(1, self._held)
            raise failure

    def _pass(self, count: int, held: Columns) -> None:
        self._at += count
        self._held = held if self._at < held.count else None

    def save(self) -> Any:
        held = self._held
        if held is not None:
            left = cut(held, self._at, held.count)
            held = Columns(left.structure, left.leaves, left.count)
        return held, self._input.save()

    def load(self, state: Any) -> None:
        self._held, input = state
        self._input.load(input)
