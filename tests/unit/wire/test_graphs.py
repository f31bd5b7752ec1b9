"""Split providers of graphs: one recorded from TensorFlow 2.21, the others built by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tfsvc.errors import UnimplementedError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, serialize
from tfsvc.wire.graphs import split_plans
from tfsvc.wire.tensors import to_proto

RECORDED = bytes.fromhex(  # Dataset.range(3, 20, 4).map(f).batch(2), without its functions.
    "0a320a08436f6e73742f5f301205436f6e73742a0b0a056474797065120230092a120a0576616c756512094207080912005201030a320a0843"
    "6f6e73742f5f311205436f6e73742a0b0a056474797065120230092a120a0576616c756512094207080912005201140a320a08436f6e73742f"
    "5f321205436f6e73742a0b0a056474797065120230092a120a0576616c756512094207080912005201040a570a0f52616e6765446174617365"
    "742f5f33120c52616e6765446174617365741a08436f6e73742f5f301a08436f6e73742f5f311a08436f6e73742f5f322a180a127265706c69"
    "636174655f6f6e5f73706c6974120228000a3e0a0d4d6170446174617365742f5f34120a4d6170446174617365741a0f52616e676544617461"
    "7365742f5f332a100a0a54617267756d656e747312020a000a320a08436f6e73742f5f351205436f6e73742a0b0a056474797065120230092a"
    "120a0576616c756512094207080912005201020a320a08436f6e73742f5f361205436f6e73742a0b0a0564747970651202300a2a120a057661"
    "6c756512094207080a12005a01000a5b0a1142617463684461746173657456322f5f37120e42617463684461746173657456321a0d4d617044"
    "6174617365742f5f341a08436f6e73742f5f351a08436f6e73742f5f362a130a0d706172616c6c656c5f636f7079120228000a3b0a07646174"
    "6173657412075f52657476616c1a1142617463684461746173657456322f5f372a070a0154120230152a0b0a05696e64657812021800120022"
    "0308aa13"
)


def const(name: str, value: object, *, typed: bool = False) -> pb.NodeDef:
    node = pb.NodeDef(name=name, op="Const")
    node.attr["value"].tensor.CopyFrom(to_proto(value, typed=typed))
    return node


def graph(*nodes: pb.NodeDef, sink: str = "top") -> bytes:
    return serialize(pb.GraphDef(node=[*nodes, pb.NodeDef(name="dataset", op="_Retval", input=[sink])]))


def node(name: str, op: str, *inputs: str) -> pb.NodeDef:
    return pb.NodeDef(name=name, op=op, input=inputs)


SOURCES = [
    const("0", np.int64(0)),
    const("5", np.int64(5), typed=True),
    const("1", np.int64(1)),
    const("names", np.array([b"a", b"b"], object)),
    node("range", "RangeDataset", "0", "5:0", "1", "^names"),
    node("slices", "TensorSliceDataset", "same"),
    node("same", "Identity", "names"),
    node("one", "TensorDataset", "0"),
    node("random", "RandomDataset", "0", "0"),
]
RANGE, SLICES, ONE, RANDOM = SplitPlan(5, 0, 1), SplitPlan(2), SplitPlan(1), SplitPlan(None)


def test_a_recorded_graph() -> None:
    assert split_plans(RECORDED) == (SplitPlan(5, 3, 4),)


@pytest.mark.parametrize(
    ("top", "plans"),
    [
        (node("top", "ParallelMapDatasetV2", "range", "5"), (RANGE,)),
        (node("top", "MapDataset", "slices", "range"), (SLICES,)),
        (node("top", "ZipDataset", "slices", "range", "one"), (SLICES, RANGE, ONE)),
        (node("top", "ConcatenateDataset", "range", "slices"), (RANGE, SLICES)),
        (node("top", "DirectedInterleaveDataset", "random", "range", "one"), (RANDOM, RANGE, ONE)),
        (node("top", "RangeDataset", "5", "0", "1"), (SplitPlan(0, 5, 1),)),
    ],
)
def test_providers_in_order(top: pb.NodeDef, plans: tuple[SplitPlan, ...]) -> None:
    assert split_plans(graph(*SOURCES, top)) == plans


@pytest.mark.parametrize(
    ("top", "text"),
    [
        (node("top", "SnapshotDatasetV2", "range", "names"), "Splitting is not implemented for snapshot datasets"),
        (
            node("top", "TFRecordDatasetV2", "names"),
            r"Cannot create split providers for dataset of type TFRecordDatasetV2, because the dataset is not unary "
            r"\(instead having arity 0\)",
        ),
        (node("top", "Weird", "range"), "dataset of type Weird"),
        (node("top", "TensorSliceDataset", "range"), r"top \(TensorSliceDataset\): its input 0"),
    ],
)
def test_what_tensorflow_does_not_split(top: pb.NodeDef, text: str) -> None:
    with pytest.raises(UnimplementedError, match=text):
        split_plans(graph(*SOURCES, top))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        graph(sink="absent"),
        graph(node("top", "MapDataset", "top")),
        graph(node("top", "ZipDataset", "top", "top")),
        graph(node("top", "Identity", "top")),
        graph(*SOURCES, node("top", "RangeDataset", "0", "1")),
        graph(*SOURCES, node("top", "RangeDataset", "0", "1", "0")),
        graph(*SOURCES, node("top", "RangeDataset", "0", "1", "names")),
        graph(*SOURCES, node("top", "TensorSliceDataset", "0")),
    ],
)
def test_malformed_graphs_are_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        split_plans(data)
