"""Coordinated reads as a consumer makes them: one worker after the other, all consumers the same one at the same time.

As TensorFlow's client. A consumer goes through the tasks in the dispatcher's order; each time it comes to the end of
the list the next round begins. Requests are made ahead, at most one to each worker, and answers are handed on in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Backoff
from tfsvc.protocol.client.streams import ELEMENT_TIMEOUT_NS, is_native
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import NEVER, SECOND, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Encoding
from tfsvc.protocol.reading import Batch
from tfsvc.protocol.settings import ClientSettings

REMOVAL_TIMEOUT_NS: Final = 15 * SECOND
"""How long the question may take whether all consumers give a worker up; the dispatcher waits for them for 10 s."""
REMOVE_AFTER: Final = 2
"""Failures in a row after which the other consumers are asked to give the worker up."""


class Task:
    """A worker's part in the rounds."""

    def __init__(self, info: m.TaskInfo, luck: Luck) -> None:
        self.id = info.task_id
        self.address = info.worker_address
        self.starting_round = info.starting_round
        self.native = is_native(info)
        self.ended = False
        self.last_round = 0
        """The round in which it ended, where it has."""
        self.removed = False
        self.lost = False
        self.gone = False
        """Whether the dispatcher says that nothing comes of it any more."""
        self.skipped = False
        """Whether its last round gave nothing."""
        self.slot: Slot | None = None
        self.backoff = Backoff(luck)


class Slot:
    """A place in the order of what is handed on: one task in one round."""

    def __init__(self, task: Task, number: int, farewell: bool = False) -> None:
        self.farewell = farewell
        """Whether it was read to its end, and is to be given up by all that way."""
        self.task = task
        self.round = number
        self.busy = False
        self.failures = 0
        self.next_try: Instant = 0
        self.frame: Frame | None = None
        self.over = False
        """Whether nothing comes of it any more."""

    @property
    def removing(self) -> bool:
        """Whether the next thing to ask is that all consumers give the task up."""
        return self.farewell or (self.failures >= REMOVE_AFTER and self.failures % 2 == 0)


