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


class Stealing(Static):
    """Everybody gets a share at the beginning, and who has nothing left takes over the lane of whoever has most.

    A lane moves whole: it is run again at the thief from its last checkpoint, and its reader passes over what it has.
    So a theft pays only if the victim would need longer for what it holds, which ``worth`` asks of its pace.
    """

    every_ns = 200 * MILLISECOND
    splits_min: Final = 2
    worth_ns: Final = SECOND

    def shifts(self, situation: Situation) -> Iterable[Shift]:
        if not situation.exhausted and not situation.idle:
            return
        victims = sorted(situation.lanes, key=lambda lane: (-lane.held, lane.lane_id))
        for thief, lane in zip(situation.idle, victims, strict=False):
            if lane.held >= self.splits_min and situation.now - lane.since >= self.worth_ns:
                yield Shift(lane.lane_id, thief)


class Speculative(Guided):
    """Lanes that are far slower than most are run again at workers that have nothing to do.

    As in MapReduce, but the slow attempt is given up where the new one begins, since only one may lease splits.
    """

    every_ns = 200 * MILLISECOND
    slower: Final = 2.0
    """How many times slower than the median a lane must be."""
    watched_ns: Final = SECOND
    """How long a lane must have been seen."""

    def shifts(self, situation: Situation) -> Iterable[Shift]:
        if not situation.idle:
            return
        paces = sorted(_pace(lane, situation) for lane in situation.lanes)
        median = paces[len(paces) // 2] if paces else 0.0
        slow = [
            lane
            for lane in situation.lanes
            if situation.now - lane.since >= self.watched_ns and _pace(lane, situation) * self.slower <= median
        ]
        if len(situation.lanes) <= len(situation.idle):
            # Most are done: whoever still works is slow.
            slow = [lane for lane in situation.lanes if situation.now - lane.since >= 2 * self.watched_ns]
        for worker, lane in zip(situation.idle, sorted(slow, key=lambda lane: lane.lane_id), strict=False):
            if lane.attempt <= ATTEMPTS_MAX:
                yield Shift(lane.lane_id, worker)


ATTEMPTS_MAX: Final = 3
"""A lane that has moved so often is left where it is: it may be the data that is slow."""


def _pace(lane: LaneReport, situation: Situation) -> float:
    """Elements a second since it came to its worker."""
    return (lane.taken - lane.taken_since) * SECOND / max(1, situation.now - lane.since)


POLICIES: Final[dict[str, type[Policy]]] = {
    policy.__name__: policy for policy in (Static, OneByOne, Guided, LargestFirst, Pieces, Stealing, Speculative)
}
"""By name."""
