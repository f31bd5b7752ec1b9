"""Operators on queues, through which steps of different sessions wait for each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import state_kernel
from tfsvc.graph.resources import Queue, Resources
from tfsvc.graph.values import Handle, Run


@state_kernel("FIFOQueueV2", "FIFOQueue", "PaddingFIFOQueueV2")
def _fifo_queue(node: Attributes) -> Run:
    handle = Handle("queue", node.text("container") or node.container, node.text("shared_name") or node.name)
    capacity = node.int("capacity", -1)

    def run(state: Resources) -> Any:
        state.queue(handle, capacity)
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
    up_to = "UpTo" in node.op

    def run(state: Resources, handle: Handle, count: Any) -> Any:
        rows = state.dequeue(_of(state, handle), int(count), up_to)
        return tuple(np.stack(column) for column in zip(*rows, strict=True))

    return run


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
