"""Who may look: the token or the certificate that calls need is needed here, too.

A browser asks its user for the token, as the password for any name; scrapers send it as a bearer. Whether a node is
well may be asked by anybody who reaches the port, since probes of Kubernetes show neither.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from tfsvc.errors import InvalidArgumentError
from tfsvc.service.security import Security

OPEN: Final = ("/healthz", "/readyz")
"""The paths that anybody may ask for."""
CHALLENGE: Final = 'Basic realm="tfsvc: the token is the password", charset="UTF-8"'


@dataclass(frozen=True)
class Access:
    """What is asked of those who look.

    Attributes:
      token: that they show it; ``None`` for none.
      tls: makes what encrypts a connection, from files that may have been renewed; ``None`` leaves it open to read.
      certificates: whether they need a certificate, for which ``tls`` asks.
    """

    token: str | None = None
    tls: Callable[[], ssl.SSLContext] | None = None
    certificates: bool = False

    @property
    def asks(self) -> bool:
        """Whether anything is asked of them."""
        return self.certificates or self.token is not None

    def lets_in(self, path: str, authorization: Iterable[str], certificate: bool) -> bool:
        """Whether a request for ``path`` may be answered.

        Args:
          authorization: the values of its header of that name.
          certificate: whether it came with one of a trusted authority.
        """
        if path in OPEN:
            return True
        if self.certificates and not certificate:
            return False
        if self.token is None:
            return True
        shown = [_shown(value) for value in authorization]
        return len(shown) == 1 and hmac.compare_digest(shown[0], self.token.encode())


EVERYBODY: Final = Access()


def access_of(security: Security) -> Access:
    """What calls are asked for, asked of those who look.

    Raises:
      InvalidArgumentError: if a file cannot be read, holds no token or no certificate, or there is none to show.
    """
    named, token = security.resolved(), security.token()
    shown = named.shown()
    if shown is None:
        return Access(token)
    tls = partial(_context, *shown, named.mutual)
    try:
        tls()
    except OSError as error:
        raise InvalidArgumentError(message=f"the certificate files of {named} cannot be used: {error}") from error
    return Access(token, tls, named.mutual)


def _context(ca_file: str, certificate_file: str, key_file: str, mutual: bool) -> ssl.SSLContext:
    """Asks for certificates and does without: whether a request needs one depends on its path.

    Raises:
      OSError: if a file cannot be used; ``ssl.SSLError`` is one.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate_file, key_file)
    made.load_verify_locations(ca_file)
    made.verify_mode = ssl.CERT_OPTIONAL if mutual else ssl.CERT_NONE
    return made


def _shown(authorization: str) -> bytes:
    """The token in a header: a bearer's, or a password."""
    scheme, _, value = authorization.strip().partition(" ")
    match scheme.lower():
        case "bearer":
            return value.strip().encode()
        case "basic":
            try:
                return base64.b64decode(value, validate=True).partition(b":")[2]
            except binascii.Error:
                return b""
        case _:
            return b""
