"""The roster: which lanes and tasks readers are told of, kept ready as long as nothing about them changes.

A dispatcher hears a heartbeat from every reader every second, and a lane or task changes now and then. So it counts
the changes as they are recorded; what was worked out at the same count still holds, and work for one reader
does not grow with the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.state import DispatcherState

T = TypeVar("T")

_ROUTINE: Final = (u.LeaseSplits, u.SaveCheckpoint, u.ProduceSplit, u.CountConsumer)
"""Updates that change no list of lanes or tasks."""
_OF_TASKS: Final = (u.CreateTask, u.FinishTask, u.PromoteTask, u.RemoveTask, u.RegisterWorker, u.LoseWorker)


@dataclass(slots=True)
class Roster:
    """Counts changes, and keeps what was worked out between two of them.

    Attributes:
      changes: of anything that decides who should have which lane.
      task_changes: of any task or worker.
    """

    changes: int = 0
    task_changes: int = 0
    tasks: dict[int, tuple[int, tuple[m.TaskInfo, ...]]] = field(default_factory=dict)
    """By iteration: what its readers are told of its tasks."""
    lanes: dict[int, tuple[m.LaneInfo, ...]] = field(default_factory=dict)
    """By reader: what it is told of its lanes."""
    arranged: dict[int, int] = field(default_factory=dict)
    """By iteration: the count of changes at which its lanes were last arranged."""
    foreign: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """By iteration: whether TensorFlow has a part in it."""
    _lanes_of: dict[int, dict[int, None]] | None = None

    def lanes_of(self, state: DispatcherState, client_id: int) -> dict[int, None]:
        """A reader's lanes."""
        if self._lanes_of is None:
            self._lanes_of = {}
            for lane in state.lanes.values():
                self._lanes_of.setdefault(lane.client_id, {})[lane.id] = None
        return self._lanes_of.get(client_id, {})

    def note(self, state: DispatcherState, update: u.Update) -> None:
        """An update is about to be applied to ``state``."""
        if isinstance(update, _ROUTINE):
            return
        match update:
            case u.AdvanceLane():
                if update.done:
                    self._remove(state, update.lane_id)
            case u.OpenLane(lane_id, _, _, client_id):
                self._add(lane_id, client_id)
            case u.MoveLane(lane_id, _, _, client_id) | u.RepeatLane(lane_id, _, _, client_id):
                self._remove(state, lane_id)
                self._add(lane_id, client_id)
            case u.DropLane(lane_id):
                self._remove(state, lane_id)
                self.changes += 1
            case _:
                self.changes += 1
                if isinstance(update, _OF_TASKS):
                    self.task_changes += 1
                elif not isinstance(update, u.AcquireClient):
                    self._forget()

    def _add(self, lane_id: int, client_id: int) -> None:
        self.lanes.pop(client_id, None)
        if self._lanes_of is not None:
            self._lanes_of.setdefault(client_id, {})[lane_id] = None

    def _remove(self, state: DispatcherState, lane_id: int) -> None:
        client_id = state.lanes[lane_id].client_id
        self.lanes.pop(client_id, None)
        if self._lanes_of is not None:
            self._lanes_of.get(client_id, {}).pop(lane_id, None)

    def _forget(self) -> None:
        """Something happened that is rare and may change anything."""
        for known in (self.tasks, self.lanes, self.arranged, self.foreign):
            known.clear()
        self._lanes_of = None
        self.task_changes += 1


def kept(known: dict[int, tuple[int, T]], key: int, count: int, make: Callable[[], T]) -> T:
    """What was made at this count of changes, or is made now."""
    found = known.get(key)
    if found is None or found[0] != count:
        found = known[key] = count, make()
    return found[1]
