"""A piece of a graph, compiled: its nodes numbered, each with its kernel and what waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from tfsvc.errors import OpError
from tfsvc.graph.attributes import Attributes, Entropy
from tfsvc.graph.definition import Node, in_order, read_node, signature_of
from tfsvc.graph.kernels import KERNELS, STATE_KERNELS, unsupported
from tfsvc.graph.lowering import LOOPS
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
    ARGUMENT = 5


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
      argument: which argument of a function it is.
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
    argument: int = 0
    after: list[int] = field(default_factory=list)

    @property
    def waits(self) -> int:
        return len(self.inputs) + len(self.controls)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all nodes of a piece share.

    Attributes:
      container: where state goes that names no container.
      functions: of the piece's library.
      entropy: makes seeds for operators that have none.
    """

    container: str
    functions: Mapping[str, pb.FunctionDef]
    entropy: Entropy


_ROLES: Final = {
    "_Arg": Role.ARGUMENT,
    "_Recv": Role.RECV,
    "_Send": Role.SEND,
    "Merge": Role.MERGE,
    "RefMerge": Role.MERGE,
    **dict.fromkeys(LOOPS, Role.STATE),
}


def _failing(error: OpError) -> Run:
    """Stands for a node that cannot be made: it may lie on a branch that is not taken."""

    def run(*_: object) -> object:
        raise error

    return run


def compile_graph(graph: bytes, container: str, entropy: Entropy) -> Sequence[Instruction]:
    """The instructions of a piece, in an order in which they could run.

    Raises:
      OpError: if the bytes are no graph, or its nodes take from each other in a circle.
    """
    message = parse(pb.GraphDef, graph)
    nodes = in_order({proto.name: read_node(proto) for proto in message.node})
    functions = {signature_of(function).name: function for function in message.library.function}
    return compile_nodes(nodes, Surroundings(container, functions, entropy))


def compile_nodes(
    nodes: Sequence[Node], surroundings: Surroundings, arguments: Sequence[str] = ()
) -> Sequence[Instruction]:
    """The same for nodes that stand in order; ``arguments`` are the names of those that a caller gives."""
    compiler = _Compiler(nodes, surroundings, arguments)
    program = [compiler.compile(node) for node in nodes]
    for number, instruction in enumerate(program):
        for giver, _ in instruction.inputs:
            program[giver].after.append(number)
        for giver in instruction.controls:
            program[giver].after.append(number)
    return program


class _Compiler:
    def __init__(self, nodes: Sequence[Node], surroundings: Surroundings, arguments: Sequence[str]) -> None:
        self._nodes = nodes
        self._numbers = {node.name: number for number, node in enumerate(nodes)}
        self._surroundings = surroundings
        self._arguments = {name: number for number, name in enumerate(arguments)}

    def compile(self, node: Node) -> Instruction:
        inputs = tuple((self._numbers[name], index) for name, index in node.inputs)
        dereferenced = tuple(
            index
            for index, (giver, _) in enumerate(inputs)
            if gives_reference(self._nodes[giver].op) and not takes_reference(node.op, index)
        )
        attributes = Attributes(node, self._surroundings.container, self._surroundings.entropy)
        role = _ROLES.get(node.op, Role.STATE if node.op in STATE_KERNELS else Role.COMPUTE)
        return Instruction(
            node.name,
            node.op,
            role,
            Kind.WRITE if writes(node) else Kind.READ if node.op in READS or dereferenced else Kind.PURE,
            self._run(node, role, attributes),
            inputs,
            tuple(self._numbers[name] for name in node.controls),
            dereferenced,
            attributes.text("tensor_name") if role in (Role.SEND, Role.RECV) else "",
            self._arguments.get(node.name, 0),
        )

    def _run(self, node: Node, role: Role, attributes: Attributes) -> Run:
        if role in (Role.SEND, Role.RECV, Role.ARGUMENT):
            return None
        if node.op in LOOPS:
            from tfsvc.graph.loops import compile_loop  # a loop's functions are programs themselves

            return compile_loop(node, self._surroundings)
        make = STATE_KERNELS.get(node.op) or KERNELS.get(node.op) or unsupported
        try:
            return make(attributes)
        except OpError as error:
            return _failing(error)
