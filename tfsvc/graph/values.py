"""What flows along a graph's edges besides arrays: handles of state, and the mark of a branch not taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

Run = Any
"""A kernel ready to run: takes a node's inputs, gives its result, or a tuple of results."""


@dataclass(frozen=True, slots=True)
class Handle:
    """Names a piece of state: what it is, its container, and its name there."""

    kind: str
    container: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} in container {self.container}"


class _Dead:
    def __repr__(self) -> str:
        return "DEAD"


DEAD: Final = _Dead()
"""The value of every result on a branch that was not taken."""


class StalledError(Exception):
    """An operator cannot go on before another step has changed a queue."""
