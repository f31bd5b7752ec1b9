"""A piece of a graph, compiled: its nodes numbered, each with its kernel and what waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from tfsvc.graph.attributes import Attributes
from tfsvc.graph.definition import Node, in_order, read_node
from tfsvc.graph.kernels import KERNELS, STATE_KERNELS, unsupported
from tfsvc.graph.traits import READS, gives_reference, takes_reference, writes
from tfsvc.graph.values import Run
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import parse


class Kind(IntEnum):
    """When a node runs, among those that could: what changes the state comes last."""

    PURE = 0
    READ = 1
    WRITE = 2


class Role(IntEnum):
    """How a node is run."""

    COMPUTE = 0
    STATE = 1
    SEND = 2
    RECV = 3
    MERGE = 4


@dataclass(slots=True)
class Instruction:
    """One node.

    Attributes:
      inputs: the numbers of the nodes and outputs that it takes.
      controls: the numbers of the nodes that only have to run before.
      dereferenced: which inputs are references whose value is meant.
      waits: how many edges lead to it.
      after: the nodes that wait for it, once an edge.
      key: of what it sends or receives.
    """

    name: str
    op: str
    role: Role
    kind: Kind
    run: Run
    inputs: tuple[tuple[int, int], ...]
    controls: tuple[int, ...]
    dereferenced: tuple[int, ...]
    key: str = ""
    after: list[int] = field(default_factory=list)

    @property
    def waits(self) -> int:
        return len(self.inputs) + len(self.controls)


_ROLES: Final = {"_Send": Role.SEND, "_Recv": Role.RECV, "Merge": Role.MERGE, "RefMerge": Role.MERGE}


def compile_graph(graph: bytes, container: str) -> Sequence[Instruction]:
    """The instructions of a piece, in an order in which they could run.

    Raises:
      OpError: if the bytes are no graph, or its nodes take from each other in a circle.
    """
    nodes = in_order({proto.name: read_node(proto) for proto in parse(pb.GraphDef, graph).node})
    return compile_nodes(nodes, container)


def compile_nodes(nodes: Sequence[Node], container: str) -> Sequence[Instruction]:
    """The same for nodes that stand in order."""
    numbers = {node.name: number for number, node in enumerate(nodes)}
    program = [_compile(node, nodes, numbers, container) for node in nodes]
    for number, instruction in enumerate(program):
        for giver, _ in instruction.inputs:
            program[giver].after.append(number)
        for giver in instruction.controls:
            program[giver].after.append(number)
    return program


def _compile(node: Node, nodes: Sequence[Node], numbers: dict[str, int], container: str) -> Instruction:
    inputs = tuple((numbers[name], index) for name, index in node.inputs)
    dereferenced = tuple(
        index
        for index, (giver, _) in enumerate(inputs)
        if gives_reference(nodes[giver].op) and not takes_reference(node.op, index)
    )
    attributes = Attributes(node, container)
    role = _ROLES.get(node.op, Role.STATE if node.op in STATE_KERNELS else Role.COMPUTE)
    key = attributes.text("tensor_name") if role in (Role.SEND, Role.RECV) else ""
    make = STATE_KERNELS.get(node.op) or KERNELS.get(node.op) or unsupported
    run = None if key else make(attributes)
    kind = Kind.WRITE if writes(node) else Kind.READ if node.op in READS or dereferenced else Kind.PURE
    controls = tuple(numbers[name] for name in node.controls)
    return Instruction(node.name, node.op, role, kind, run, inputs, controls, dereferenced, key)
