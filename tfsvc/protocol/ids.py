"""Identities, addresses and instants: the nouns that every message is made of."""

from __future__ import annotations

from typing import Final, NamedTuple, NewType

Address = NewType("Address", str)
"""Where a node is reached: ``host:port`` on a network, a plain name in a simulation."""

Incarnation = NewType("Incarnation", int)
"""Which life of a node speaks: a restart has another one."""

Instant = int
"""Nanoseconds on a node's own monotonic clock."""

NEVER: Final[Instant] = 2**63 - 1

MILLISECOND: Final = 1_000_000
SECOND: Final = 1_000_000_000


class CallId(NamedTuple):
    """A call's name: who asked, in which life, and the how-many-th call of that life."""

    node: str
    incarnation: int
    seq: int
