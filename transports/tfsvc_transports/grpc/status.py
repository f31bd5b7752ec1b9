"""gRPC's statuses as values of ours: one table, so that every call has one of three outcomes.

A status that a peer sent says that the call ended there. One that gRPC made up itself, for want of an
answer, leaves open whether the call ran, unless the connection was never made.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

import grpc

from tfsvc.errors import Code, Outcome, RpcError

_BY_NUMBER: Final[dict[int, grpc.StatusCode]] = {status.value[0]: status for status in grpc.StatusCode}

_UNKNOWN_UNLESS_SENT: Final = frozenset({Code.CANCELLED, Code.DEADLINE_EXCEEDED, Code.UNAVAILABLE, Code.INTERNAL})
"""Codes that gRPC makes up: for a call that was cut off, took too long, or lost its connection."""

_NEVER_SENT: Final = (
    "failed to connect to all addresses",
    "DNS resolution failed",
    "Name resolution failure",
    "errors resolving",
)
"""How the texts of ``UNAVAILABLE`` begin when no connection was made: the call surely did not run."""

_NO_ADDRESS: Final = "Failed to create channel to"
"""How the text of ``UNKNOWN`` begins where gRPC takes an address for none, as a peer may have told it."""

_STREAM_REMOVED: Final = "Stream removed"
"""A connection's end, which gRPC reports as ``UNKNOWN``; TensorFlow makes it ``UNAVAILABLE`` as well."""

ANSWERED: Final = "tfsvc-answered"
"""A trailer of our servers: the peer itself answered with this status."""

LATER: Final = "tfsvc-later"
"""A trailer of our servers: the call was one too many for now and did not run."""

_DISTRUST: Final = (
    "CERTIFICATE_VERIFY_FAILED",
    "CERTIFICATE_REQUIRED",
    "UNKNOWN_CA",
    "BAD_CERTIFICATE",
    "Hostname Verification Check failed",
    "is not in peer certificate",
)
"""What the texts of connections hold that fail for want of trust, and will fail again."""

_ADVICE: Final = (
    "The peers do not trust each other's certificates: both need certificates of the authority that the other names as "
    "ca_file, valid for the name under which it is reached (--tls-ca, --tls-cert and --tls-key, or TFSVC_TLS_CA, "
    "TFSVC_TLS_CERT and TFSVC_TLS_KEY)."
)

_NO_TLS: Final = "WRONG_VERSION_NUMBER"
"""What the texts of connections hold that were to be encrypted, to a peer that does not speak TLS."""

_ADVICE_NO_TLS: Final = (
    "The peer does not speak TLS, and was asked with it: start it with a certificate of its own, or ask without "
    "ca_file (--tls-ca, TFSVC_TLS_CA)."
)

_TOO_LARGE: Final = "SERVER: Received message larger than max"
"""How gRPC's text begins for a request that is refused for its size."""

_HUNG_UP: Final = re.compile(r"ipv[46]:(\S+): (?:Socket closed|Connection reset by peer)$")
"""How the texts end of connections that an address ended while they were made: perhaps since it stops, or by design."""

TEXT_MAX: Final = 3072
"""TensorFlow's own limit to the text of an error, in bytes; other peers may refuse longer headers."""


def to_status(code: Code) -> grpc.StatusCode:
    return _BY_NUMBER[int(code)]


def from_call(call: grpc.Call) -> RpcError:
    """The error of a call that has ended without an answer."""
    code = Code(call.code().value[0])
    text = call.details() or code.name
    if text.startswith(_NO_ADDRESS):
        return RpcError(Code.UNAVAILABLE, text, Outcome.UNREACHED)
    if text == _STREAM_REMOVED:
        return RpcError(Code.UNAVAILABLE, text, Outcome.UNKNOWN)
    trailers = {key for key, _ in call.trailing_metadata() or ()}
    if LATER in trailers:
        return RpcError(Code.UNAVAILABLE, text, Outcome.UNREACHED)
    if code is Code.UNAVAILABLE and ANSWERED not in trailers:
        if any(sign in text for sign in _DISTRUST):
            return RpcError(Code.UNAUTHENTICATED, f"{text.rstrip('.')}. {_ADVICE}")
        if _NO_TLS in text:
            return RpcError(Code.UNAUTHENTICATED, f"{text.rstrip('.')}. {_ADVICE_NO_TLS}")
    if text.startswith(_TOO_LARGE):
        text = f"{text}. Send less at once, or raise Limits.request_bytes of the server."
    if ANSWERED in trailers or code not in _UNKNOWN_UNLESS_SENT:
        return RpcError(code, text)
    return RpcError(code, text, Outcome.UNREACHED if text.startswith(_NEVER_SENT) else Outcome.UNKNOWN)


def hung_up(error: RpcError) -> str | None:
    """The address that ended a connection while it was made, if that is the error."""
    found = _HUNG_UP.search(error.message) if error.outcome is Outcome.UNREACHED else None
    return None if found is None else unquote(found[1])


def shortened(text: str) -> str:
    """``text`` as a peer of TensorFlow's takes it."""
    data = text.encode()
    return text if len(data) <= TEXT_MAX else data[:TEXT_MAX].decode(errors="ignore") + " ... [truncated]"
