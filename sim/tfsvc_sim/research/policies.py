"""The built-in policies, from the simplest to those that help each other out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.splits import Span
from tfsvc.protocol.steering import LaneReport, LeaseQuestion, Shift, Situation
from tfsvc_sim.research.policy import Policy
from tfsvc_sim.research.source import Source, cut_into


class Static(Policy):
    """Everybody gets the same share at the beginning, as static sharding does."""

    def lease(self, question: LeaseQuestion) -> int:
        if question.total is None:
            return question.wanted
        return -(-question.total // question.sharers)


class OneByOne(Policy):
    """Everybody gets the next split when it has done the last, as TensorFlow's DYNAMIC does."""

    def lease(self, question: LeaseQuestion) -> int:
        return 1


class Guided(Policy):
    """The service's own: groups that get smaller towards the end."""


class LargestFirst(OneByOne):
    """The largest files first, so that none of them begins when the others end."""

    def splits(self, source: Source, workers: int) -> Sequence[Span]:
        return sorted(source.spans(), key=lambda span: (-span.size, span.lo))


class Pieces(OneByOne):
    """Files are cut into pieces of ``size`` elements at the most."""

    size: int = 64

    def splits(self, source: Source, workers: int) -> Sequence[Span]:
        return list(cut_into(source.spans(), self.size))


def pieces_of(size: int) -> type[Policy]:
    """``Pieces`` of another size, under a name of its own."""
    return type(f"PiecesOf{size}", (Pieces,), {"size": size})


class Stealing(Pieces):
    """Who finds nothing left takes over the lane of whoever holds most pieces.

    A lane moves whole: it is run again at the thief from its last checkpoint, and its reader passes over what it has.
    So files are cut, only what is left at the end is stolen, and no lane is stolen for ever.
    """

    every_ns = 200 * MILLISECOND
    settled_ns: Final = SECOND
    """How long a lane must have been where it is."""

    def shifts(self, situation: Situation) -> Iterable[Shift]:
        if not situation.exhausted:
            return
        settled = [lane for lane in situation.lanes if situation.now - lane.since >= self.settled_ns]
        victims = sorted(settled, key=lambda lane: (-lane.held, lane.lane_id))
        yield from _to(situation.idle, victims)


class Speculative(OneByOne):
    """Lanes that are far slower than most are run again at workers that have nothing to do.

    As in MapReduce, but the slow attempt is given up where the new one begins, since only one may lease splits.
    """

    every_ns = 200 * MILLISECOND
    slower: Final = 2.0
    """How many times slower than the fastest seen a lane must be."""
    watched_ns: Final = SECOND
    """How long a lane must have been seen."""

    def __init__(self) -> None:
        self._fastest = 0.0

    def shifts(self, situation: Situation) -> Iterable[Shift]:
        seen = [lane for lane in situation.lanes if situation.now - lane.since >= self.watched_ns]
        paces = {lane.lane_id: _pace(lane, situation) for lane in seen}
        self._fastest = max(self._fastest, *paces.values(), 0.0)
        slow = [lane for lane in seen if paces[lane.lane_id] * self.slower <= self._fastest]
        yield from _to(situation.idle, sorted(slow, key=lambda lane: (paces[lane.lane_id], lane.lane_id)))


ATTEMPTS_MAX: Final = 3
"""A lane that has moved so often is left where it is: it may be the data that is slow."""


def _to(idle: Sequence[str], lanes: Sequence[LaneReport]) -> Iterable[Shift]:
    """One lane to each idle worker, of those that have not moved too often."""
    free = [lane for lane in lanes if lane.attempt < ATTEMPTS_MAX]
    return [Shift(lane.lane_id, worker) for worker, lane in zip(idle, free, strict=False)]


def _pace(lane: LaneReport, situation: Situation) -> float:
    """Elements a second since it came to its worker."""
    return (lane.taken - lane.taken_since) * SECOND / max(1, situation.now - lane.since)


POLICIES: Final[dict[str, type[Policy]]] = {
    policy.__name__: policy for policy in (Static, OneByOne, Guided, LargestFirst, Pieces, Stealing, Speculative)
}
"""By name."""
