"""The pieces of a step in the making: nodes by task, and a pair of ``_Send`` and ``_Recv`` for each edge between two
tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tfsvc.graph.definition import Node, TensorName, write_node
from tfsvc.graph.lowering import LOOPS
from tfsvc.graph.traits import writes
from tfsvc.protocol.cluster.names import Key, Task
from tfsvc.protocol.cluster.planning import Piece, Places, Port
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import serialize

SEND: Final = "_Send"
RECV: Final = "_Recv"


@dataclass(slots=True)
class Part:
    """What one task will run.

    Attributes:
      nodes: by name.
      received: names of ``_Recv`` nodes by the name of what they bring.
      given: names of ``_Send`` nodes by the task that they give to and the name of what they bring there.
      awaited: the nodes that every write waits for.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    received: dict[str, str] = field(default_factory=dict)
    given: dict[tuple[Task, str], str] = field(default_factory=dict)
    awaited: list[str] = field(default_factory=list)
    feeds: list[Port] = field(default_factory=list)
    fetches: list[Port] = field(default_factory=list)

    @property
    def writes(self) -> bool:
        return any(map(writes, self.nodes.values()))

    def add(self, node: Node) -> None:
        self.nodes[node.name] = node

    def delay(self, name: str, until: str) -> None:
        """Lets a node wait for another one, too."""
        node = self.nodes[name]
        self.nodes[name] = replace(node, controls=(*node.controls, until))


class Parts:
    """All parts of a step.

    Args:
      late: the nodes that wait for a write, for a branch or for another step; what carries their results is added.
    """

    def __init__(self, places: Places, late: dict[str, None]) -> None:
        self.late = late
        self.by_task: dict[Task, Part] = {}
        self._places = places

    def of(self, task: Task) -> Part:
        return self.by_task.setdefault(task, Part())

    def feed(self, task: Task, name: str) -> str:
        """The node that brings a fed tensor to a task."""
        part = self.of(task)
        known = part.received.get(name)
        if known is None:
            key = self._key(task, task, f"_feed/{name}")
            known = part.received[name] = f"_feed/{name.replace(':', '/')}"
            part.add(_node(known, RECV, task, key))
            part.feeds.append(Port(name, key))
        return known

    def fetch(self, task: Task, name: str, tensor: TensorName) -> None:
        """Lets a tensor leave its part under the name it was asked for."""
        key = self._key(task, task, name)
        self.of(task).add(_node(f"_fetch/{name.replace(':', '/')}", SEND, task, key, (tensor,)))
        self.of(task).fetches.append(Port(name, key))

    def carry_tensor(self, source: Task, task: Task, tensor: TensorName) -> str:
        """Brings a tensor from one task to another; the node that has it there."""
        return self._carry(source, task, f"{tensor[0]}:{tensor[1]}", tensor[0], (tensor,), ())

    def carry_control(self, source: Task, task: Task, name: str) -> str:
        """Brings the fact that a node has run."""
        return self._carry(source, task, f"^{name}", name, (), (name,))

    def pieces(self, functions: Mapping[str, pb.FunctionDef]) -> tuple[Piece, ...]:
        return tuple(_piece(task, part, functions) for task, part in sorted(self.by_task.items()))

    def _carry(
        self, source: Task, task: Task, name: str, giver: str, inputs: Sequence[TensorName], controls: Sequence[str]
    ) -> str:
        part = self.of(task)
        known = part.received.get(name)
        if known is None:
            key = self._key(source, task, f"edge_{name}")
            plain = name.replace(":", "/").replace("^", "_after/")
            known = part.received[name] = f"_recv/{plain}"
            send = self.of(source).given[task, name] = f"_send/{task.job}_{task.index}/{plain}"
            part.add(_node(known, RECV, task, key))
            self.of(source).add(_node(send, SEND, source, key, inputs, controls))
            if giver in self.late:
                self.late |= {known: None, send: None}
            else:
                part.awaited.append(known)
        return known

    def _key(self, source: Task, task: Task, tensor: str) -> str:
        return str(Key(source.device, self._places.incarnations[source], task.device, tensor))


def _node(
    name: str, op: str, task: Task, key: str, inputs: Sequence[TensorName] = (), controls: Sequence[str] = ()
) -> Node:
    proto = pb.NodeDef()
    proto.attr["tensor_name"].s = key.encode()
    return Node(name, op, tuple(inputs), tuple(controls), task.device, proto)


def _piece(task: Task, part: Part, functions: Mapping[str, pb.FunctionDef]) -> Piece:
    message = pb.GraphDef()
    for node in part.nodes.values():
        if writes(node):
            node = replace(node, controls=tuple(dict.fromkeys((*node.controls, *part.awaited))))
        message.node.append(write_node(node))
    if any(node.op in LOOPS for node in part.nodes.values()):
        message.library.function.extend(functions.values())
    return Piece(task, serialize(message), tuple(part.feeds), tuple(part.fetches))
