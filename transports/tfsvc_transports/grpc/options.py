"""Settings of gRPC's channels and servers that differ from its defaults, each with its reason."""

from __future__ import annotations

from typing import Any, Final

from tfsvc.service.security import Limits

Options = tuple[tuple[str, Any], ...]

ANSWER_BYTES_MAX: Final = (1 << 31) - 1
"""Protobuf's own limit: an element may be of any size, and who reads it has asked for it."""

HEADER_BYTES_MAX: Final = 64 << 10
"""A server takes no longer headers, which come from anybody: they hold a token and the name of some memory."""

_ERROR_BYTES_MAX: Final = 16 << 20
"""The text of an error travels in a header, with the traceback of a user's function in it."""


def server_options(limits: Limits) -> Options:
    """Options of a server."""
    return (
        # A second server on the port is an error, not one that takes every other call.
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", limits.request_bytes),
        ("grpc.max_send_message_length", ANSWER_BYTES_MAX),
        ("grpc.max_metadata_size", HEADER_BYTES_MAX),
        ("grpc.absolute_max_metadata_size", HEADER_BYTES_MAX),
        ("grpc.max_concurrent_streams", limits.calls_per_connection),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        # A peer that opens connections and says nothing, or dies in the middle of a call, is let go of.
        ("grpc.server_handshake_timeout_ms", limits.handshake_s * 1000),
        ("grpc.max_connection_idle_ms", limits.idle_s * 1000),
        ("grpc.keepalive_time_ms", limits.silence_s * 500),
        ("grpc.keepalive_timeout_ms", limits.silence_s * 500),
    )


CHANNEL: Final[Options] = (
    ("grpc.max_send_message_length", ANSWER_BYTES_MAX),
    ("grpc.max_receive_message_length", ANSWER_BYTES_MAX),
    ("grpc.max_metadata_size", _ERROR_BYTES_MAX),
    ("grpc.absolute_max_metadata_size", _ERROR_BYTES_MAX),
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

PARTS: Final = "tfsvc-parts"
"""A header of ours with a read: its answer may come in several messages."""
