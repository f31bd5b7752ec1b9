"""A pipeline: one run of a dataset's program, a slice at a time."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data import states
from tfsvc.data.operator import Context, Operator, OperatorIterator
from tfsvc.data.origins import explain, user_traceback
from tfsvc.data.stacking import join, stacked
from tfsvc.errors import InvalidArgumentError, RpcError, from_exception
from tfsvc.execution.encoding import encode_columns, encode_element
from tfsvc.execution.leased import LeasedElements
from tfsvc.protocol.contract import Produce
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.production import Encoding, Ended, Hungry, Production, Ready, Recipe
from tfsvc.protocol.splits import ORIGIN, Checkpoint, SplitFeed, Starved
from tfsvc.wire.frames import ELEMENTS_MAX, columns_of
from tfsvc.wire.stacking import LARGE

STATE_BYTES_MAX: Final = 64 << 10
"""A state that pickles to more than this is not worth shipping; the lane is run again from farther back."""
SMALL_STATE_BYTES: Final = 2 << 10
"""A state up to this size is worth shipping often."""
CHECKPOINT_EVERY: Final = 256
"""Elements between two checkpoints at the least; more while the states turn out too large."""

Clock = Callable[[], int]
"""Nanoseconds of some monotonic clock."""


class Pipeline:
    """Runs ``program`` as ``recipe`` says.

    Args:
      program: the dataset's operator graph.
      recipe: where to start, what feeds it, how its frames are laid out.
      clock: measures how long a slice takes; ``None`` where time is simulated.
      slice_ns: a run ends after this long, if it has given anything.
      checkpoint_every: elements between two checkpoints at the least.
    """

    def __init__(
        self,
        program: Operator,
        recipe: Recipe,
        clock: Clock | None,
        slice_ns: int,
        checkpoint_every: int = CHECKPOINT_EVERY,
    ) -> None:
        starts = recipe.checkpoint.positions or (ORIGIN,) * recipe.providers
        self._feeds = tuple(SplitFeed(provider, at) for provider, at in enumerate(starts))
        self._iterator = _iterator(program, recipe, self._feeds, inline=clock is None)
        if recipe.checkpoint.state:
            self._iterator.load(states.loads(recipe.checkpoint.state))
        self._encoding = recipe.encoding
        self._compressed = recipe.compressed
        self._element_bytes = 0
        self._element_ns = 0
        self._ordinal = recipe.checkpoint.ordinal
        self._dealt = recipe.dealt
        self._next_checkpoint = self._ordinal + checkpoint_every
        self._next_small = self._ordinal
        self._checkpoint_every = checkpoint_every
        self._clock = clock
        self._slice_ns = slice_ns

    def run(self, command: Produce) -> Production:
        """Up to ``elements_max`` more elements, about ``bytes_max`` bytes, or one slice of time."""
        for lease in command.leases:
            self._feeds[lease.provider].add(lease)
        started = self._clock() if self._clock is not None else 0
        frames: list[Frame] = []
        status: Ready | Hungry | Ended = Ready()
        batch = _Batch(command.elements_max, command.bytes_max, self._clock, started + self._slice_ns)
        try:
            while batch.room > 0:
                columns = self._block(batch) if not batch.elements else None
                if columns is None:
                    batch.add(self._iterator.next())
                elif self._encoding is Encoding.FRAMES:
                    self._element_bytes = batch.count(columns)
                    if not batch.joins(columns):
                        self._flush(frames, batch)
                    batch.pieces.append(columns)
                else:
                    for element in columns.elements():
                        batch.add(element)
        except StopIteration:
            status = Ended()
        except Starved as starved:
            status = Hungry(starved.provider, starved.at)
        except (Exception, SystemExit, GeneratorExit) as error:
            # A function that ends its process, or an iterator of its own, must not end the worker.
            self._flush(frames, batch)
            frames.append(Frame(self._ordinal, 1, b"", describe_failure(error, self._ordinal)))
            self._ordinal += 1
        self._flush(frames, batch)
        positions = tuple([feed.at for feed in self._feeds])
        checkpoint = None if isinstance(status, Ended) else self._checkpoint(isinstance(status, Hungry))
        spent = self._clock() - started if self._clock is not None else 0
        return Production(tuple(frames), status, positions, checkpoint, spent)

    def _block(self, batch: _Batch) -> Columns | None:
        """As many elements at once as there may be and, as far as those before tell, as the slice has time for."""
        started = self._clock() if self._clock is not None else 0
        columns = self._iterator.block(batch.limit(self._element_bytes, self._element_ns, started))
        if columns is None:
            return None
        if self._clock is not None:
            self._element_ns = (self._clock() - started) // columns.count
        return stacked(columns, below=LARGE) if self._encoding is Encoding.FRAMES else columns

    def _add(self, frames: list[Frame], body: bytes, count: int) -> None:
        frames.append(Frame(self._ordinal, count, body))
        self._ordinal += count

    def _flush(self, frames: list[Frame], batch: _Batch) -> None:
        pieces, batch.pieces = batch.pieces, []
        if pieces:
            columns = join(pieces)
            self._add(frames, encode_columns(columns), columns.count)
        elements, batch.elements = batch.elements, []
        if self._encoding is Encoding.ELEMENTS:
            for element in elements:
                self._add(frames, encode_element(element, self._compressed), 1)
        elif elements:
            try:
                self._add(frames, encode_columns(columns_of(elements)), len(elements))
            except InvalidArgumentError:
                # Elements of several structures cannot share columns.
                for element in elements:
                    self._add(frames, encode_columns(columns_of([element])), 1)

    def _checkpoint(self, hungry: bool) -> Checkpoint | None:
        """A place to start again, where one is due; a dealt lane has one behind each block, if its state is small."""
        due = self._next_small if self._dealt and hungry else self._next_checkpoint
        if not self._feeds or self._ordinal < due:
            return None
        state = self._state()
        if state is None:
            self._checkpoint_every *= 4
        self._next_checkpoint = self._ordinal + self._checkpoint_every
        small = state is not None and len(state) <= SMALL_STATE_BYTES
        self._next_small = self._ordinal if small else self._next_checkpoint
        if state is None:
            return None
        return Checkpoint(self._ordinal, tuple(feed.at for feed in self._feeds), state)

    def _state(self) -> bytes | None:
        """The iterator's state, where it can be shipped."""
        try:
            state = states.dumps(self._iterator.save())
        except InvalidArgumentError:
            return None
        return state if len(state) <= STATE_BYTES_MAX else None


