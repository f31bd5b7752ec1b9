"""Why a peer hangs up while a connection is made: a handshake of our own shows what gRPC does not tell.

To gRPC a server that asks for a certificate, or for TLS at all, looks like one that is about to stop: the connection
ends. The first two end it again however often it is made.
"""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.ids import Address
from tfsvc.service.security import Security
from tfsvc_transports.transport import Answer

PATIENCE_S: Final = 2.0
"""For how long a peer may say nothing in a handshake."""

_NO_TLS: Final = (
    "it speaks TLS and was asked without: name its authority, as Security(ca_file=...), --tls-ca or TFSVC_TLS_CA"
)
_NO_CERTIFICATE: Final = (
    "it asks for a certificate and was shown none: name yours, as Security(certificate_file=..., key_file=...), "
    "--tls-cert and --tls-key, or TFSVC_TLS_CERT and TFSVC_TLS_KEY"
)
_BAD_CERTIFICATE: Final = (
    "it does not take the certificate_file {file!r}, which must be signed by an authority that the peer knows as "
    "ca_file, and be valid now"
)


def examine(peer: Address, address: str, security: Security, error: RpcError, done: Answer) -> None:
    """Ends a call to a ``peer`` that hung up: with ``error``, or with why asking again would be in vain.

    Args:
      address: the one of the peer's addresses where it did.
    """

    def look() -> None:
        why = refusal(address, security)
        done(error if why is None else RpcError(Code.UNAUTHENTICATED, f"{peer} does not let this node in: {why}."))

    try:
        threading.Thread(target=look, name="tfsvc-handshake", daemon=True).start()
    except RuntimeError:  # the interpreter ends
        done(error)


def refusal(address: str, security: Security) -> str | None:
    """What a node with this ``security`` lacks for a connection to ``address``; ``None`` where that cannot be said.

    Takes up to some seconds.
    """
    host, _, port = address.rpartition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is said to the peer
    context.set_alpn_protocols(["h2"])
    with suppress(OSError, ValueError):
        if security.certificate_file:
            context.load_cert_chain(security.certificate_file, security.key_file)
        plain = socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S)
        with plain, context.wrap_socket(plain, server_hostname=host.strip("[]")) as connection:
            if not security.ca_file:
                return _NO_TLS
            # With TLS 1.3 the certificate is looked at when the client believes that all is done. A server that takes
            # it speaks first; one that does not hangs up, with or without a word.
            with suppress(ssl.SSLError, ConnectionResetError):
                if connection.recv(1):
                    return None
            file = security.certificate_file
            return _BAD_CERTIFICATE.format(file=file) if file else _NO_CERTIFICATE
    return None
