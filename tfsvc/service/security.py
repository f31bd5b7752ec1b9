"""Who may connect, how it is shown, and how much a peer may ask for: one object for servers, readers and commands.

It names files and never holds a secret, so it may be printed, compared and shipped with a dataset. What it leaves open
comes from the environment of the process that uses it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.ids import SECOND

TOKEN_VARIABLE: Final = "TFSVC_TOKEN"
INSECURE_VARIABLE: Final = "TFSVC_INSECURE"
VARIABLES: Final = {
    "ca_file": "TFSVC_TLS_CA",
    "certificate_file": "TFSVC_TLS_CERT",
    "key_file": "TFSVC_TLS_KEY",
    "token_file": "TFSVC_TOKEN_FILE",
}
"""Where each file is named in the environment."""
TOKEN_LENGTH_MIN: Final = 16
"""A shorter token could be guessed."""

_MAKE_ONE: Final = "`python -c 'import secrets; print(secrets.token_hex(32))'` makes one"


@dataclass(frozen=True)
class Limits:
    """How much a server takes of its peers; what goes beyond is refused with ``ResourceExhaustedError``, or cut off.

    Attributes:
      request_bytes: of one request; 512 MiB. Only datasets, graphs and tensors come in requests of more than 16 MiB.
      calls_per_second: of one machine, where as many more may come at once; 20,000. Nodes of tfsvc wait and call
        again. 0 for no limit.
      calls_per_connection: under way at once on one connection; 1,000. More wait at their caller.
      connections: at once; 4,096. More are closed.
      message_s: seconds in which the whole message of a call must come; 60.
      handshake_s: seconds in which a new connection must be made; 10.
      idle_s: seconds after which a connection without calls is closed; 600.
      silence_s: seconds without a sign of life, in the middle of calls, after which a connection is closed; 60.
    """

    request_bytes: int = 512 << 20
    calls_per_second: int = 20_000
    calls_per_connection: int = 1_000
    connections: int = 4_096
    message_s: int = 60
    handshake_s: int = 10
    idle_s: int = 600
    silence_s: int = 60

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least, most = (0, SECOND) if name == "calls_per_second" else (1, (1 << 31) // 1000)
            most = (1 << 31) - 1 if name == "request_bytes" else most
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise InvalidArgumentError(
                    message=f"{name} must be a whole number from {least} to {most}, not {value!r}"
                )


@dataclass(frozen=True)
class Security:
    """How a node shows who it is, and whom it lets in.

    With ``ca_file`` all calls are encrypted: a client trusts only servers with a certificate of that authority, and a
    server lets in only clients that have one, too. With ``token_file`` a server lets in only who has the same token,
    and a client sends it. Both together ask for both.

    What is ``None`` comes from the environment, as ``TFSVC_TLS_CA``, ``TFSVC_TLS_CERT``, ``TFSVC_TLS_KEY``,
    ``TFSVC_TOKEN_FILE`` and ``TFSVC_INSECURE=1``; the token itself may be there too, as ``TFSVC_TOKEN``. An empty text
    stands for none.

    Attributes:
      ca_file: certificates of the authorities that sign this service's, in PEM.
      certificate_file: this node's certificate, and those between it and the authority's, in PEM. It must be valid for
        the name under which others reach the node.
      key_file: its private key, in PEM.
      token_file: the token, at least 16 characters.
      mutual: whether a server asks its clients for certificates; yes. Else TLS hides what is said, and tells clients
        who the server is, but only a token tells who they are.
      insecure: whether to serve other machines without encryption or without knowing who they are, and to send the
        token unencrypted; no.
      limits: how much a server takes.
    """

    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    token_file: str | None = None
    mutual: bool = True
    insecure: bool | None = None
    limits: Limits = field(default_factory=Limits)

    def resolved(self, environment: Mapping[str, str] | None = None) -> Security:
        """The same, with the environment's answer wherever it leaves something open.

        Raises:
          InvalidArgumentError: if one of certificate and key is missing, or their authority.
        """
        given = os.environ if environment is None else environment
        found: dict[str, Any] = {name: given.get(variable) or None for name, variable in VARIABLES.items()}
        found.update((name, getattr(self, name)) for name in VARIABLES if getattr(self, name) is not None)
        insecure = _flag(given.get(INSECURE_VARIABLE, "")) if self.insecure is None else self.insecure
        made = replace(self, **found, insecure=insecure)
        if bool(made.certificate_file) != bool(made.key_file):
            raise InvalidArgumentError(
                message="a certificate and its private key go together, but only one of them is given: "
                f"certificate_file={made.certificate_file!r}, key_file={made.key_file!r}"
            )
        if made.certificate_file and not made.ca_file:
            raise InvalidArgumentError(
                message=f"certificate_file={made.certificate_file!r} is given without the authority that signed it, by "
                "which peers and this node itself know it: give ca_file (TFSVC_TLS_CA)"
            )
        return made

    def token(self) -> str | None:
        """The token, read anew; ``None`` if there is none.

        Raises:
          InvalidArgumentError: if its file cannot be read, or it is no token.
        """
        file = self.resolved().token_file
        if file == "" or (file is None and not os.environ.get(TOKEN_VARIABLE)):
            return None
        if file is None:
            text, where = os.environ[TOKEN_VARIABLE], TOKEN_VARIABLE
        else:
            text, where = read("token_file", file).decode(errors="replace"), f"token_file={file!r}"
        token = text.strip()
        if len(token) < TOKEN_LENGTH_MIN or not token.isascii() or not all("!" <= c <= "~" for c in token):
            raise InvalidArgumentError(
                message=f"{where} holds no token: a token is one line of at least {TOKEN_LENGTH_MIN} letters, digits "
                f"and signs; {_MAKE_ONE}"
            )
        return token

    def shown(self) -> tuple[str, str, str] | None:
        """The files of a server with TLS: authority, certificate and key; ``None`` for one without.

        Raises:
          InvalidArgumentError: if there is an authority, but no certificate to show.
        """
        if not self.ca_file:
            return None
        if not self.certificate_file or not self.key_file:
            raise InvalidArgumentError(
                message="a server with ca_file is asked with TLS, and needs a certificate to show: give "
                "certificate_file and key_file (TFSVC_TLS_CERT, TFSVC_TLS_KEY)"
            )
        return self.ca_file, self.certificate_file, self.key_file

    def environment(self) -> dict[str, str]:
        """What lets a child process come to the same, but for ``mutual`` and ``limits``."""
        files = {VARIABLES[name]: getattr(self, name) for name in VARIABLES if getattr(self, name) is not None}
        return files if self.insecure is None else {**files, INSECURE_VARIABLE: "1" if self.insecure else "0"}

    def missing(self) -> str:
        """What a server lacks to be reached by other machines; nothing if it lacks nothing.

        Raises:
          InvalidArgumentError: as :meth:`token` and :meth:`resolved`.
        """
        whole = self.resolved()
        lacks = []
        if not whole.certificate_file:
            lacks.append("nothing is encrypted (certificate_file, key_file)")
        if not (whole.certificate_file and whole.mutual) and whole.token() is None:
            lacks.append("nobody has to show who they are (ca_file for certificates of clients, or token_file)")
        return " and ".join(lacks)


def read(what: str, file: str) -> bytes:
    """A file that is named in a :class:`Security`.

    Raises:
      InvalidArgumentError: if it cannot be read.
    """
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise InvalidArgumentError(
            message=f"cannot read {what}={file!r}: {error.strerror}. Nothing is served or asked without it; mend it, "
            "or name another file"
        ) from error


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``."""
    name = host.strip("[]")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def check_host(host: str, security: Security, setting: str = "host") -> None:
    """Refuses to serve strangers by accident.

    Args:
      setting: what ``host`` was given as.

    Raises:
      InvalidArgumentError: for an interface that others reach, without credentials or ``insecure``; if what
        ``security`` names cannot be used.
    """
    missing = security.missing()
    if missing and not is_loopback(host) and not security.resolved().insecure:
        raise InvalidArgumentError(
            message=f"{setting}={host!r} lets other machines connect, and {missing}. Bind the loopback interface, give "
            "Security(...) with what is missing, or say insecure=True (TFSVC_INSECURE=1) where the network is trusted."
        )


def _flag(text: str) -> bool:
    return text.lower() not in ("", "0", "false", "no")
