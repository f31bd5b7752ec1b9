"""Functions of a graph's library as nodes: their bodies name tensors by the operator's result, graphs by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tfsvc.errors import NotFoundError
from tfsvc.graph.definition import Node, TensorName, signature_of
from tfsvc.wire import tfsvc_pb2 as pb

_RESULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "BroadcastGradientArgs": ("r0", "r1"),
    "ListDiff": ("out", "idx"),
    "Merge": ("output", "value_index"),
    "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "Switch": ("output_false", "output_true"),
    "TopKV2": ("values", "indices"),
    "Unique": ("y", "idx"),
}
"""The names of results, of the operators that have several names for them."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a function does, with its arguments and nodes under a prefix.

    Attributes:
      arguments: names of the nodes that stand for them.
      nodes: of the body, arguments left out.
      returns: the tensors it gives.
      effects: the nodes that must have run when it returns.
    """

    arguments: tuple[str, ...]
    nodes: tuple[Node, ...]
    returns: tuple[TensorName, ...]
    effects: tuple[str, ...]


def body_of(functions: Mapping[str, pb.FunctionDef], name: str, prefix: str) -> Body:
    """The body of a function of the library.

    Raises:
      NotFoundError: if there is none of that name.
    """
    function = functions.get(name)
    if function is None:
        raise NotFoundError(message=f"Function '{name}' is not defined in the graph's library")
    signature = signature_of(function)
    arguments = tuple(arg.name for arg in signature.input_arg)
    ops = {node.name: node.op for node in function.node_def}
    nodes = tuple(_node(node, ops, prefix) for node in function.node_def)
    returns = tuple(_tensor(function.ret[arg.name], ops, prefix) for arg in signature.output_arg)
    effects = tuple(f"{prefix}{function.control_ret[each]}" for each in signature.control_output)
    return Body(tuple(f"{prefix}{arg}" for arg in arguments), nodes, returns, effects)


def _node(proto: pb.NodeDef, ops: Mapping[str, str], prefix: str) -> Node:
    inputs = tuple(_tensor(name, ops, prefix) for name in proto.input if not name.startswith("^"))
    controls = tuple(f"{prefix}{name[1:]}" for name in proto.input if name.startswith("^"))
    return Node(f"{prefix}{proto.name}", proto.op, inputs, controls, proto.device, proto)


def _tensor(name: str, ops: Mapping[str, str], prefix: str) -> TensorName:
    """The tensor of ``argument`` or ``node:result:number``."""
    parts: Sequence[str] = name.split(":")
    if len(parts) == 1:
        return f"{prefix}{name}", 0
    node, result, number = parts
    several = _RESULTS.get(ops[node])
    return f"{prefix}{node}", several.index(result) if several else int(number)
