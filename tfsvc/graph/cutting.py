"""Cutting: a step's part of a graph, in one piece a task, with a pair of ``_Send`` and ``_Recv`` for each edge
between them.

The writes of a piece wait for every value that comes from elsewhere, unless that value itself waits for a
write, for a branch or for another step. So a piece's writes happen one after the other with nothing to wait
for between them, and no other session sees a part of them. ``agreement`` lets them wait for the other pieces, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.graph.agreement import agree
from tfsvc.graph.definition import Graph, Node, TensorName, read_tensor_name
from tfsvc.graph.parts import Parts
from tfsvc.graph.traits import CONDITIONAL, writes
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.planning import Piece, Places, Signature
from tfsvc.wire import tfsvc_pb2 as pb

NO_RESULTS: Final = frozenset({"NoOp", "Assert", "_Send"})


def cut(graph: Graph, signature: Signature, placed: Mapping[str, Task], places: Places) -> tuple[Piece, ...]:
    """The pieces of a step.

    Args:
      graph: all nodes, each behind those it takes from.
      placed: the task of each node.

    Raises:
      NotFoundError: if something is fed, fetched or run that is not in the graph.
      InvalidArgumentError: if there is nothing to do, or a tensor is fed and fetched at once.
    """
    feeds = {read_tensor_name(name) for name in signature.feeds}
    fetches = [read_tensor_name(name) for name in signature.fetches]
    _check(graph, signature, feeds, fetches)
    targets = [name.partition(":")[0].lstrip("^") for name in signature.targets]
    needed = _needed(graph, [*(name for name, _ in fetches), *targets], feeds)
    cutter = _Cutter(places, {name: placed[name] for name in needed}, needed, feeds)
    for node in needed.values():
        cutter.add(node)
    for name, tensor in zip(signature.fetches, fetches, strict=True):
        cutter.fetch(name, tensor)
    return cutter.pieces(graph.functions)


def _check(graph: Graph, signature: Signature, feeds: Iterable[TensorName], fetches: list[TensorName]) -> None:
    if not (signature.fetches or signature.targets):
        raise InvalidArgumentError(message="Must specify at least one target to fetch or execute.")
    for what, names in (("feed", signature.feeds), ("fetch", signature.fetches), ("target", signature.targets)):
        for name in names:
            node = graph.nodes.get(name.partition(":")[0].lstrip("^"))
            if node is None:
                raise NotFoundError(message=f"{what} {name}: not found in the graph of this session")
            if what == "fetch" and node.op in NO_RESULTS:
                raise InvalidArgumentError(message=f"Tensor {name}: the node {node.name} ({node.op}) has no results")
    both = [name for name in signature.fetches if name in signature.feeds]
    if both:
        raise InvalidArgumentError(message=f"Tensor {both[0]} is both fed and fetched.")


def _needed(graph: Graph, roots: list[str], feeds: Iterable[TensorName]) -> dict[str, Node]:
    """The nodes that roots depend on, in the graph's order; what is fed needs no node."""
    fed = dict.fromkeys(feeds)
    seen: dict[str, None] = {}
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen[name] = None
        node = graph.nodes[name]
        pending.extend(giver for giver, index in node.inputs if (giver, index) not in fed)
        pending.extend(node.controls)
    return {name: node for name, node in graph.nodes.items() if name in seen}


class _Cutter:
    def __init__(
        self, places: Places, tasks: Mapping[str, Task], needed: Mapping[str, Node], feeds: Iterable[TensorName]
    ) -> None:
        self._master = places.master
        self._tasks = tasks
        self._fed = dict.fromkeys(feeds)
        self._parts = Parts(places, _late(needed.values()))

    def add(self, node: Node) -> None:
        """Adds a node to its piece, and what brings its inputs there."""
        task = self._tasks[node.name]
        inputs = tuple(self._input(task, tensor) for tensor in node.inputs)
        controls = tuple(self._control(task, name) for name in node.controls)
        self._parts.of(task).add(replace(node, inputs=inputs, controls=controls, device=task.device))

    def fetch(self, name: str, tensor: TensorName) -> None:
        """Lets a tensor leave its piece under the name it was asked for."""
        self._parts.fetch(self._tasks[tensor[0]], name, tensor)

    def pieces(self, functions: Mapping[str, pb.FunctionDef]) -> tuple[Piece, ...]:
        agree(self._parts, self._master)
        return self._parts.pieces(functions)

    def _input(self, task: Task, tensor: TensorName) -> TensorName:
        if tensor in self._fed:
            return self._parts.feed(task, f"{tensor[0]}:{tensor[1]}"), 0
        source = self._tasks[tensor[0]]
        return tensor if source == task else (self._parts.carry_tensor(source, task, tensor), 0)

    def _control(self, task: Task, name: str) -> str:
        source = self._tasks[name]
        return name if source == task else self._parts.carry_control(source, task, name)


def _late(nodes: Iterable[Node]) -> dict[str, None]:
    """The nodes that wait for a write, for a branch or for another step, in whichever piece it is."""
    late: dict[str, None] = {}
    for node in nodes:
        if writes(node) or node.op in CONDITIONAL or any(name in late for name in node.before):
            late[node.name] = None
    return late
