"""What cutting and scheduling must know of an operator: whether it reads, writes, waits, or hands on state."""

from __future__ import annotations

from typing import Final

from tfsvc.graph.definition import Node
from tfsvc.wire import tfsvc_pb2 as pb

_RESOURCE_APPLY: Final = (
    "GradientDescent",
    "Momentum",
    "KerasMomentum",
    "Adagrad",
    "AdagradV2",
    "Adam",
    "RMSProp",
    "CenteredRMSProp",
    "Adadelta",
    "Ftrl",
)

HANDLES: Final = frozenset(
    {"VarHandleOp", "FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2", "QueueV2"}
)
"""Operators that name a piece of a task's state."""

REFERENCES: Final = frozenset({"Variable", "VariableV2"})
"""Operators whose result is the variable itself."""

_REF_WRITES: Final = frozenset(
    {"Assign", "AssignAdd", "AssignSub", "ScatterAdd", "ScatterSub", "ScatterUpdate"}
    | {f"Apply{name}" for name in _RESOURCE_APPLY}
    | {f"SparseApply{name}" for name in _RESOURCE_APPLY}
)
"""Operators that change the variable in their first input, and give it on."""

_RESOURCE_WRITES: Final = frozenset(
    {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "DestroyResourceOp"}
    | {"ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate"}
    | {f"ResourceApply{name}" for name in _RESOURCE_APPLY}
    | {f"ResourceSparseApply{name}" for name in _RESOURCE_APPLY}
)

READS: Final = frozenset(
    {"ReadVariableOp", "VarIsInitializedOp", "IsVariableInitialized", "ResourceGather", "ResourceGatherNd"}
    | {"VariableShape", "QueueSizeV2", "QueueIsClosedV2"}
)

WAITS: Final = frozenset(
    {"QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2", "QueueEnqueueV2", "QueueEnqueueManyV2"}
    | {"QueueDequeue", "QueueEnqueue"}
)
"""Operators that may have to wait for another step."""

_OTHER_WRITES: Final = frozenset({"QueueCloseV2"})

CONDITIONAL: Final = frozenset({"Switch", "RefSwitch"})
"""Operators behind which a node may turn out not to run."""

_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall", "If", "While", "Case"})
"""Operators that run a function, which may do anything."""

WRITES: Final = _REF_WRITES | _RESOURCE_WRITES | _OTHER_WRITES
_PASSES: Final = frozenset({"Identity", "Switch", "Merge", "IdentityN", "RefIdentity", "RefSwitch"})


def writes(node: Node) -> bool:
    """Whether a node may change its task's state."""
    return node.op in WRITES or node.op in WAITS or node.op in _CALLS


def gives_reference(op: str) -> bool:
    """Whether the results are variables themselves, whose value is read when it is needed."""
    return op in REFERENCES or op in _REF_WRITES or op in ("RefIdentity", "RefSwitch")


def takes_reference(op: str, index: int) -> bool:
    """Whether input ``index`` must be the variable itself."""
    if op in ("IsVariableInitialized", "RefIdentity", "RefSwitch") or op.startswith("Scatter"):
        return index == 0
    return op in _REF_WRITES and (index == 0 or "Apply" in op)


def gives_handle(node: Node, index: int) -> bool:
    """Whether an output is a handle of state, which cannot leave its task."""
    if node.op in HANDLES:
        return True
    if node.op not in _PASSES:
        return node.op == "Placeholder" and node.proto.attr["dtype"].type == pb.DT_RESOURCE
    kinds = node.proto.attr["T"]
    if kinds.HasField("list"):
        return index < len(kinds.list.type) and kinds.list.type[index] == pb.DT_RESOURCE
    return kinds.type == pb.DT_RESOURCE
