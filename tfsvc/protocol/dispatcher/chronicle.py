"""The chronicle: what happened lately, told to people alone. No rule looks at it.

It is read off the updates, which say all that a dispatcher decides, and off its notes. What one step does many times
over, as when fifty lanes of a lost worker move, is told once.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import About
from tfsvc.protocol.dispatcher.entities import Iteration, Job, Lane
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.ids import Instant
from tfsvc.protocol.messages.chronicle import Happening

KEPT_MAX: Final = 1000
NOTES_MAX: Final = 5
"""How many notes of one step are told one by one."""
NAMES_MAX: Final = 3
"""How many names a text lists."""


@dataclass(slots=True)
class _Move:
    """Lanes of an iteration that go from one worker, or reader, to others in one step."""

    job: Job
    lanes: int = 0
    splits: int = 0
    begun: int = 0
    """How many of the lanes had been with somebody before."""
    targets: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Chronicle:
    """The newest happenings, each with its time; behind them what the step at hand has brought about so far."""

    _kept: deque[tuple[Instant, Happening]] = field(default_factory=lambda: deque(maxlen=KEPT_MAX))
    _number: int = 0
    _elements: dict[int, int] = field(default_factory=dict)
    """By iteration: how many elements readers took that are gone."""
    _over: dict[int, None] = field(default_factory=dict)
    """Iterations of which it was told that they are over."""
    _told: list[tuple[str, str, str, str]] = field(default_factory=list)
    _notes: int = 0
    _moves: dict[tuple[int, str], _Move] = field(default_factory=dict)
    _lost: dict[str, None] = field(default_factory=dict)

    def note(self, state: DispatcherState, update: u.Update) -> None:
        """An update is about to be applied to ``state``."""
        match update:
            case u.LeaseSplits() | u.AdvanceLane() | u.SaveCheckpoint():
                pass  # nearly all updates are one of these
            case u.RegisterWorker(address):
                text = f"worker {address} {'was started again' if address in self._lost else 'is here'}"
                self._lost.pop(address, None)
                self._tell("worker", text, worker=address)
            case u.LoseWorker(address):
                self._lost[address] = None
            case u.AcquireClient(iteration_id, client_id):
                job = state.job_of(state.iterations[iteration_id])
                self._tell("reader", f"reader {client_id} of {_name(job)} is here", job)
            case u.ReleaseClient(client_id):
                job = state.job_of(state.iterations[state.clients[client_id]])
                self._tell("reader", f"reader {client_id} of {_name(job)} has left", job)
            case u.CreateIteration(_, job_id, repetition):
                job = state.jobs[job_id]
                self._tell("pass", f"pass {repetition} over {_name(job)} begins", job)
            case u.FinishIteration(iteration_id):
                iteration = state.iterations[iteration_id]
                self.over(iteration, state.job_of(iteration), 0)
                self._forget(iteration_id)
            case u.CollectIteration(iteration_id):
                iteration = state.iterations[iteration_id]
                job = state.job_of(iteration)
                self._forget(iteration_id)
                self._tell("pass", f"pass {iteration.repetition} over {_name(job)} is dropped: nobody reads it", job)
            case u.FinishTask(task_id, True):
                task = state.tasks[task_id]
                job = state.job_of(state.iterations[task.iteration_id])
                if not job.has_lanes:
                    text = f"what worker {task.worker_address} still had to give of {_name(job)} is gone"
                    self._tell("loss", text, job, task.worker_address)
            case u.MoveLane(lane_id, _, task_id, client_id) | u.RepeatLane(lane_id, _, task_id, client_id):
                self._move(state, state.lanes[lane_id], task_id, client_id)
            case u.DropLane(lane_id):
                lane = state.lanes[lane_id]
                job = state.job_of(state.iterations[lane.iteration_id])
                text = f"{_count(lane.held, 'split')} of {_name(job)} are given up, since it delivers at most once"
                self._tell("loss", text, job)
            case s.RegisterSnapshot(path):
                self._tell("note", f"a snapshot at {path} is wanted")
            case _:
                pass

    def say(self, level: str, text: str, about: About) -> None:
        """The dispatcher says something to people."""
        self._notes += 1
        if self._notes <= NOTES_MAX:
            self._told.append(("note" if level == "info" else "warning", text, about.job, about.worker))

    def again(self, job: Job, client_id: int, count: int) -> None:
        """A reader passed over elements that it had already."""
        were = "was" if count == 1 else "were"
        text = f"{_count(count, 'element')} came again to reader {client_id} of {_name(job)} and {were} passed over"
        self._tell("again", text, job)

    def left(self, iteration_id: int, elements: int) -> None:
        """A reader is gone that had taken so many elements."""
        self._elements[iteration_id] = self._elements.get(iteration_id, 0) + elements

    def over(self, iteration: Iteration, job: Job, elements: int) -> None:
        """There is nothing more in a pass, of which the readers that are there took so many; told once."""
        if iteration.id in self._over or iteration.finished:
            return
        self._over[iteration.id] = None
        taken = self._elements.get(iteration.id, 0) + elements
        whole = f"pass {iteration.repetition} over {_name(job)} was read to its end: {_count(taken, 'element')} taken"
        missing = _missing(iteration, job)
        again = f"; {_count(iteration.leased_again, 'split')} had gone to others" if iteration.leased_again else ""
        if missing:
            self._tell("loss", f"{whole}; {missing}", job)
        else:
            self._tell("end", f"{whole}, nothing lost{again}", job)

    def settle(self, now: Instant) -> None:
        """A step is over: what it brought about is told."""
        if not (self._told or self._moves or self._lost or self._notes):
            return
        for address in self._lost:
            self._tell("lost", f"worker {address} is given up", worker=address)
        for (_, source), move in self._moves.items():
            self._tell("moved" if move.begun else "note", _moved(source, move), move.job)
        if self._notes > NOTES_MAX:
            self._tell("warning", f"{self._notes - NOTES_MAX} more notes like these")
        for kind, text, job, worker in self._told:
            self._number += 1
            self._kept.append((now, Happening(self._number, 0, kind, text, job, worker)))
        self._told, self._moves, self._lost, self._notes = [], {}, {}, 0

    def behind(self, number: int, now: Instant) -> tuple[tuple[Happening, ...], int]:
        """Those with higher numbers, the oldest first, and how many of them are not kept any more."""
        number = max(0, number)  # a peer may ask for anything
        first = self._kept[0][1].number if self._kept else self._number + 1
        found = [
            Happening(told.number, now - at, told.kind, told.text, told.job, told.worker)
            for at, told in self._kept
            if told.number > number
        ]
        return tuple(found), max(0, first - 1 - number)

    def _tell(self, kind: str, text: str, job: Job | None = None, worker: str = "") -> None:
        self._told.append((kind, text, "" if job is None else job.label, worker))

    def _move(self, state: DispatcherState, lane: Lane, task_id: int, client_id: int) -> None:
        before, after = state.tasks.get(lane.task_id), state.tasks.get(task_id)
        if task_id == lane.task_id and client_id == lane.client_id:
            source, target = "", "" if after is None else f"{after.worker_address} once more"
        elif task_id == lane.task_id:
            source, target = f"reader {lane.client_id}", f"reader {client_id}"
        else:
            source = "" if before is None else f"worker {before.worker_address}"
            target = "" if after is None else f"worker {after.worker_address}"
        key = lane.iteration_id, source
        job = state.job_of(state.iterations[lane.iteration_id])
        move = self._moves.setdefault(key, _Move(job))
        move.lanes += 1
        move.splits += lane.held
        move.begun += bool(before is not None or lane.held)
        if target:
            move.targets[target] = None

    def _forget(self, iteration_id: int) -> None:
        self._elements.pop(iteration_id, None)
        self._over.pop(iteration_id, None)


def _missing(iteration: Iteration, job: Job) -> str:
    """What readers did not get of a pass; empty for nothing."""
    if iteration.lost_shards:
        return f"{iteration.lost_shards} of {iteration.shards} shards were given up"
    if iteration.given_up:
        return f"{_count(iteration.given_up, 'split')} were given up with their workers"
    if iteration.lost_tasks and not job.has_lanes:
        return f"what {_count(iteration.lost_tasks, 'worker')} still had is missing"
    return ""


def _moved(source: str, move: _Move) -> str:
    """Where lanes went, and what they took along."""
    names = [*move.targets][:NAMES_MAX]
    more = len(move.targets) - len(names)
    where = ", ".join(names) + (f" and {more} more" if more > 0 else "")
    text = f"{_count(move.lanes, 'lane')} of {_name(move.job)} {'goes' if move.lanes == 1 else 'go'}"
    text += (f" from {source}" if source else "") + (f" to {where}" if where else " to whoever comes")
    if move.splits:
        text += f", with {_count(move.splits, 'split')} not all taken"
    return text


def _name(job: Job) -> str:
    return f"job {job.label}" if job.label else "a job without a name"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
