"""Lowering: function calls taken apart into the operators of their bodies."""

from __future__ import annotations

from tfsvc.graph.definition import Graph


def lowered(graph: Graph) -> Graph:
    return graph
