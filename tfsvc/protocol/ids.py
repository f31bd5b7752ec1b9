"""Identities, addresses and instants: the nouns that every message is made of."""

from __future__ import annotations

from typing import Final, NamedTuple, NewType

DatasetId = NewType("DatasetId", str)
JobId = NewType("JobId", int)
IterationId = NewType("IterationId", int)
ClientId = NewType("ClientId", int)
"""TensorFlow's ``iteration_client_id``: one reader of one iteration."""
TaskId = NewType("TaskId", int)
LaneId = NewType("LaneId", int)
"""One worker's output for one consumer of a DYNAMIC iteration; see ``protocol/dispatcher/lanes.py``."""

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
