"""The planner: a master's way to graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfsvc.graph.cutting import cut
from tfsvc.graph.definition import EMPTY, Graph
from tfsvc.graph.lowering import lowered
from tfsvc.graph.placement import place
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.planning import Piece, Places, Signature


@dataclass(frozen=True, slots=True)
class _Known:
    """A session's graph: as it was sent, and with its function calls taken apart."""

    sent: Graph
    lowered: Graph
    placed: dict[str, Task] = field(default_factory=dict)


class GraphPlanner:
    """A ``Planner`` for graphs of TensorFlow's operators."""

    def extend(self, graph: Any, definition: bytes) -> _Known:
        before: Graph = EMPTY if graph is None else graph.sent
        sent = before.extended(definition)
        return _Known(sent, lowered(sent))

    def plan(self, graph: Any, signature: Signature, places: Places) -> tuple[Piece, ...]:
        known: _Known = graph
        if not known.placed:
            known.placed.update(place(known.lowered, places))
        return cut(known.lowered, signature, known.placed, places)
