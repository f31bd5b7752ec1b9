"""Loops: a ``While`` is run whole by the task that it is placed on, round after round of its two functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.errors import UnimplementedError, to_exception
from tfsvc.graph.definition import Graph, Node, TensorName, in_order
from tfsvc.graph.execution import Execution
from tfsvc.graph.functions import body_of
from tfsvc.graph.lowering import lowered
from tfsvc.graph.program import Instruction, Surroundings, compile_nodes
from tfsvc.graph.resources import Resources
from tfsvc.protocol.computing import Failure, Finished
from tfsvc.wire import tfsvc_pb2 as pb


@dataclass(frozen=True, slots=True)
class Function:
    """A function, compiled: its instructions, and which of their results it gives."""

    name: str
    program: Sequence[Instruction]
    returns: tuple[TensorName, ...]

    def __call__(self, state: Resources, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """What it gives for ``arguments``.

        Raises:
          OpError: if one of its operators fails.
        """
        execution = Execution(self.program, state, arguments)
        status = execution.run((), nested=True).status
        match status:
            case Finished():
                return tuple(execution.result(name, index) for name, index in self.returns)
            case Failure(error):
                raise to_exception(error)
            case _:
                raise UnimplementedError(message=f"The function '{self.name}' of a loop waits for a queue")


def compile_loop(node: Node, surroundings: Surroundings) -> Any:
    """The kernel of a ``While``."""
    condition, body = (_compile(node.proto.attr[name].func.name, surroundings) for name in ("cond", "body"))

    def run(state: Resources, *values: Any) -> tuple[Any, ...]:
        while np.all(condition(state, values)[0]):
            values = body(state, values)
        return values

    return run


def _compile(name: str, surroundings: Surroundings) -> Function:
    body = body_of(surroundings.functions, name, "")
    arguments = {argument: Node(argument, "_Arg", (), (), "", pb.NodeDef()) for argument in body.arguments}
    nodes = {**arguments, **{node.name: node for node in body.nodes}}
    whole = lowered(Graph({node.name: node for node in in_order(nodes)}, surroundings.functions))
    program = compile_nodes(tuple(whole.nodes.values()), surroundings, body.arguments)
    return Function(name, program, body.returns)
