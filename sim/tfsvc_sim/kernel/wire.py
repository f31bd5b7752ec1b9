"""The wire: what a message becomes on its way through the real codec."""

from __future__ import annotations

from dataclasses import replace

from tfsvc.errors import RpcError
from tfsvc.wire.messages import decode, encode
from tfsvc_sim.kernel.rules import Packet


def through_codec(packet: Packet) -> Packet:
    """The packet as it comes out at the other end; errors travel as gRPC statuses and stay as they are."""
    if packet.body is None or isinstance(packet.body, RpcError):
        return packet
    return replace(packet, body=decode(type(packet.body), encode(packet.body)))
