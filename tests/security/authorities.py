"""Certificates and tokens for tests, made as they run."""

from __future__ import annotations

import secrets
from pathlib import Path

import trustme

from tfsvc.service.security import Security

NAMES = ("localhost", "127.0.0.1", "::1")


def authority(folder: Path, name: str, *names: str) -> Security:
    """A node with a certificate of an authority of its own, valid for ``names``, or else for this machine."""
    maker = trustme.CA()
    maker.cert_pem.write_to_path(str(folder / f"{name}.ca"))
    issue(maker, folder, name, *names)
    return Security(*(str(folder / f"{name}.{kind}") for kind in ("ca", "crt", "key")), token_file="")


def issue(maker: trustme.CA, folder: Path, name: str, *names: str) -> None:
    """Writes a certificate and its key."""
    made = maker.issue_cert(*(names or NAMES))
    made.private_key_pem.write_to_path(str(folder / f"{name}.key"))
    (folder / f"{name}.crt").write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))


def token_file(folder: Path, name: str) -> str:
    """A file with a new token."""
    path = folder / f"{name}.token"
    path.write_text(secrets.token_hex(32) + "\n")
    return str(path)
