"""Queues and the other operators on a task's state, step by step beside TensorFlow's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from tests.interop.test_kernels_like_tensorflow import Ours, unlike  # noqa: E402
from tfsvc.errors import OpError  # noqa: E402
from tfsvc.graph.resources import Resources  # noqa: E402

pytestmark = pytest.mark.interop
v1 = tf.compat.v1
raw = tf.raw_ops


class Both:
    """One graph with its state on either side."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._session = v1.Session(graph=graph)
        self._state = Resources()

    def step(self, *wanted: Any) -> list[Any]:
        """Runs a step on both sides, which must give the same; the values, or a list of one error code."""
        fetches = [each for each in wanted if not isinstance(each, tf.Operation)]
        targets = [each.name for each in wanted if isinstance(each, tf.Operation)]
        try:
            theirs: Sequence[Any] = self._session.run([fetches, [each for each in wanted if each not in fetches]])[0]
        except tf.errors.OpError as error:
            theirs = [error.error_code]
        ours = Ours(self._graph, [each.name for each in fetches], (), targets)
        try:
            mine: Sequence[Any] = ours.run([], self._state)
        except OpError as error:
            mine = [error.error_code]
        assert len(mine) == len(theirs), f"{mine} for {theirs}"
        for one, other in zip(mine, theirs, strict=True):
            assert not unlike(one, other, 1), unlike(one, other, 1)
        return list(mine)


@pytest.fixture
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("kind", ["FIFOQueueV2", "PaddingFIFOQueueV2"])
def test_queues_give_what_was_put_in(graph, kind):
    types, shapes = [tf.int32, tf.string], [[2], []]
    queue = getattr(raw, kind)(component_types=types, shapes=shapes, capacity=8, shared_name="q")
    put = raw.QueueEnqueueV2(handle=queue, components=[[1, 2], b"a"])
    many = raw.QueueEnqueueManyV2(handle=queue, components=[[[3, 4], [5, 6], [7, 8]], [b"b", b"c", b"d"]])
    take = raw.QueueDequeueV2(handle=queue, component_types=types)
    size, closed = raw.QueueSizeV2(handle=queue), raw.QueueIsClosedV2(handle=queue)

    def several(count: int, up_to: bool = False) -> Any:
        function = raw.QueueDequeueUpToV2 if up_to else raw.QueueDequeueManyV2
        return function(handle=queue, n=count, component_types=types)

    both = Both(graph)
    both.step(put)
    both.step(many)
    assert both.step(size) == [4]
    assert both.step(closed) == [False]
    both.step(*take)
    both.step(*several(2))
    both.step(*several(0))
    both.step(many)
    both.step(raw.QueueCloseV2(handle=queue))
    assert both.step(closed) == [True]
    assert both.step(put) == [tf.errors.CANCELLED]
    both.step(*several(1, up_to=True))
    assert both.step(*several(7)) == [tf.errors.OUT_OF_RANGE]
    both.step(size)
    both.step(*several(7, up_to=True))
    assert both.step(*take) == [tf.errors.OUT_OF_RANGE]
    assert both.step(*several(7, up_to=True)) == [tf.errors.OUT_OF_RANGE]


def test_a_queue_pads_what_is_not_alike_and_refuses_what_does_not_fit(graph):
    queue = raw.PaddingFIFOQueueV2(component_types=[tf.int32], shapes=[[None, 2]], shared_name="p")
    plain = raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[2]], shared_name="f")
    both = Both(graph)
    for rows in ([[1, 2]], [[3, 4], [5, 6]], np.zeros((0, 2), np.int32)):
        both.step(raw.QueueEnqueueV2(handle=queue, components=[np.array(rows, np.int32)]))
    both.step(*raw.QueueDequeueManyV2(handle=queue, n=3, component_types=[tf.int32]))
    for wrong in (np.zeros(2, np.int32), np.zeros((1, 3), np.int32)):
        held = v1.placeholder_with_default(wrong, None)
        assert both.step(raw.QueueEnqueueV2(handle=queue, components=[held])) == [tf.errors.INVALID_ARGUMENT]
        assert both.step(raw.QueueEnqueueManyV2(handle=plain, components=[held])) == [tf.errors.INVALID_ARGUMENT]


def test_resources_tell_of_themselves(graph):
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[None, 2], shared_name="v")
    is_there = raw.VarIsInitializedOp(resource=handle)
    shape = [raw.VariableShape(input=handle, out_type=kind) for kind in (tf.int32, tf.int64)]
    gathered = raw.ResourceGather(resource=handle, indices=[[1, 0]], dtype=tf.float32)
    beyond = raw.ResourceGather(resource=handle, indices=[2], dtype=tf.float32)
    read = raw.ReadVariableOp(resource=handle, dtype=tf.float32)
    both = Both(graph)
    assert both.step(is_there) == [False]
    assert both.step(read) == [tf.errors.FAILED_PRECONDITION]
    both.step(raw.AssignVariableOp(resource=handle, value=np.float32([[1, 2], [3, 4]])))
    assert both.step(is_there) == [True]
    both.step(*shape)
    both.step(gathered)
    assert both.step(beyond) == [tf.errors.INVALID_ARGUMENT]
    both.step(raw.DestroyResourceOp(resource=handle, ignore_lookup_error=False))
    assert both.step(is_there) == [False]
    assert both.step(raw.DestroyResourceOp(resource=handle, ignore_lookup_error=False)) == [tf.errors.NOT_FOUND]
    both.step(raw.DestroyResourceOp(resource=handle))


def test_conditions_stop_and_switch(graph):
    both = Both(graph)
    for truth in (True, False):
        off, on = raw.Switch(data=[1, 2], pred=truth)
        both.step(*raw.Merge(inputs=[raw.Neg(x=off), raw.Square(x=on)]))
        both.step(raw.Assert(condition=truth, data=["no", 1]), raw.Identity(input=truth))
    assert both.step(raw.Placeholder(dtype=tf.float32)) == [tf.errors.INVALID_ARGUMENT]
    reference = raw.VariableV2(shape=[], dtype=tf.float32, shared_name="r")
    assert both.step(raw.IsVariableInitialized(ref=reference)) == [False]
    both.step(raw.Assign(ref=reference, value=2.0).op)
    assert both.step(raw.IsVariableInitialized(ref=reference)) == [True]
    both.step(raw.Identity(input=reference))
