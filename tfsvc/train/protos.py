"""The messages that users see, as protobuf classes, and how TensorFlow's own objects become them."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.message import Message

from tfsvc.wire.cluster_pb2 import ClusterDef, ConfigProto, JobDef, RunOptions, ServerDef
from tfsvc.wire.cluster_pb2 import ClusterDeviceFilters as ClusterDeviceFiltersDef

M = TypeVar("M", bound=Message)

__all__ = ["ClusterDef", "ClusterDeviceFiltersDef", "ConfigProto", "JobDef", "RunOptions", "ServerDef", "as_message"]


def as_message(value: Any, kind: type[M]) -> M | None:
    """``value`` if it is such a message, or one of the same name that TensorFlow's classes made; else ``None``."""
    if isinstance(value, kind):
        return value
    if isinstance(value, Message) and value.DESCRIPTOR.name == kind.DESCRIPTOR.name:
        return kind.FromString(value.SerializeToString())
    return None
