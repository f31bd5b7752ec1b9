"""Mixed versions: a node of an older release, which does not know the newest fields of the messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from google.protobuf.message import Message as Proto

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import CallRequest, CallResponse, GetFramesResponse, Request, Response
from tfsvc.wire.messages import pack, unpack
from tfsvc_sim.faults.fault import Mend, Stage
from tfsvc_sim.kernel.rules import PASS, Fate, Packet

LANES: Final = 1003
"""The last field that a release must know whose nodes take part in exactly-once delivery."""


@dataclass(frozen=True, slots=True)
class OldVersion:
    """A node neither sends nor understands fields with numbers beyond ``newest``, as long as it was not upgraded."""

    node: str
    newest: int = LANES

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        return stage.rule(Forgets(stage.resolve(self.node), self.newest)).remove


@dataclass(frozen=True, slots=True)
class Forgets:
    """The rule: whatever goes to or from a node loses the fields that it does not know."""

    node: str
    newest: int

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        body = packet.body
        if self.node not in (packet.source, packet.target) or body is None or isinstance(body, RpcError):
            return PASS
        return Fate((0,), instead=replace(packet, body=without_newer(body, self.newest)))


_OWN: Final = (GetFramesResponse, CallRequest, CallResponse)
"""Messages that TensorFlow does not have, whose bytes are made by hand."""


def without_newer(body: Request | Response, newest: int) -> Request | Response:
    """A message as a node understands it that knows no fields beyond ``newest``."""
    if isinstance(body, _OWN):
        return body
    proto = pack(body)
    _strip(proto, newest)
    stripped: Request | Response = unpack(type(body), proto)
    return stripped


def _strip(proto: Proto, newest: int) -> None:
    for field, value in proto.ListFields():
        if field.number > newest:
            proto.ClearField(field.name)
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for part in value if isinstance(value, Sequence) else (value,):
                _strip(part, newest)
