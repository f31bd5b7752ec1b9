"""Where a consumer of an ordered job stands: the part of a resume token that the service knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tfsvc.data.tokens import Position
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.messages import LanePlace, OrderDef

STATES_BYTES_MAX: Final = 8 << 10
"""How much a token holds of pipelines' states."""


@dataclass(frozen=True)
class ServicePosition(Position):
    """Attributes:
    epoch: which pass over the job.
    lanes: among how many lanes its splits are dealt.
    block: how many splits at a time.
    seed: of the job's luck.
    consumer: which of the job's consumers stands there, and ``consumers`` of how many; ``None`` for all of them.
    places: of the lanes it has read of.
    made_up: how many elements it was given beyond its own.
    """

    epoch: int
    lanes: int
    block: int
    seed: int
    consumer: int | None
    consumers: int
    places: tuple[LanePlace, ...]
    made_up: int = 0

    def merge(self, others: Sequence[Any]) -> ServicePosition:
        every = [self, *others]
        if any(type(other) is not ServicePosition for other in every):
            raise InvalidArgumentError(message="The states are of different pipelines.")
        if len({(p.epoch, p.lanes, p.block, p.seed, p.consumers) for p in every}) > 1:
            raise InvalidArgumentError(
                message="The states are not of one step of one job: "
                + "; ".join(f"epoch {p.epoch} of {p.lanes} lanes, {p.consumers} consumers" for p in every)
            )
        given = sorted(p.consumer for p in every if p.consumer is not None)
        if given != list(range(self.consumers)) and not (len(every) == 1 and self.consumer is None):
            raise InvalidArgumentError(
                message=f"The job had {self.consumers} consumers, and the states given are of consumers {given}; "
                "give the state of each of them once."
            )
        places = tuple(sorted((place for p in every for place in p.places), key=lambda place: place.index))
        return ServicePosition(self.epoch, self.lanes, self.block, self.seed, None, self.consumers, places)

    def fits(self, order: OrderDef, consumer: int, consumers: int) -> None:
        """Whether a consumer of a job of that order can go on from here.

        Raises:
          InvalidArgumentError: if it cannot.
        """
        if (self.lanes, self.block, self.seed) != (order.lanes, order.block, order.seed):
            raise InvalidArgumentError(
                message=f"The state was made with lanes={self.lanes}, seed={self.seed} and blocks of {self.block}; "
                f"this dataset is distributed with lanes={order.lanes}, seed={order.seed} and blocks of {order.block}."
            )
        if self.consumer is not None and (self.consumer, self.consumers) != (consumer, consumers):
            raise InvalidArgumentError(
                message=f"The state is of consumer {self.consumer} of {self.consumers}, and this is consumer "
                f"{consumer} of {consumers}. To resume with another number of consumers, give load_state_dict() the "
                f"states of all {self.consumers} as a list."
            )


def trim(places: Sequence[LanePlace]) -> tuple[LanePlace, ...]:
    """The same places in few bytes: without the largest states of pipelines, whose lanes then begin farther back."""
    kept = sorted(places, key=lambda place: len(place.checkpoint.state))
    total, found = 0, []
    for place in kept:
        total += len(place.checkpoint.state)
        found.append(place if total <= STATES_BYTES_MAX else LanePlace(place.index, place.ordinal))
    return tuple(sorted(found, key=lambda place: place.index))