def context_of(recipe: Recipe, feeds: tuple[SplitFeed, ...], inline: bool) -> Context:
    """What a recipe says from outside of the pipeline; ``inline`` where time is simulated."""
    return Context(
        feeds,
        recipe.seed,
        path=(recipe.epoch,),
        turn=recipe.epoch,
        shared_seed=recipe.shared_seed,
        inline=inline,
    )


def _iterator(program: Operator, recipe: Recipe, feeds: tuple[SplitFeed, ...], inline: bool) -> OperatorIterator:
    """Fed by the sources' splits; or whole, and then as much of its output as the lane was leased."""
    context = context_of(recipe, feeds, inline)
    if recipe.policy.static and feeds:
        return LeasedElements(program.iterator(replace(context, feeds=())), feeds[0])
    return program.iterator(context)


class _Batch:
    """Elements on their way into a frame, as rows or as columns, and how many more may join them."""

    def __init__(self, elements_max: int, bytes_max: int, clock: Clock | None, until: int) -> None:
        self.elements: list[Any] = []
        self.pieces: list[Columns] = []
        self.room = elements_max
        self._bytes = bytes_max
        self._clock = clock
        self._until = until

    def limit(self, element_bytes: int, element_ns: int, now: int) -> int:
        """How many elements of that size and cost to ask for at once; one where the size is not known (0) yet."""
        if not element_bytes:
            return 1
        in_time = (self._until - now) // element_ns if element_ns else ELEMENTS_MAX
        return max(1, min(self.room, self._bytes // element_bytes, in_time, ELEMENTS_MAX))

    def add(self, element: Any) -> None:
        self.elements.append(element)
        self._spend(1, weight(element))

    def count(self, columns: Columns) -> int:
        """Takes account of columns; the bytes of one of their elements, at least 1."""
        size = sum(map(weight, columns.leaves))
        self._spend(columns.count, size)
        return max(1, size // columns.count)

    def joins(self, columns: Columns) -> bool:
        """Whether columns can be in one frame with the pieces before them."""
        return not self.pieces or (
            self.pieces[0].structure == columns.structure
            and sum(piece.count for piece in self.pieces) + columns.count <= ELEMENTS_MAX
        )

    def _spend(self, elements: int, size: int) -> None:
        self.room -= elements
        self._bytes -= size
        if self._bytes <= 0 or (self._clock is not None and self._clock() >= self._until):
            self.room = 0


def weight(element: Any) -> int:
    """Roughly the bytes of an element or of a column."""
    if isinstance(element, np.ndarray) and element.dtype == object:
        return sum(map(len, element.flat)) + 8 * element.size
    if isinstance(element, (np.generic, np.ndarray)):
        return element.nbytes
    if isinstance(element, bytes):
        return len(element) + 8
    return sum(weight(leaf) for leaf in nest.flatten(element)) if nest.is_nested(element) else 8


def describe_failure(error: BaseException, ordinal: int) -> RpcError:
    """The error of user code with what it came out of and the worker's traceback, for a reader on another machine."""
    explain(error, f"element {ordinal} of this worker's part")
    told = list(getattr(error, "__notes__", ()))
    trace = user_traceback(error)
    if not (trace or told):
        trace = "".join(traceback.format_tb(error.__traceback__))
    return from_exception(error, "\n".join([*told, f"On the worker:\n{trace}"] if trace else told))
