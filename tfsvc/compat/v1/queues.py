"""Queues: state of the task that they are placed on, through which steps of different sessions wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsvc.compat.v1.building import INT32, attr, convert_to_tensor
from tfsvc.compat.v1.graph import Operation, Tensor, get_default_graph
from tfsvc.compat.v1.variables import RESOURCE
from tfsvc.specs import as_dtype
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.tensors import wire_dtype


class FIFOQueue:
    """A queue of elements, each a tensor for every component, that come out in the order they went in.

    Args:
      capacity: how many elements it holds at the most; an enqueue waits for room.
      dtypes: the data type of each component, or that of the only one.
      shared_name: under which sessions share it; its own name when not given.
      name: of the operation.
    """

    def __init__(self, capacity: int, dtypes: Any, shared_name: str | None = None, name: str = "fifo_queue") -> None:
        graph = get_default_graph()
        listed = list(dtypes) if isinstance(dtypes, list | tuple) else [dtypes]
        self.dtypes = [as_dtype(dtype) for dtype in listed]
        attrs = {
            "component_types": self._types(),
            "capacity": attr(capacity),
            "container": attr(graph.containers[-1]),
            "shared_name": attr(shared_name or ""),
        }
        self._graph = graph
        self.queue_ref: Tensor = graph.add("FIFOQueueV2", (), (RESOURCE,), attrs, name).outputs[0]

    def enqueue(self, vals: Any) -> Operation:
        """Adds an element, once there is room.

        Raises:
          ValueError: if it has another number of components.
        """
        components = list(vals) if isinstance(vals, list | tuple) else [vals]
        return self._enqueue("QueueEnqueueV2", components)

    def enqueue_many(self, vals: Sequence[Any]) -> Operation:
        """Adds as many elements as the first dimension of the components has, once there is room for all.

        Raises:
          ValueError: if there is another number of components.
        """
        return self._enqueue("QueueEnqueueManyV2", list(vals) if isinstance(vals, list | tuple) else [vals])

    def dequeue(self) -> Any:
        """Takes the next element, once there is one: a tensor, or a list of them."""
        return self._dequeue("QueueDequeueV2", ())

    def dequeue_many(self, n: Any) -> Any:
        """Takes ``n`` elements, once there are as many, and stacks their components."""
        return self._dequeue("QueueDequeueManyV2", (convert_to_tensor(n, INT32),))

    def size(self) -> Tensor:
        """How many elements it holds."""
        return self._add("QueueSizeV2", (), (INT32,)).outputs[0]

    def close(self, cancel_pending_enqueues: bool = False) -> Operation:
        """Takes no more elements; a dequeue that would wait for more ends with ``OutOfRangeError``."""
        return self._add("QueueCloseV2", (), (), cancel_pending_enqueues=attr(cancel_pending_enqueues))

    def _enqueue(self, op: str, components: list[Any]) -> Operation:
        if len(components) != len(self.dtypes):
            raise ValueError(f"an element of this queue has {len(self.dtypes)} components, not {len(components)}")
        values = [convert_to_tensor(value, dtype) for value, dtype in zip(components, self.dtypes, strict=True)]
        return self._add(op, values, (), Tcomponents=self._types())

    def _dequeue(self, op: str, inputs: Sequence[Tensor]) -> Any:
        outputs = self._add(op, inputs, self.dtypes, component_types=self._types()).outputs
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def _add(self, op: str, inputs: Sequence[Tensor], dtypes: Sequence[Any], **attrs: pb.AttrValue) -> Operation:
        with self._graph.device(None), self._graph.device(self.queue_ref.device or None):
            return self._graph.add(op, (self.queue_ref, *inputs), dtypes, attrs, op)

    def _types(self) -> pb.AttrValue:
        return pb.AttrValue(list=pb.AttrValue.ListValue(type=[wire_dtype(dtype) for dtype in self.dtypes]))
