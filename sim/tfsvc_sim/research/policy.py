"""Policies: how data is cut into splits and ordered, how it is leased, and who takes over whose work.

To try an idea, write a class with what is different, and give it to an experiment:

    class Halves(Policy):
        def lease(self, question: LeaseQuestion) -> int:
            return (question.left or question.wanted) // 2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfsvc.protocol.splits import Span
from tfsvc.protocol.steering import LeaseQuestion, Shift, Situation, guided
from tfsvc_sim.research.source import Source


class Policy:
    """What the service does by itself. Subclasses answer one question or another in another way.

    The dispatcher asks ``lease`` and ``shifts``, see ``tfsvc.protocol.steering``; each of its lives has a policy object
    of its own. Policies draw no luck, and read no clock but the times that they are told.
    """

    every_ns: int = 0
    """How often ``shifts`` is asked for; 0 for never."""

    def splits(self, source: Source, workers: int) -> Sequence[Span]:
        """The elements of each split, in the order in which splits are leased; by default a split is a file."""
        return source.spans()

    def lease(self, question: LeaseQuestion) -> int:
        """How many splits a lane gets; by default what it wants, but less when little is left for all."""
        return guided(question.wanted, question.left, question.sharers)

    def shifts(self, situation: Situation) -> Iterable[Shift]:
        """Lanes that should go on elsewhere; by default none as long as their workers live."""
        return ()
