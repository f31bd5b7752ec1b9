"""Settings of gRPC's channels and servers that differ from its defaults, each with its reason."""

from __future__ import annotations

from typing import Any, Final

_BOTH: Final[tuple[tuple[str, Any], ...]] = (
    # An element may be of any size.
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # The text of an error travels in a header, with the traceback of a user's function in it.
    ("grpc.max_metadata_size", 16 << 20),
    ("grpc.absolute_max_metadata_size", 16 << 20),
)

SERVER: Final = (
    *_BOTH,
    # A second server on the port is an error, not one that takes every other call.
    ("grpc.so_reuseport", 0),
)

CHANNEL: Final = (
    *_BOTH,
    # A proxy for the web is no way to reach a cluster.
    ("grpc.enable_http_proxy", 0),
    # A restarted peer is found again by each node by itself, and soon.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # So is one whose name stands for another machine since; gRPC itself would look once in 30 s.
    ("grpc.dns_min_time_between_resolutions_ms", 1000),
    # Tells our servers that long texts are welcome.
    ("grpc.primary_user_agent", "tfsvc"),
)

MEMORY: Final = "tfsvc-memory"
"""A header of ours with a read: memory of the reader's for the bodies of frames."""