class Rounds:
    """What a consumer asks of which worker in which round, and what it hands on next.

    Args:
      consumer_index: which of the job's consumers it is.
    """

    def __init__(self, settings: ClientSettings, luck: Luck, consumer_index: int) -> None:
        self._settings = settings
        self._luck = luck
        self._consumer = consumer_index
        self._tasks: list[Task] = []
        self._slots: deque[Slot] = deque()
        self._farewells: list[Slot] = []
        self._cursor = 0
        self._round = 0
        self._limit: int | None = None
        self._waiting = False

    @property
    def held(self) -> int:
        """Bytes fetched ahead."""
        return sum(slot.frame.size for slot in self._slots if slot.frame is not None)

    @property
    def expecting(self) -> bool:
        """Whether an answer is on its way that may bring elements."""
        return any(slot.busy for slot in self._slots)

    @property
    def news(self) -> tuple[int, int | None]:
        """The round it is in, and the one before which it has stopped."""
        blocked = self._limit is not None and self._round >= self._limit
        return self._round, self._limit if blocked else None

    @property
    def blocked(self) -> bool:
        """Whether it waits until all consumers have agreed on a round."""
        return self.news[1] is not None

    def next_try(self, now: Instant) -> Instant:
        """When the next slot that failed is to be asked for again."""
        slots = (*self._slots, *self._farewells)
        return min((s.next_try for s in slots if not s.busy and s.next_try > now), default=NEVER)

    def reconcile(self, news: m.ClientHeartbeatResponse) -> None:
        """Takes over the dispatcher's list of tasks, and the round to stop before."""
        known = {task.id for task in self._tasks}
        listed = {info.task_id: info for info in news.task_info}
        for info in news.task_info:
            if info.task_id not in known:
                self._tasks.append(Task(info, self._luck.stream(f"task/{info.task_id}")))
        for task in self._tasks:
            task.removed = task.removed or task.id not in listed
            task.gone = not task.removed and listed[task.id].finished
            task.lost = not task.removed and listed[task.id].lost
        if news.block_round is None:
            self._limit = None
        elif self._limit != news.block_round and self._round < news.block_round:
            self._limit = news.block_round

    def requests(self, client_id: int, now: Instant) -> Iterator[tuple[Slot, str, m.Request, int]]:
        """What to ask of whom now, and how long to wait for an answer."""
        while len(self._slots) < max(1, self._settings.streams_max or len(self._tasks)) and self._advance():
            pass
        # The dispatcher waits for what was lost, and cannot know that this consumer had all of it before.
        for task in self._tasks:
            if task.lost and task.ended and not task.removed and task.slot is None:
                task.slot = Slot(task, task.last_round, farewell=True)
                self._farewells.append(task.slot)
        for slot in (*self._slots, *self._farewells):
            if slot.busy or slot.over or slot.frame is not None or now < slot.next_try:
                continue
            slot.busy = True
            if slot.removing:
                removal = m.MaybeRemoveTaskRequest(slot.task.id, self._consumer, slot.round)
                yield slot, self._settings.dispatcher, removal, REMOVAL_TIMEOUT_NS
                continue
            question = m.GetElementRequest(
                slot.task.id,
                self._consumer,
                slot.round,
                slot.task.skipped,
                allow_skip=True,
                client_id=client_id,
                patience_ns=self._settings.consumers_timeout_ns,
            )
            # Ours answer a round again; TensorFlow's lose what they answered into the void.
            timeout_ns = self._settings.call_timeout_ns if slot.task.native else ELEMENT_TIMEOUT_NS
            yield slot, slot.task.address, question, timeout_ns

    def _advance(self) -> bool:
        """Reserves the next slot, if there is a worker whose turn it is."""
        for _ in range(len(self._tasks) + 1):
            if self._cursor >= len(self._tasks):
                later = self._next_round()
                if later is None:
                    return False
                self._cursor, self._round = 0, later
            if self._limit is not None and self._round >= self._limit:
                return False
            task = self._tasks[self._cursor] if self._tasks else None
            if task is None:
                return False
            if self._reads(task, self._round):
                if task.slot is not None:
                    return False
                task.slot = Slot(task, self._round)
                self._slots.append(task.slot)
                self._cursor += 1
                return True
            self._cursor += 1
        return False

    def _next_round(self) -> int | None:
        """The next round in which there is anything to read, or the one to stop before."""
        going_on = [task for task in self._tasks if not task.ended and not task.removed]
        if going_on:
            return min(max(task.starting_round, self._round + 1) for task in going_on)
        return self._limit if self._limit is not None and self._limit > self._round else None

    @staticmethod
    def _reads(task: Task, number: int) -> bool:
        return not task.ended and not task.removed and task.starting_round <= number

    def answered(self, slot: Slot, answer: m.Response | RpcError, now: Instant) -> RpcError | None:
        """Takes an answer; gives the error that ends it all, if it is one."""
        slot.busy = False
        match answer:
            case m.MaybeRemoveTaskResponse(removed):
                if removed:
                    slot.task.removed = True
                    self._close(slot)
                else:
                    self._retry(slot, None, now)
            case m.GetElementResponse(element, index, end_of_sequence, skip_task, _):
                slot.task.skipped = skip_task
                if end_of_sequence and not slot.task.ended:
                    slot.task.ended, slot.task.last_round = True, slot.round
                slot.task.backoff.reset()
                if end_of_sequence or skip_task:
                    self._close(slot)
                else:
                    slot.frame = Frame(index, 1, element)
                    slot.task.slot = None
            case RpcError() as error if error.retriable:
                self._retry(slot, error, now)
            case RpcError():
                return answer
            case _:
                raise AssertionError(answer)
        return None

    def _retry(self, slot: Slot, error: RpcError | None, now: Instant) -> None:
        """Asks again; the task is given up if its worker is out of reach, not if the other consumers are slow."""
        late = error is not None and error.code is Code.DEADLINE_EXCEEDED
        if not late or slot.task.gone or slot.removing:
            slot.failures += 1
        slot.next_try = now if slot.removing else slot.task.backoff.next(now)

    def _close(self, slot: Slot) -> None:
        slot.over = True
        slot.task.slot = None
        if slot.farewell:
            self._farewells.remove(slot)

    def next_batch(self) -> Batch | None:
        """What the application gets next; ``None``: it has to wait."""
        while self._slots and self._slots[0].over:
            self._slots.popleft()
        if not self._slots or self._slots[0].frame is None:
            return None
        slot = self._slots.popleft()
        assert slot.frame is not None
        return Batch(slot.task.id, slot.task.address, slot.frame, 0, Encoding.ELEMENTS)
