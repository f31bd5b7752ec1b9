"""Facts are gathered: names resolved, connections tried, nodes asked. Nothing is changed by it."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Final

from tfsvc.errors import Code, OpError
from tfsvc.protocol import messages as m
from tfsvc.service.backend import backend
from tfsvc.service.config import split_target
from tfsvc.service.controlling import describe
from tfsvc.service.discovery import resolve
from tfsvc_transports.about import about_node
from tfsvc_transports.doctor.facts import Facts, Peer, Reach

WORKERS_MAX: Final = 64
"""So many workers are looked at."""
TOGETHER: Final = 16


def gather(dispatcher: str | None, ports: Sequence[int], timeout_s: float) -> Facts:
    """All that can be found out in about three times ``timeout_s``.

    Args:
      dispatcher: whose cluster is looked at; ``None`` for this machine alone.
      ports: which a server is to bind here.

    Raises:
      ValueError: if the address is none.
      OpError: if it says where to look for one, and none is there.
    """
    facts = Facts(
        here=about_node(),
        environment=dict(os.environ),
        localhost=_resolved("localhost", "0")[0],
        wanted=tuple(ports),
        taken={port: reason for port in ports if (reason := _taken(port))},
    )
    if dispatcher is None:
        return facts
    protocol, address = split_target(dispatcher)
    address = resolve(address)
    log = logging.getLogger("tfsvc")
    level = log.level
    log.setLevel(logging.CRITICAL)  # what cannot be reached is told as a finding
    try:
        found = _look(Peer("dispatcher", address), protocol, timeout_s)
        if Reach.OPEN not in found.reached.values():
            return replace(facts, dispatcher=found)
        try:
            description = describe(dispatcher, timeout=timeout_s)
        except OpError as error:
            return replace(facts, dispatcher=replace(found, error=error.message, code=_code(error)))
        workers = [Peer("worker", each.address) for each in description.workers[:WORKERS_MAX]]
        with ThreadPoolExecutor(TOGETHER) as pool:
            seen = tuple(pool.map(lambda peer: _look(peer, protocol, timeout_s), workers))
        return replace(facts, dispatcher=found, description=description, workers=seen)
    finally:
        log.setLevel(level)


def _look(peer: Peer, protocol: str, timeout_s: float) -> Peer:
    addresses, problem = _resolved(peer.host, peer.port)
    reached = {address: _connect(address, int(peer.port), timeout_s) for address in addresses}
    peer = replace(peer, unresolved=problem, reached=reached)
    if Reach.OPEN not in reached.values():
        return peer
    began = time.time_ns()
    try:
        answer = backend(protocol).ask(peer.address, m.AboutNodeRequest(), int(timeout_s * 1e9))
    except OpError as error:
        return replace(peer, error=error.message, code=_code(error))
    assert isinstance(answer, m.AboutNodeResponse)
    ended = time.time_ns()
    return replace(peer, about=answer, ahead_ns=answer.time_ns - (began + ended) // 2, trip_ns=ended - began)


def _code(error: OpError) -> str:
    return Code(error.error_code).name


def _resolved(host: str, port: str) -> tuple[tuple[str, ...], str]:
    """The numeric addresses of a name, or why there are none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return (), str(error)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found)), ""


def _connect(address: str, port: int, timeout_s: float) -> Reach:
    try:
        with closing(socket.create_connection((address, port), timeout_s)):
            return Reach.OPEN
    except ConnectionRefusedError:
        return Reach.REFUSED
    except TimeoutError:
        return Reach.SILENT
    except OSError:
        return Reach.NO_WAY


def _taken(port: int) -> str:
    """Why a port of this machine cannot be bound; nothing if it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            return error.strerror or str(error)
    return ""
