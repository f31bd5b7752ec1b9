"""Cutting: a step's part of a graph, in one piece a task, with a pair of ``_Send`` and ``_Recv`` for each edge
between them.

The writes of a piece wait for every value that comes from elsewhere, unless that value itself waits for a
write, for a branch or for another step. So a piece's writes happen one after the other with nothing to wait
for between them, and no other session sees a part of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.graph.definition import Graph, Node, TensorName, read_tensor_name, write_node
from tfsvc.graph.lowering import LOOPS
from tfsvc.graph.traits import CONDITIONAL, writes
from tfsvc.protocol.cluster.names import Key, Task
from tfsvc.protocol.cluster.planning import Piece, Places, Port, Signature
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import serialize

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
    cutter = _Cutter(places, {name: placed[name] for name in needed}, needed, feeds, graph.functions)
    for node in needed.values():
        cutter.add(node)
    for name, tensor in zip(signature.fetches, fetches, strict=True):
        cutter.fetch(name, tensor)
    return cutter.pieces()


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


@dataclass(slots=True)
class _Part:
    """A piece in the making."""

    nodes: list[Node] = field(default_factory=list)
    received: dict[str, str] = field(default_factory=dict)
    """Names of ``_Recv`` nodes by the name of what they bring."""
    early: list[str] = field(default_factory=list)
    """Those whose values wait for nothing but reads."""
    feeds: list[Port] = field(default_factory=list)
    fetches: list[Port] = field(default_factory=list)


class _Cutter:
    def __init__(
        self,
        places: Places,
        tasks: Mapping[str, Task],
        needed: Mapping[str, Node],
        feeds: Iterable[TensorName],
        functions: Mapping[str, pb.FunctionDef],
    ) -> None:
        self._functions = functions
        self._places = places
        self._tasks = tasks
        self._fed = dict.fromkeys(feeds)
        self._late = _late(needed.values())
        self._parts: dict[Task, _Part] = {}

    def add(self, node: Node) -> None:
        """Adds a node to its piece, and what brings its inputs there."""
        task = self._tasks[node.name]
        inputs = tuple(self._input(task, tensor) for tensor in node.inputs)
        controls = tuple(self._control(task, name) for name in node.controls)
        self._part(task).nodes.append(replace(node, inputs=inputs, controls=controls, device=task.device))

    def fetch(self, name: str, tensor: TensorName) -> None:
        """Lets a tensor leave its piece under the name it was asked for."""
        task = self._tasks[tensor[0]]
        key = self._key(task, task, name)
        self._send(task, f"_fetch/{name.replace(':', '/')}", (tensor,), (), key)
        self._part(task).fetches.append(Port(name, key))

    def pieces(self) -> tuple[Piece, ...]:
        return tuple(self._piece(task, part) for task, part in sorted(self._parts.items()))

    def _piece(self, task: Task, part: _Part) -> Piece:
        message = pb.GraphDef()
        for node in part.nodes:
            if part.early and writes(node):
                node = replace(node, controls=tuple(dict.fromkeys((*node.controls, *part.early))))
            message.node.append(write_node(node))
        if any(node.op in LOOPS for node in part.nodes):
            message.library.function.extend(self._functions.values())
        return Piece(task, serialize(message), tuple(part.feeds), tuple(part.fetches))

    def _part(self, task: Task) -> _Part:
        return self._parts.setdefault(task, _Part())

    def _input(self, task: Task, tensor: TensorName) -> TensorName:
        name = f"{tensor[0]}:{tensor[1]}"
        if tensor in self._fed:
            return self._feed(task, name), 0
        source = self._tasks[tensor[0]]
        if source == task:
            return tensor
        return self._carry(source, task, name, tensor[0], (tensor,), ()), 0

    def _control(self, task: Task, name: str) -> str:
        source = self._tasks[name]
        return name if source == task else self._carry(source, task, f"^{name}", name, (), (name,))

    def _feed(self, task: Task, name: str) -> str:
        part = self._part(task)
        known = part.received.get(name)
        if known is None:
            key = self._key(task, task, f"_feed/{name}")
            known = part.received[name] = f"_feed/{name.replace(':', '/')}"
            part.nodes.append(_recv(known, key, task))
            part.feeds.append(Port(name, key))
        return known

    def _carry(
        self, source: Task, task: Task, name: str, giver: str, inputs: tuple[TensorName, ...], controls: tuple[str, ...]
    ) -> str:
        """Brings a tensor, or the fact that a node has run, from one task to another."""
        part = self._part(task)
        known = part.received.get(name)
        if known is None:
            key = self._key(source, task, f"edge_{name}")
            plain = name.replace(":", "/").replace("^", "_after/")
            known = part.received[name] = f"_recv/{plain}"
            part.nodes.append(_recv(known, key, task))
            if giver not in self._late:
                part.early.append(known)
            self._send(source, f"_send/{task.job}_{task.index}/{plain}", inputs, controls, key)
        return known

    def _send(self, task: Task, name: str, inputs: tuple[TensorName, ...], controls: tuple[str, ...], key: str) -> None:
        proto = pb.NodeDef()
        proto.attr["tensor_name"].s = key.encode()
        self._part(task).nodes.append(Node(name, "_Send", inputs, controls, task.device, proto))

    def _key(self, source: Task, task: Task, tensor: str) -> str:
        return str(Key(source.device, self._places.incarnations[source], task.device, tensor))


def _recv(name: str, key: str, task: Task) -> Node:
    proto = pb.NodeDef()
    proto.attr["tensor_name"].s = key.encode()
    return Node(name, "_Recv", (), (), task.device, proto)


def _late(nodes: Iterable[Node]) -> dict[str, None]:
    """The nodes that wait for a write, for a branch or for another step, in whichever piece it is."""
    late: dict[str, None] = {}
    for node in nodes:
        if writes(node) or node.op in CONDITIONAL or any(name in late for name in node.before):
            late[node.name] = None
    return late
