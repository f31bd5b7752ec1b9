"""Steering: what a dispatcher decides by taste — how much is leased at a time, and which lanes go to other workers.

Nothing here can break a promise: a lease is journalled before it is said, and a lane that moves is fenced and run
again as after a crash. So these are questions to an object, which research may replace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from tfsvc.protocol.ids import Instant
from tfsvc.record import record

PARTS_MAX: Final = 16
"""A lease is no smaller than such a part of what is wanted: where less is left, leasing takes longer than reading.

What is wanted before a worker knows how fast it is counts as this many, so that then nobody gets more than one of the
last splits.
"""


@record
class LeaseQuestion:
    """A lane asks for splits of a source.

    Attributes:
      worker: the address of the lane's worker.
      wanted: how many the worker would like, by how fast it used up its last ones.
      held: how many the lane holds that its reader has not gone past.
      left: how many were handed to nobody yet; ``None``: there is no end.
      total: how many the source has; ``None``: there is no end.
      sharers: how many lanes share the source.
    """

    worker: str
    wanted: int
    held: int
    left: int | None
    total: int | None
    sharers: int


@record
class LaneReport:
    """How one lane gets on.

    Attributes:
      held: splits that it holds and that its reader has not gone past.
      taken: elements that its reader has taken.
      attempt: how often it has moved, and one.
      since: when it came to its worker, as far as this life of the dispatcher knows.
      taken_since: how many elements had been taken then.
    """

    lane_id: int
    worker: str
    reader: int
    held: int
    taken: int
    attempt: int
    since: Instant
    taken_since: int


@record
class Situation:
    """How the lanes of one iteration get on.

    Attributes:
      lanes: those that are not done, in order of creation.
      idle: workers that are in reach and have none.
      exhausted: whether all splits were handed out.
    """

    now: Instant
    lanes: Sequence[LaneReport]
    idle: Sequence[str]
    exhausted: bool


@record
class Shift:
    """A lane is to go on at another worker."""

    lane_id: int
    worker: str


class Steering(Protocol):
    """Answers by its arguments and what it remembers of earlier ones; it draws no luck and reads no clock."""

    @property
    def every_ns(self) -> int:
        """How often ``shifts`` is asked for; 0 for never."""
        ...

    def lease(self, question: LeaseQuestion) -> int:
        """How many splits to lease; at least one is, and no more than are left."""
        ...

    def shifts(self, situation: Situation) -> Iterable[Shift]:
        """Lanes to move. One that is done by now, or whose worker is gone, is passed over."""
        ...


class Guided:
    """Fewer splits as fewer are left, so that all lanes end together; lanes move when their worker is lost."""

    every_ns = 0

    def lease(self, question: LeaseQuestion) -> int:
        return guided(question.wanted, question.left, question.sharers)

    def shifts(self, situation: Situation) -> Iterable[Shift]:
        return ()


def guided(wanted: int, left: int | None, sharers: int) -> int:
    """What is wanted, but less when little is left for all who share it; down to a part of it, or one."""
    if left is None or sharers <= 1:
        return wanted
    return min(wanted, max(left // (2 * sharers), wanted // PARTS_MAX))
