"""The state of a task: variables and queues by container and name, shared by the sessions of all masters.

A variable's array is never changed in place: a write puts another array in its stead. So a value that was
read stays what it was, and a failed slice is undone by putting the old arrays back.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsvc.errors import (
    CancelledError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    UnimplementedError,
)
from tfsvc.graph.values import Handle, StalledError
from tfsvc.wire.buffers import Array

Row = tuple[Any, ...]
Shape = tuple[int | None, ...]


@dataclass(slots=True)
class Variable:
    """A variable; ``None`` before it has a value."""

    value: Array | None = None


@dataclass(slots=True)
class Queue:
    """A queue of rows, each an array for every component.

    Attributes:
      capacity: below 0 for as many as come.
      shapes: of the components, with ``None`` where any size will do; none at all where any shape will.
    """

    capacity: int = -1
    shapes: tuple[Shape, ...] = ()
    rows: deque[Row] = field(default_factory=deque)
    closed: bool = False


class Resources:
    """The state of one scope: of a task, or of one session alone."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held while a slice writes, and while it reads several variables."""
        self.stirred = False
        """Whether a queue has changed since the flag was last taken down."""
        self._found: dict[Handle, Any] = {}
        self._undo: list[Callable[[], object]] = []

    # --- variables ---

    def read(self, handle: Handle) -> Array:
        """A variable's value.

        Raises:
          FailedPreconditionError: if it has none.
        """
        variable: Variable | None = self._found.get(handle)
        if variable is None or variable.value is None:
            raise FailedPreconditionError(message=_uninitialized(handle))
        return variable.value

    def is_initialized(self, handle: Handle) -> bool:
        variable: Variable | None = self._found.get(handle)
        return variable is not None and variable.value is not None

    def write(self, handle: Handle, value: Array) -> None:
        """Gives a variable a value."""
        variable: Variable | None = self._found.get(handle)
        if variable is None:
            variable = self._found[handle] = Variable()
        old = variable.value
        self._undo.append(lambda: setattr(variable, "value", old))
        variable.value = value

    def destroy(self, handle: Handle, ignore_missing: bool) -> None:
        if handle not in self._found and not ignore_missing:
            raise NotFoundError(message=f"Resource {handle} does not exist")
        gone = self._found.pop(handle, None)
        if gone is not None:
            self._undo.append(lambda: self._found.__setitem__(handle, gone))

    # --- queues ---

    def queue(self, handle: Handle, capacity: int = -1, shapes: tuple[Shape, ...] = ()) -> Queue:
        """A queue, made where it is not there."""
        queue: Queue = self._found.setdefault(handle, Queue(capacity, shapes))
        return queue

    def enqueue(self, queue: Queue, rows: Sequence[Row]) -> None:
        """Adds rows behind the others.

        Raises:
          CancelledError: if the queue is closed.
          InvalidArgumentError: if a row is not of the queue's shapes.
          StalledError: if there is no room for all now.
          UnimplementedError: if there never will be.
        """
        for row in rows:
            for value, shape in zip(row, queue.shapes, strict=bool(queue.shapes)):
                _check_shape(np.shape(value), shape)
        if queue.closed:
            raise CancelledError(message="FIFOQueue is closed.")
        if 0 <= queue.capacity < len(rows):
            text = f"The queue holds {queue.capacity} elements; enqueue no more than that at once, not {len(rows)}"
            raise UnimplementedError(message=text)
        if queue.capacity >= 0 and len(queue.rows) + len(rows) > queue.capacity:
            raise StalledError
        queue.rows.extend(rows)
        self.stirred = True
        self._undo.append(lambda: [queue.rows.pop() for _ in rows])

    def dequeue(self, queue: Queue, count: int = 1, up_to: bool = False) -> list[Row]:
        """The next ``count`` rows; ``up_to``: fewer where the queue is closed and holds fewer.

        Raises:
          OutOfRangeError: if the queue is closed and holds too few.
          StalledError: if it holds too few and is not closed.
        """
        if len(queue.rows) < count:
            if not queue.closed:
                raise StalledError
            if not (up_to and queue.rows):
                raise OutOfRangeError(
                    message=f"FIFOQueue is closed and has insufficient elements (requested {count}, current size "
                    f"{len(queue.rows)})"
                )
        taken = [queue.rows.popleft() for _ in range(min(count, len(queue.rows)))]
        self.stirred = True
        self._undo.append(lambda: queue.rows.extendleft(reversed(taken)))
        return taken

    def close(self, queue: Queue, cancel_pending: bool) -> None:
        """Takes no more rows; ``cancel_pending`` makes no difference, as waiting enqueues end either way."""
        queue.closed = True
        self.stirred = True

    # --- slices ---

    def keep(self) -> None:
        """What was written is not undone any more."""
        self._undo.clear()

    def undo(self) -> None:
        """Takes back all writes since they were last kept."""
        while self._undo:
            self._undo.pop()()

    def wipe(self, containers: Sequence[str]) -> None:
        """Drops what lies in these containers, everything where there are none."""
        with self.lock:
            self._found = {
                handle: found
                for handle, found in self._found.items()
                if containers and handle.container not in containers
            }
            self.stirred = True


def _check_shape(found: tuple[int, ...], wanted: Shape) -> None:
    fits = len(found) == len(wanted) and all(w in (None, n) for w, n in zip(wanted, found, strict=True))
    if not fits:
        raise InvalidArgumentError(message=f"Shape mismatch in the queue's tuple: expected {wanted}, got {found}")


def _uninitialized(handle: Handle) -> str:
    if handle.kind == "ref":
        return f"Attempting to use uninitialized value {handle.name}"
    return (
        f"Could not find variable {handle.name}. This could mean that the variable has been deleted. In TF1, it can "
        f"also mean the variable is uninitialized. Debug info: container={handle.container}, status error message="
        f"Resource {handle.container}/{handle.name}/N10tensorflow3VarE does not exist."
    )
