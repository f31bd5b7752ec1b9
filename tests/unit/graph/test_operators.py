"""Which operators there are: all that parameter servers need, and each compared with TensorFlow's or said why not."""

from __future__ import annotations

import pytest

from tests.interop.array_cases import ARRAYS, FLOW, STRINGS
from tests.interop.kernel_cases import ELEMENTWISE, LAYERS, REDUCTIONS
from tfsvc.graph.kernels import KERNELS, STATE_KERNELS
from tfsvc.graph.lowering import CALLS, CONDITIONS, LOOPS

PARAMETER_SERVERS = """
    Const Placeholder PlaceholderWithDefault Identity NoOp
    VarHandleOp ReadVariableOp VarIsInitializedOp AssignVariableOp AssignAddVariableOp AssignSubVariableOp
    VariableV2 Assign AssignAdd AssignSub IsVariableInitialized
    Add AddV2 Sub Mul RealDiv Neg Square Sqrt Maximum FloorDiv FloorMod
    Equal NotEqual Less LessEqual Greater GreaterEqual
    MatMul BiasAdd Relu BiasAddGrad ReluGrad SqrtGrad SparseSoftmaxCrossEntropyWithLogits
    Sum Mean Max Min Prod ArgMax
    Shape Reshape Fill Tile Cast ExpandDims Squeeze GatherV2 ConcatV2 Pack StridedSlice BroadcastGradientArgs
    ApplyGradientDescent ResourceApplyGradientDescent ApplyAdam ResourceApplyAdam
    ApplyMomentum ResourceApplyMomentum ApplyAdagrad ResourceApplyAdagrad
    RandomUniform TruncatedNormal LogicalNot Where
"""
"""What graphs of parameter servers run in every step."""

AROUND_THEM = """
    If StatelessIf Switch Merge PartitionedCall StatefulPartitionedCall
    FIFOQueueV2 QueueEnqueueV2 QueueEnqueueManyV2 QueueDequeueV2 QueueDequeueManyV2 QueueCloseV2 QueueSizeV2
    SaveV2 RestoreV2 StringJoin ShardedFilename MergeV2Checkpoints
"""
"""What sessions with hooks, savers, functions, conditions and input queues run besides."""

COMPARED = {**ELEMENTWISE, **REDUCTIONS, **LAYERS, **ARRAYS, **STRINGS, **FLOW}

ELSEWHERE = {
    "test_state_kernels_like_tensorflow": ("Apply", "SparseApply", "Scatter", "Assign", "Resource"),
    "test_queue_kernels_like_tensorflow": (
        *("Queue", "FIFOQueue", "PaddingFIFOQueue", "Var", "ReadVariable", "IsVariable", "DestroyResource"),
        *("Placeholder", "Assert", "Switch", "Merge", "Ref"),
    ),
    "test_checkpoints_like_tensorflow": ("SaveV2", "RestoreV2", "MergeV2", "ShardedFilename"),
    "test_randoms: TensorFlow draws other numbers": ("Random", "TruncatedNormal"),
    "nothing to compare": ("NoOp", "ControlTrigger", "DebugIdentity"),
}
"""Where an operator is compared that is not among them, by the beginning of its name."""


@pytest.mark.parametrize("tier", [PARAMETER_SERVERS, AROUND_THEM])
def test_all_that_parameter_servers_need_is_there(tier):
    there = {*KERNELS, *STATE_KERNELS, *CALLS, *CONDITIONS, *LOOPS}
    assert not [op for op in tier.split() if op not in there]


def test_every_operator_is_compared_with_tensorflows():
    beginnings = tuple(beginning for group in ELSEWHERE.values() for beginning in group)
    left = [op for op in (*KERNELS, *STATE_KERNELS) if op not in COMPARED and not op.startswith(beginnings)]
    assert not left
    assert not [op for op in COMPARED if op not in KERNELS]
