"""A producer: the control of one pipeline — when it runs, what it may hold, which splits feed it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol, assert_never

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.contract import Discard, Produce
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.production import Broken, Ended, Hungry, Production, Ready, Recipe
from tfsvc.protocol.splits import Checkpoint, Lease, SplitPosition
from tfsvc.protocol.worker.desk import Desk
from tfsvc.record import but

FIRST_ELEMENTS: Final = 16
"""A pipeline's first run is short, so that its first element is not kept waiting; each later one is longer."""
GROWTH: Final = 4
DEALT_FRAMES: Final = 4
DEALT_SHARE: Final = 16
"""A worker runs many ordered lanes at once: each keeps so many frames, or that part of what another stream keeps."""


class SplitSource(Protocol):
    """Where a producer's splits come from."""

    def want(self, provider: int, at: SplitPosition) -> None:
        """The pipeline waits for splits from ``at`` on; ``Producer.feed`` brings them."""
        ...

    def watch(self, positions: tuple[SplitPosition, ...]) -> None:
        """The pipeline has read this far; more may be fetched ahead."""
        ...

    def deadline(self) -> Instant: ...

    def wake(self) -> None: ...


class Producer:
    """Runs one pipeline ahead of its readers, within a budget of bytes.

    Args:
      desk: the worker's desk.
      recipe: what to run.
      changed: called when there are new frames, or the end, or an error.
      task_id: of the task that it is a part of; 0 for none.
    """

    def __init__(self, desk: Desk, recipe: Recipe, changed: Callable[[], None], task_id: int = 0) -> None:
        self.task_id = task_id
        self.id = desk.new_producer()
        self.frames: deque[Frame] = deque()
        self.bytes = 0
        self.ended = False
        self.broken: RpcError | None = None
        """Why it ended before its time, if it did."""
        self.produced = recipe.checkpoint.ordinal
        self.checkpoint: Checkpoint | None = None
        """The newest place where the pipeline can start again."""
        self.checkpoints: deque[Checkpoint] = deque()
        """Of an ordered lane: all such places in what was not given yet, and the last one before that."""
        self.run = recipe.checkpoint.run
        """Of an ordered lane: how many blocks it was dealt."""
        self.source: SplitSource | None = None
        self._desk = desk
        self._recipe: Recipe | None = recipe
        self._dealt = recipe.dealt
        settings = desk.settings
        self._room = settings.buffer_bytes
        if recipe.dealt:
            self._room = max(DEALT_FRAMES * settings.frame_bytes, settings.buffer_bytes // DEALT_SHARE)
        self._changed = changed
        self._busy = False
        self._hungry: Hungry | None = None
        self._leases: list[Lease] = []
        self._elements_max = FIRST_ELEMENTS
        self._discarded = False
        desk.running[self.id] = self

    def pump(self) -> None:
        """Runs the pipeline if it can run and there is room for what it makes."""
        if self._busy or self.ended or self._discarded or self.bytes >= self._room:
            return
        if self._hungry is not None:
            if not self._leases or not any(lease.provider == self._hungry.provider for lease in self._leases):
                return
            self._hungry = None
        self._busy = True
        leases, self._leases = tuple(self._leases), []
        recipe, self._recipe = self._recipe, None
        self._desk.say(Produce(self.id, recipe, leases, self._elements_max, self._desk.settings.frame_bytes))
        self._elements_max = min(self._elements_max * GROWTH, 1 << 30)

    def feed(self, *leases: Lease) -> None:
        """Splits that were leased."""
        self._leases.extend(leases)
        self.pump()

    def produced_more(self, production: Production) -> None:
        """A run of the pipeline is over."""
        if self._discarded or self.ended:
            return
        self._busy = False
        for frame in production.frames:
            assert frame.start == self.produced, "a pipeline's frames leave no gap"
            self.produced = frame.end
            self.frames.append(but(frame, run=self.run) if self._dealt else frame)
            self.bytes += frame.size
        if production.checkpoint is not None:
            self.checkpoint = production.checkpoint
            if self._dealt:
                self.checkpoints.append(but(production.checkpoint, run=self.run))
        match production.status:
            case Ready():
                pass
            case Hungry() as hungry:
                self._hungry = hungry
                if self.source is None:
                    self.fail(RpcError(Code.INTERNAL, "the pipeline asked for splits, but its task has none"))
                else:
                    self.source.want(hungry.provider, hungry.at)
            case Ended():
                self._end()
            case Broken(error):
                self.fail(error)
            case _:
                assert_never(production.status)
        if self.source is not None and not self.ended:
            self.source.watch(production.positions)
        self._changed()
        self.pump()

    def fail(self, error: RpcError) -> None:
        """The pipeline is over; its readers get the error as the last element."""
        if not self.ended:
            self.broken = error
            self.frames.append(Frame(self.produced, 1, b"", error, self.run))
            self.produced += 1
            self._end()
            self._changed()

    def finish(self, kept: int | None = None) -> None:
        """Makes nothing more: what is there already is the last, or the first ``kept`` frames of it."""
        if not self.ended and not self._discarded:
            while kept is not None and len(self.frames) > kept:
                self.bytes -= self.frames.pop().size
            self._end()
            self._changed()

    def drop_before(self, ordinal: int) -> None:
        """Lets go of frames that nobody needs any more."""
        while self.frames and self.frames[0].end <= ordinal:
            self.bytes -= self.frames.popleft().size
        self.pump()

    def checkpoint_before(self, ordinal: int) -> Checkpoint | None:
        """Of an ordered lane: the newest place up to ``ordinal`` where it can start again; older ones are forgotten."""
        while len(self.checkpoints) > 1 and self.checkpoints[1].ordinal <= ordinal:
            self.checkpoints.popleft()
        found = self.checkpoints[0] if self.checkpoints else None
        return found if found is not None and found.ordinal <= ordinal else None

    def take(self) -> Frame | None:
        """The next frame, which the caller keeps from now on."""
        if not self.frames:
            return None
        frame = self.frames.popleft()
        self.bytes -= frame.size
        return frame

    def discard(self) -> None:
        if not self._discarded:
            self._discarded = True
            self._desk.running.pop(self.id, None)
            self.frames.clear()
            self.bytes = 0
            self._desk.say(Discard(self.id))

    def deadline(self) -> Instant:
        return NEVER if self.source is None or self.ended or self._discarded else self.source.deadline()

    def wake(self) -> None:
        if self.source is not None and not self.ended and not self._discarded:
            self.source.wake()

    def _end(self) -> None:
        self.ended = True
        self._desk.running.pop(self.id, None)
        self._desk.say(Discard(self.id))
