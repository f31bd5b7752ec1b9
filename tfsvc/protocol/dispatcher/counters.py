"""What a life of the dispatcher counts, for people alone: no rule looks at it."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.messages.description import Consumption, Tally


@dataclass(slots=True)
class Counters:
    """Attributes: ``gone`` is what the readers took that are not there any more."""

    leases: int = 0
    splits: int = 0
    moves: int = 0
    splits_again: int = 0
    workers_lost: int = 0
    readers_lost: int = 0
    gone: Consumption = Consumption()

    def note(self, state: DispatcherState, update: u.Update) -> None:
        """An update is about to be applied to ``state``."""
        match update:
            case u.LeaseSplits(lease=lease) | s.LeaseToStream(lease=lease):
                self.leases += 1
                self.splits += lease.size
            case u.MoveLane(lane_id) | u.RepeatLane(lane_id):
                self.moves += 1
                self.splits_again += state.lanes[lane_id].held
            case s.MoveStream(lane_id):
                self.moves += 1
                self.splits_again += sum(lease.size for lease in state.snapshots.streams[lane_id].leases.values())
            case u.LoseWorker():
                self.workers_lost += 1
            case _:
                pass

    def left(self, consumption: Consumption | None) -> None:
        """A reader is gone that had taken this."""
        if consumption is not None:
            self.gone += consumption

    def tally(self, present: list[Consumption]) -> Tally:
        """All that was counted; ``present``: what the readers took that are there."""
        total = sum(present, self.gone)
        return Tally(
            leases=self.leases,
            splits=self.splits,
            moves=self.moves,
            splits_again=self.splits_again,
            workers_lost=self.workers_lost,
            readers_lost=self.readers_lost,
            elements=total.elements,
            bytes=total.bytes,
            discarded=total.discarded,
            missed=total.missed,
            waited_ns=total.waited_ns,
        )
