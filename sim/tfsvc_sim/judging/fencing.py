"""Fencing: an oracle on the network that a worker whose lane runs elsewhere gets no more splits for it."""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import LeaseSplitsRequest, OpenLaneRequest
from tfsvc_sim.kernel.rules import PASS, Fate, Packet


class Fencing:
    """A rule that lets everything pass, and remembers which attempt of each lane has begun.

    Once a later attempt was told to begin, whatever an older one asks must be refused. What it asked before may still
    be answered.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._begun: dict[int, int] = {}
        self._asked: dict[CallId, tuple[int, int, bool]] = {}

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        match packet.body:
            case OpenLaneRequest(lane_id, attempt) | LeaseSplitsRequest(lane_id, attempt):
                late = self._begun.get(lane_id, attempt) > attempt
                self._asked[packet.call] = lane_id, attempt, late
            case RpcError():
                pass
            case _ if not packet.asks and packet.call in self._asked:
                self._answered(*self._asked[packet.call])
        return PASS

    def _answered(self, lane_id: int, attempt: int, late: bool) -> None:
        newest = self._begun[lane_id] = max(attempt, self._begun.get(lane_id, attempt))
        if late:
            self.problems.append(f"attempt {attempt} of lane {lane_id} was given splits although {newest} had begun")
