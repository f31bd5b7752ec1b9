"""What a node shows and asks for on gRPC: certificates and a token, as its ``Security`` names them."""

from __future__ import annotations

import logging
import ssl
from typing import Any, Final

import grpc

from tfsvc.errors import Code, InvalidArgumentError, OpError, RpcError
from tfsvc.protocol.ids import Address
from tfsvc.service.security import Security, is_loopback, read
from tfsvc_transports.grpc.options import CHANNEL

LOG = logging.getLogger("tfsvc")

AUTHORIZATION: Final = "authorization"
_BEARER: Final = "Bearer "

Headers = tuple[tuple[str, str], ...]
_Certificates = tuple[bytes | None, bytes | None, bytes | None]
"""Authorities, key and certificate."""


class Credentials:
    """The files of a ``Security``. The token is read now; certificates are, whenever a connection is made.

    Raises:
      InvalidArgumentError: if a file cannot be read or used, or holds no token.
    """

    def __init__(self, security: Security) -> None:
        self.security = security.resolved()
        token = self.security.token()
        self.headers: Final[Headers] = () if token is None else ((AUTHORIZATION, _BEARER + token),)
        """What goes with each call."""
        self._shown: _Certificates | None = None
        self._read()
        _check(self.security)

    def bind(self, server: grpc.Server, address: str) -> int:
        """Binds a port of ``server``, and returns it.

        Raises:
          RuntimeError: if the address cannot be had, or gRPC takes the certificates for none.
          InvalidArgumentError: if there is an authority, but no certificate to show.
        """
        if self.security.shown() is None:
            return server.add_insecure_port(address)
        shown = grpc.dynamic_ssl_server_credentials(
            self._certificates(), self._certificates, require_client_authentication=self.security.mutual
        )
        return server.add_secure_port(address, shown)

    def channel(self, peer: Address) -> grpc.Channel | RpcError:
        """A channel to ``peer``; an error if the token would go there unencrypted, or a file is gone."""
        if not self.security.ca_file:
            exposed = bool(self.headers) and not self.security.insecure
            if exposed and not is_loopback(peer.rpartition(":")[0]):
                return RpcError(
                    Code.UNAUTHENTICATED,
                    f"the token would go unencrypted to {peer}. Name the authority of its certificate (ca_file, "
                    "TFSVC_TLS_CA), or say insecure=True (TFSVC_INSECURE=1) where the network is trusted.",
                )
            return grpc.insecure_channel(peer, options=CHANNEL)
        try:
            roots, key, chain = self._read()
        except OpError as error:
            return RpcError(Code.UNAUTHENTICATED, error.message)
        return grpc.secure_channel(peer, grpc.ssl_channel_credentials(roots, key, chain), options=CHANNEL)

    def _certificates(self) -> Any:
        """What a server shows in the next handshake; ``None`` for the same as in the last."""
        try:
            found = self._read()
        except OpError as error:
            LOG.warning("the certificates of before are still shown: %s", error.message)
            return None
        if found == self._shown:
            return None
        self._shown = found
        roots, key, chain = found
        assert key is not None
        assert chain is not None
        return grpc.ssl_server_certificate_configuration([(key, chain)], roots if self.security.mutual else None)

    def _read(self) -> _Certificates:
        named = self.security
        return (
            read("ca_file", named.ca_file) if named.ca_file else None,
            read("key_file", named.key_file) if named.key_file else None,
            read("certificate_file", named.certificate_file) if named.certificate_file else None,
        )


def _check(named: Security) -> None:
    """Whether the files fit together; gRPC would only say that a port cannot be had, or a peer not be reached.

    Raises:
      InvalidArgumentError: if they do not.
    """
    if not named.ca_file:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    wrong = f"ca_file={named.ca_file!r} holds no certificates in PEM"
    try:
        context.load_verify_locations(named.ca_file)
        if named.certificate_file:
            wrong = (
                f"certificate_file={named.certificate_file!r} and key_file={named.key_file!r} are not a certificate "
                "and its own private key, both in PEM and the key without a password"
            )
            context.load_cert_chain(named.certificate_file, named.key_file, password=_none)
    except OSError as error:
        raise InvalidArgumentError(message=f"{wrong}: {error}") from error


def _none() -> str:
    """Nobody is asked for a password."""
    return ""
