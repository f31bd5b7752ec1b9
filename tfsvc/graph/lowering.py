"""Lowering: calls and conditions taken apart into the operators of their functions, each of which then has a
place of its own.

A condition becomes what TensorFlow makes of it: a ``Switch`` in front of each branch's inputs, and a
``Merge`` behind its results. Loops stay whole; the task they are placed on runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.definition import Graph, Node, TensorName, in_order
from tfsvc.graph.functions import Body, body_of
from tfsvc.wire import tfsvc_pb2 as pb

CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
CONDITIONS: Final = frozenset({"If", "StatelessIf"})
LOOPS: Final = frozenset({"While", "StatelessWhile"})
DEPTH_MAX: Final = 100
"""How deeply functions may call each other."""


def lowered(graph: Graph) -> Graph:
    """The graph without calls and conditions; every tensor and node of it keeps its name.

    Raises:
      InvalidArgumentError: if functions call each other without end.
      NotFoundError: if a function is not in the library.
    """
    if not any(node.op in CALLS or node.op in CONDITIONS for node in graph.nodes.values()):
        return graph
    lowering = _Lowering(graph)
    for node in graph.nodes.values():
        lowering.add(node, 0)
    return Graph({node.name: node for node in in_order(lowering.nodes)}, graph.functions)


class _Lowering:
    def __init__(self, graph: Graph) -> None:
        self.nodes: dict[str, Node] = {}
        self._functions = graph.functions

    def add(self, node: Node, depth: int) -> None:
        if depth > DEPTH_MAX:
            raise InvalidArgumentError(message=f"The functions behind '{node.name}' call each other without end")
        if node.op in CALLS:
            self._call(node, depth)
        elif node.op in CONDITIONS:
            self._condition(node, depth)
        else:
            self.nodes[node.name] = node

    def _call(self, node: Node, depth: int) -> None:
        enter, device = f"{node.name}/_enter", node.device or node.fallback
        self._make(enter, "NoOp", (), node.controls, device)
        body = body_of(self._functions, node.proto.attr["f"].func.name, f"{node.name}/")
        returns, effects = self._inline(body, node.inputs, enter, device, depth)
        self._end(node, returns, effects)

    def _condition(self, node: Node, depth: int) -> None:
        predicate, *inputs = node.inputs
        device = node.device or node.fallback
        kinds = node.proto.attr["Tin"].list.type
        pivot = f"{node.name}/_pivot"
        self._make(pivot, "Switch", (predicate, predicate), node.controls, device, T=[pb.DT_BOOL])
        switches = []
        for index, (tensor, kind) in enumerate(zip(inputs, kinds, strict=True)):
            switches.append(f"{node.name}/_switch_{index}")
            self._make(switches[-1], "Switch", (tensor, predicate), (), device, T=[kind])
        ends: list[tuple[Sequence[TensorName], str]] = []
        for taken, branch in enumerate(("else", "then")):
            name = f"{node.name}/_{branch}"
            self._make(name, "Identity", ((pivot, taken),), (), device, T=[pb.DT_BOOL])
            function = node.proto.attr[f"{branch}_branch"].func.name
            body = body_of(self._functions, function, f"{node.name}/{branch}/")
            given = tuple((switch, taken) for switch in switches)
            returns, effects = self._inline(body, given, name, device, depth)
            done = f"{name}_done"
            self._make(done, "Identity", ((name, 0),), effects, device, T=[pb.DT_BOOL])
            ends.append((returns, done))
        merges = []
        for index, kind in enumerate(node.proto.attr["Tout"].list.type):
            merges.append((f"{node.name}/_merge_{index}", 0))
            both = tuple(returns[index] for returns, _ in ends)
            self._make(merges[-1][0], "Merge", both, (), device, T=[kind])
        done = f"{node.name}/_done"
        self._make(done, "Merge", tuple((name, 0) for _, name in ends), (), device, T=[pb.DT_BOOL])
        self._end(node, merges, (done,))

    def _inline(
        self, body: Body, inputs: Sequence[TensorName], enter: str, device: str, depth: int
    ) -> tuple[Sequence[TensorName], tuple[str, ...]]:
        """Adds a body's nodes, none of which runs before ``enter``; gives its results and effects."""
        given = dict(zip(body.arguments, inputs, strict=True))

        def real(tensor: TensorName) -> TensorName:
            return given.get(tensor[0], tensor)

        for each in body.nodes:
            controls = tuple(dict.fromkeys((*(real((name, 0))[0] for name in each.controls), enter)))
            inlined = replace(each, inputs=tuple(map(real, each.inputs)), controls=controls, fallback=device)
            self.add(inlined, depth + 1)
        return [real(tensor) for tensor in body.returns], body.effects

    def _end(self, node: Node, returns: Sequence[TensorName], effects: Sequence[str]) -> None:
        """Stands in the place of a node: the same results, and it has run when its function has."""
        self._make(
            node.name,
            "IdentityN",
            tuple(returns),
            tuple(effects),
            node.device or node.fallback,
            T=node.proto.attr["Tout"].list.type,
        )

    def _make(
        self,
        name: str,
        op: str,
        inputs: tuple[TensorName, ...],
        controls: tuple[str, ...],
        device: str,
        T: Sequence[int] = (),  # noqa: N803
    ) -> None:
        proto = pb.NodeDef()
        if op == "IdentityN":
            proto.attr["T"].list.type.extend(T)  # type: ignore[arg-type]
        elif T:
            proto.attr["T"].type = T[0]  # type: ignore[assignment]
        self.nodes[name] = Node(name, op, inputs, controls, "", proto, device)
