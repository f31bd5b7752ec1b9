"""The split providers of a dataset that a TensorFlow client registered, told from its graph alone.

TensorFlow's rule: a source has one provider, a dataset of several inputs has those of its inputs one
after the other, and any other dataset of exactly one input has that input's. In a registered graph
every dataset is a node whose op ends in ``Dataset`` or ``DatasetV<n>``, its input dataset is the node's
first input, and what it was built from are ``Const`` nodes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfsvc.errors import UnimplementedError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import decodes, parse
from tfsvc.wire.tensors import from_proto

VISITS_MAX = 1 << 16
"""How many datasets are looked at: a small graph can hold a loop, or zips of zips without end."""

_DATASET = re.compile(r"Dataset(V\d+)?$")


@decodes("the graph of a dataset")
def split_plans(graph: bytes) -> tuple[SplitPlan, ...]:
    """The splits of each provider of the dataset in a serialized ``GraphDef``, in TensorFlow's order.

    Raises:
      WireError: if the bytes are not the graph of a dataset.
      UnimplementedError: if the dataset cannot be split, or its sizes are not constants of the graph.
    """
    parsed = parse(pb.GraphDef, graph)
    walk = _Graph({node.name: node for node in parsed.node})
    sinks = [node for node in parsed.node if node.op == "_Retval"]
    if len(sinks) != 1:
        raise ValueError(f"it returns {len(sinks)} values, not one dataset")
    plans: list[SplitPlan] = []
    pending = [walk.input(sinks[0], 0)]
    for _ in range(VISITS_MAX):
        node = pending.pop()
        plan = walk.source(node)
        if plan is None:
            pending.extend(reversed(walk.input_datasets(node)))
        else:
            plans.append(plan)
        if not pending:
            return tuple(plans)
    raise ValueError(f"more than {VISITS_MAX} datasets lie between its sink and its sources")


class _Graph:
    """The nodes of a graph by name."""

    def __init__(self, nodes: dict[str, pb.NodeDef]) -> None:
        self._nodes = nodes

    def source(self, node: pb.NodeDef) -> SplitPlan | None:
        """The splits of a source, ``None`` for any other dataset."""
        match node.op:
            case "RangeDataset":
                start, stop, step = (self._number(node, index) for index in range(3))
                return SplitPlan(len(range(start, stop, step)), start, step)
            case "TensorSliceDataset":
                return SplitPlan(self._first_dimension(node))
            case "TensorDataset":
                return SplitPlan(1)
            case "ListDataset":
                components = max(1, len(node.attr["output_types"].list.type))
                return SplitPlan(len(node.attr["Tinput_types"].list.type) // components)
            case "RandomDataset" | "RandomDatasetV2":
                return SplitPlan(None)
            case _:
                return None

    def input_datasets(self, node: pb.NodeDef) -> Sequence[pb.NodeDef]:
        """The inputs of a dataset that is no source.

        Raises:
          UnimplementedError: if TensorFlow does not split datasets of this type.
        """
        match node.op:
            case "SnapshotDataset" | "SnapshotDatasetV2":
                raise UnimplementedError(None, None, "Splitting is not implemented for snapshot datasets.")
            case "ConcatenateDataset":
                return [self.input(node, 0), self.input(node, 1)]
            case "ZipDataset" | "DirectedInterleaveDataset":
                return [self.input(node, index) for index in range(len(_data_inputs(node)))]
            case "ChooseFastestDataset":
                arity = node.attr["N"].i
            case _:
                arity = self._arity(node)
        if arity == 1:
            return [self.input(node, 0)]
        raise UnimplementedError(
            None,
            None,
            f"Cannot create split providers for dataset of type {node.op}, because the dataset is not unary (instead "
            f"having arity {arity}), and no custom implementation of `MakeSplitProvider` is defined.",
        )

    def input(self, node: pb.NodeDef, index: int) -> pb.NodeDef:
        """The node behind an input, identities skipped."""
        for _ in range(VISITS_MAX):
            name = _data_inputs(node)[index].partition(":")[0]
            node, index = self._nodes[name], 0
            if node.op != "Identity":
                return node
        raise ValueError(f"the identity {node.name!r} leads to itself")

    def _arity(self, node: pb.NodeDef) -> int:
        """Whether a node has an input dataset; datasets that its functions captured come later and do not count."""
        if not _DATASET.search(node.op) or not _data_inputs(node):
            return 0
        return 1 if _DATASET.search(self.input(node, 0).op) else 0

    def _const(self, node: pb.NodeDef, index: int) -> pb.TensorProto:
        const = self.input(node, index)
        if const.op != "Const":
            raise UnimplementedError(
                None,
                None,
                f"Cannot create split providers for {node.name} ({node.op}): its input {index} is the result of "
                f"{const.op} and not a constant of the graph",
            )
        return const.attr["value"].tensor

    def _number(self, node: pb.NodeDef, index: int) -> int:
        return int(from_proto(self._const(node, index)).item())

    def _first_dimension(self, node: pb.NodeDef) -> int:
        shape = self._const(node, 0).tensor_shape
        if not shape.dim or shape.dim[0].size < 0:
            raise ValueError(f"{node.name} ({node.op}) slices a tensor of unknown or no first dimension")
        return int(shape.dim[0].size)


def _data_inputs(node: pb.NodeDef) -> list[str]:
    """The inputs that carry a value; those that only order execution start with ``^``."""
    return [name for name in node.input if not name.startswith("^")]
