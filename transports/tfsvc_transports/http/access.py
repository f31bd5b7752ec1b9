"""Who may look: the token or the certificate that calls need is needed here, too.

A browser asks its user for the token, as the password for any name; scrapers send it as a bearer. Whether a node is
well may be asked by anybody who reaches the port, since probes of Kubernetes show neither.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

OPEN: Final = ("/healthz", "/readyz")
"""The paths that anybody may ask for."""
CHALLENGE: Final = 'Basic realm="tfsvc: the token is the password", charset="UTF-8"'


@dataclass(frozen=True)
class Access:
    """What is asked of those who look.

    Attributes:
      token: that they show it; ``None`` for none.
      tls: encrypts the port; ``None`` leaves it open to read.
      certificates: whether they need a certificate, for which ``tls`` asks.
    """

    token: str | None = None
    tls: ssl.SSLContext | None = None
    certificates: bool = False

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
