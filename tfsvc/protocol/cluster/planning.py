"""What a master needs of graphs: to grow one, and to cut it into pieces for a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tfsvc.protocol.cluster.names import Task
from tfsvc.record import record

Graph = Any
"""A session's graph as its planner keeps it; never changed, so a failed extension changes nothing."""


@record
class Signature:
    """What a step is asked for: names of tensors to feed and to fetch, and of nodes to run."""

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...]


@record
class Places:
    """Where pieces can run.

    Attributes:
      master: the task that nodes without a place go to.
      incarnations: of every task that the session sees.
      soft: whether a node for a device that is not there goes to the processor.
    """

    master: Task
    incarnations: Mapping[Task, int]
    soft: bool = False


@record
class Port:
    """A tensor that enters or leaves a piece: the name that the step gives it, and its key."""

    name: str
    key: str


@record
class Piece:
    """The part of a step that one task runs."""

    task: Task
    graph: bytes
    feeds: tuple[Port, ...]
    fetches: tuple[Port, ...]


class Planner(Protocol):
    """Reads graphs for a master. Pure: the same graphs and steps give the same pieces."""

    def extend(self, graph: Graph | None, definition: bytes) -> Graph:
        """``graph`` with the nodes of a serialized ``GraphDef``; ``None`` for the empty graph.

        Raises:
          OpError: if it cannot be part of one graph.
        """
        ...

    def plan(self, graph: Graph, signature: Signature, places: Places) -> tuple[Piece, ...]:
        """The pieces of a step.

        Raises:
          OpError: if the graph has no such tensors or nodes, or cannot be placed.
        """
        ...
