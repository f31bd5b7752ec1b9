"""A node's attributes, typed; TensorFlow's clients leave out those that have their default."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.definition import Node
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.buffers import Array
from tfsvc.wire.tensors import dtype_of, from_proto

Entropy = Callable[[], int]


def _sizes(shape: pb.TensorShapeProto) -> tuple[int | None, ...]:
    return tuple(None if dim.size < 0 else dim.size for dim in shape.dim)


class Attributes:
    """What a kernel needs to know of its node.

    Args:
      node: whose attributes.
      container: where state goes that names no container.
      entropy: makes seeds for operators that have none.
    """

    def __init__(self, node: Node, container: str, entropy: Entropy) -> None:
        self.entropy = entropy
        self.name = node.name
        self.op = node.op
        self.device = node.device
        self.inputs = len(node.inputs)
        self.container = container
        self._attr = node.proto.attr

    def has(self, name: str) -> bool:
        return name in self._attr

    def type(self, name: str, default: Any = None) -> np.dtype[Any]:
        """The NumPy type of a data type."""
        if name not in self._attr and default is not None:
            return cast("np.dtype[Any]", np.dtype(default))
        return dtype_of(self._need(name).type).numpy

    def is_string(self, name: str) -> bool:
        return self._attr[name].type == pb.DT_STRING

    def int(self, name: str, default: int | None = None) -> int:
        return default if name not in self._attr and default is not None else int(self._need(name).i)

    def float(self, name: str, default: float) -> float:
        return float(self._attr[name].f) if name in self._attr else default

    def bool(self, name: str) -> bool:
        """False where it is not given."""
        return name in self._attr and bool(self._attr[name].b)

    def text(self, name: str, default: str = "") -> str:
        return self._attr[name].s.decode() if name in self._attr else default

    def ints(self, name: str) -> tuple[builtins.int, ...]:
        return tuple(self._attr[name].list.i) if name in self._attr else ()

    def types(self, name: str) -> tuple[np.dtype[Any], ...]:
        return tuple(dtype_of(each).numpy for each in self._attr[name].list.type) if name in self._attr else ()

    def shape(self, name: str) -> Sequence[builtins.int | None] | None:
        """``None`` for an unknown rank, and for each unknown dimension."""
        if name not in self._attr or self._attr[name].shape.unknown_rank:
            return None
        return _sizes(self._attr[name].shape)

    def shapes(self, name: str) -> tuple[tuple[builtins.int | None, ...], ...]:
        return tuple(map(_sizes, self._attr[name].list.shape)) if name in self._attr else ()

    def tensor(self, name: str) -> Array:
        return from_proto(self._need(name).tensor)

    def function(self, name: str) -> str:
        return self._need(name).func.name

    def _need(self, name: str) -> pb.AttrValue:
        if name not in self._attr:
            raise InvalidArgumentError(message=f"Node '{self.name}' ({self.op}) has no attribute '{name}'")
        return self._attr[name]
