"""Carriers: datasets of ours in graphs that TensorFlow's dispatcher takes for one of its own.

The dataset of such a graph is a range over the numbers of our splits, or a zip of one range for each source, so that
TensorFlow's dispatcher hands out our splits without knowing. What our workers run lies beside it, in an attribute of
the last node; attributes whose names begin with an underscore are nobody's business in TensorFlow.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tfsvc.protocol.messages import DatasetDef
from tfsvc.protocol.splits import SplitPlan
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.tensors import to_proto

ATTRIBUTE: Final = "_tfsvc_dataset"
PRODUCER: Final = 1087
"""The version of graphs that the nodes here have; TensorFlow reads those of older versions."""
ENDLESS: Final = 1 << 62
"""How many splits stand for no end."""


def carry(dataset: DatasetDef, compressed: bool) -> DatasetDef:
    """The same dataset for a dispatcher of TensorFlow's, which keeps graphs alone.

    Args:
      compressed: whether TensorFlow's readers expect ``CompressedElement``.
    """
    graph = pb.GraphDef(versions=pb.VersionDef(producer=PRODUCER))
    plans = dataset.plans or (SplitPlan(1),)
    ranges = [_range(graph, number, plan) for number, plan in enumerate(plans)]
    last = ranges[0] if len(ranges) == 1 else _zip(graph, ranges)
    sink = graph.node.add(name="dataset", op="_Retval", input=[last.name])
    sink.attr["T"].type = pb.DT_VARIANT
    sink.attr["index"].i = 0
    carried = pb.DatasetDef(
        program=dataset.program, unsplittable=dataset.unsplittable, origins=dataset.origins, compressed=compressed
    )
    for plan in dataset.plans:
        carried.plans.add(count=plan.count, start=plan.start, step=plan.step)
    last.attr[ATTRIBUTE].s = serialize(carried)
    return DatasetDef(graph=serialize(graph))


@decodes("the graph of a dataset")
def carried(graph: bytes) -> pb.DatasetDef | None:
    """The dataset of ours that a graph carries; ``None`` for a dataset of TensorFlow's own."""
    if ATTRIBUTE.encode() not in graph:
        return None
    for node in parse(pb.GraphDef, graph).node:
        if ATTRIBUTE in node.attr:
            return parse(pb.DatasetDef, node.attr[ATTRIBUTE].s)
    return None


def _range(graph: pb.GraphDef, number: int, plan: SplitPlan) -> pb.NodeDef:
    stop = plan.value(ENDLESS // abs(plan.step) if plan.count is None else plan.count)
    names = [
        _const(graph, f"{number}/{name}", v) for name, v in (("start", plan.start), ("stop", stop), ("step", plan.step))
    ]
    return _dataset(graph, f"splits/{number}", "RangeDataset", names, 1)


def _zip(graph: pb.GraphDef, ranges: list[pb.NodeDef]) -> pb.NodeDef:
    node = _dataset(graph, "splits", "ZipDataset", [source.name for source in ranges], len(ranges))
    node.attr["N"].i = len(ranges)
    return node


def _const(graph: pb.GraphDef, name: str, value: int) -> str:
    node = graph.node.add(name=name, op="Const")
    node.attr["dtype"].type = pb.DT_INT64
    node.attr["value"].tensor.CopyFrom(to_proto(np.int64(value)))
    return name


def _dataset(graph: pb.GraphDef, name: str, op: str, inputs: list[str], components: int) -> pb.NodeDef:
    node = graph.node.add(name=name, op=op, input=inputs)
    node.attr["output_types"].list.type.extend([pb.DT_INT64] * components)
    node.attr["output_shapes"].list.shape.extend([pb.TensorShapeProto()] * components)
    node.attr["metadata"].s = b""
    return node
