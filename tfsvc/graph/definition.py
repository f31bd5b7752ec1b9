"""A graph as a dictionary of nodes, read from ``GraphDef`` messages; extended, never changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tfsvc.errors import InvalidArgumentError
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.cluster_pb2 import OpDef
from tfsvc.wire.errors import parse

TensorName = tuple[str, int]
"""A node's name and the number of one of its outputs."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.\\/>-]*$")


@dataclass(frozen=True, slots=True)
class Node:
    """One operator of a graph.

    Attributes:
      inputs: the tensors it takes.
      controls: the nodes that must have run before.
      proto: its message, for its attributes.
      fallback: the device of the call that it is a part of, where nothing else says where it goes.
    """

    name: str
    op: str
    inputs: tuple[TensorName, ...]
    controls: tuple[str, ...]
    device: str
    proto: pb.NodeDef
    fallback: str = ""

    @property
    def before(self) -> Iterable[str]:
        """The names of all nodes that it waits for."""
        yield from (name for name, _ in self.inputs)
        yield from self.controls


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by name, each behind those it takes from; functions by name."""

    nodes: Mapping[str, Node]
    functions: Mapping[str, pb.FunctionDef]

    def extended(self, definition: bytes) -> Graph:
        """With the nodes of a serialized ``GraphDef``.

        Raises:
          InvalidArgumentError: if a node is there twice, has a name that is none, takes from a node that is not
            there, or from itself in a circle.
          WireError: if the bytes are no graph.
        """
        message = parse(pb.GraphDef, definition)
        functions = {**self.functions}
        for function in message.library.function:
            functions[signature_of(function).name] = function
        added: dict[str, Node] = {}
        for proto in message.node:
            node = read_node(proto)
            if node.name in self.nodes or node.name in added:
                raise InvalidArgumentError(message=f"Node '{node.name}' is defined twice")
            if not _NAME.match(node.name):
                raise InvalidArgumentError(message=f"'{node.name}' is not a name for a node")
            added[node.name] = node
        for node in added.values():
            for name in node.before:
                if name not in added and name not in self.nodes:
                    raise InvalidArgumentError(
                        message=f"Node '{node.name}': Unknown input node '{name}'; send it in the same graph or before"
                    )
        return Graph({**self.nodes, **{node.name: node for node in in_order(added)}}, functions)


EMPTY: Final = Graph({}, {})


def read_node(proto: pb.NodeDef) -> Node:
    """The node of a message."""
    inputs: list[TensorName] = []
    controls: list[str] = []
    for name in proto.input:
        if name.startswith("^"):
            controls.append(name[1:])
        else:
            inputs.append(read_tensor_name(name))
    return Node(proto.name, proto.op, tuple(inputs), tuple(controls), proto.device, proto)


def read_tensor_name(name: str) -> TensorName:
    """The node and output of ``n`` or ``n:1``."""
    node, _, index = name.partition(":")
    return node, int(index) if index else 0


def write_node(node: Node) -> pb.NodeDef:
    """A message for a node whose inputs, controls or device may differ from those of its own message."""
    proto = pb.NodeDef()
    proto.CopyFrom(node.proto)
    proto.name, proto.op, proto.device = node.name, node.op, node.device
    del proto.input[:]
    proto.input.extend(f"{name}:{index}" if index else name for name, index in node.inputs)
    proto.input.extend(f"^{name}" for name in node.controls)
    return proto


def signature_of(function: pb.FunctionDef) -> OpDef:
    """A function's name, arguments and results."""
    return parse(OpDef, function.signature)


def in_order(nodes: Mapping[str, Node]) -> list[Node]:
    """The nodes, each behind those among them that it takes from.

    Raises:
      InvalidArgumentError: if some take from each other in a circle.
    """
    waits = dict.fromkeys(nodes, 0)
    after: dict[str, list[str]] = {name: [] for name in nodes}
    for node in nodes.values():
        for name in node.before:
            if name in nodes:
                waits[node.name] += 1
                after[name].append(node.name)
    order = [name for name, count in waits.items() if not count]
    for name in order:
        for later in after[name]:
            waits[later] -= 1
            if not waits[later]:
                order.append(later)
    if len(order) < len(nodes):
        ring = [name for name, count in waits.items() if count][:5]
        raise InvalidArgumentError(
            message=f"The nodes {', '.join(ring)} take from each other in a circle. Loops are supported as `While`, "
            "which TensorFlow writes where control flow v2 is enabled."
        )
    return [nodes[name] for name in order]
