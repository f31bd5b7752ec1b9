"""Operators on queues, through which steps of different sessions wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import state_kernel
from tfsvc.graph.resources import Queue, Resources
from tfsvc.graph.values import Handle, Run


@state_kernel("FIFOQueueV2", "FIFOQueue", "PaddingFIFOQueueV2")
def _fifo_queue(node: Attributes) -> Run:
    handle = Handle("queue", node.text("container") or node.container, node.text("shared_name") or node.name)
    capacity, shapes = node.int("capacity", -1), node.shapes("shapes")

    def run(state: Resources) -> Any:
        state.queue(handle, capacity, shapes)
        return handle

    return run


def _of(state: Resources, handle: Handle) -> Queue:
    return state.queue(handle)


@state_kernel("QueueEnqueueV2", "QueueEnqueue")
def _enqueue(node: Attributes) -> Run:
    def run(state: Resources, handle: Handle, *row: Any) -> Any:
        state.enqueue(_of(state, handle), [row])
        return ()

    return run


@state_kernel("QueueEnqueueManyV2")
def _enqueue_many(node: Attributes) -> Run:
    def run(state: Resources, handle: Handle, *columns: Any) -> Any:
        state.enqueue(_of(state, handle), list(zip(*columns, strict=True)))
        return ()

    return run


@state_kernel("QueueDequeueV2", "QueueDequeue")
def _dequeue(node: Attributes) -> Run:
    return lambda state, handle: tuple(state.dequeue(_of(state, handle))[0])


@state_kernel("QueueDequeueManyV2", "QueueDequeueUpToV2")
def _dequeue_many(node: Attributes) -> Run:
    up_to, kinds = "UpTo" in node.op, node.types("component_types")

    def run(state: Resources, handle: Handle, count: Any) -> Any:
        queue = _of(state, handle)
        rows = state.dequeue(queue, int(count), up_to)
        if not rows:
            return tuple(
                np.zeros((0, *(n or 0 for n in shape)), kind) for shape, kind in zip(queue.shapes, kinds, strict=True)
            )
        return tuple(_stacked(column) for column in zip(*rows, strict=True))

    return run


def _stacked(column: Sequence[Any]) -> Any:
    """One array of the values; the smaller ones end in zeros where they are not of one shape."""
    sizes = np.max([np.shape(value) for value in column], axis=0)
    if all(np.shape(value) == tuple(sizes) for value in column):
        return np.stack(column)
    out = np.zeros((len(column), *sizes), np.asarray(column[0]).dtype)
    if out.dtype == object:
        out[...] = b""
    for at, value in enumerate(column):
        index: Any = (at, *map(slice, np.shape(value)))
        out[index] = value
    return out


@state_kernel("QueueCloseV2")
def _close(node: Attributes) -> Run:
    cancel = node.bool("cancel_pending_enqueues")

    def run(state: Resources, handle: Handle) -> Any:
        state.close(_of(state, handle), cancel)
        return ()

    return run


@state_kernel("QueueSizeV2")
def _queue_size(node: Attributes) -> Run:
    return lambda state, handle: np.array(len(_of(state, handle).rows), np.int32)


@state_kernel("QueueIsClosedV2")
def _is_closed(node: Attributes) -> Run:
    return lambda state, handle: np.array(_of(state, handle).closed)
