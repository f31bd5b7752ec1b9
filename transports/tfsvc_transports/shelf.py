"""Shelves: where a journal's segments lie, as objects that are put once under a name and never changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from tfsvc.errors import NotFoundError


class Shelf(Protocol):
    """A place for objects. ``put`` and the rest may be called from two threads at once.

    All methods raise an ``OpError`` when the place cannot be used: ``ResourceExhaustedError`` when it is full,
    ``UnavailableError`` when it is out of reach, ``PermissionDeniedError``, ``DataLossError`` when it is damaged.
    """

    @property
    def where(self) -> str:
        """The place, as people name it."""
        ...

    def names(self) -> Sequence[str]:
        """The names of all objects, in any order."""
        ...

    def get(self, names: Sequence[str]) -> Iterator[bytes]:
        """The objects of these names, in this order.

        Raises:
          NotFoundError: if one is not there.
        """
        ...

    def put(self, name: str, body: bytes) -> bool:
        """Makes an object durable, unless there is one of that name; whether it did."""
        ...

    def has(self, name: str) -> bool:
        """Whether there is an object of that name. Raises if the place as such is gone."""
        ...

    def delete(self, names: Sequence[str]) -> None:
        """Removes objects; those that are not there are passed over."""
        ...

    def close(self) -> None:
        """Lets another process have the place, where only one can have it."""
        ...


class MemoryShelf:
    """A shelf as durable as the process, for tests.

    Args:
      objects: what is there already.
    """

    def __init__(self, objects: dict[str, bytes] | None = None) -> None:
        self.objects: dict[str, bytes] = {} if objects is None else objects

    @property
    def where(self) -> str:
        return "this process"

    def names(self) -> Sequence[str]:
        return tuple(self.objects)

    def get(self, names: Sequence[str]) -> Iterator[bytes]:
        for name in names:
            if name not in self.objects:
                raise NotFoundError(message=f"there is no object {name} in {self.where}")
            yield self.objects[name]

    def put(self, name: str, body: bytes) -> bool:
        return self.objects.setdefault(name, body) is body

    def has(self, name: str) -> bool:
        return name in self.objects

    def delete(self, names: Sequence[str]) -> None:
        for name in names:
            self.objects.pop(name, None)

    def close(self) -> None:
        """There is nothing to let go of."""
