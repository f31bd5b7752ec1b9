"""The engine: simulated time, and what happens when. The only module that knows SimPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, cast

import simpy

from tfsvc.protocol.ids import Instant


class Engine(Protocol):
    """A queue of things to do at integer nanoseconds."""

    ties: Ties

    @property
    def now(self) -> Instant: ...

    def call_at(self, at: Instant, do: Callable[..., None], *args: Any) -> None:
        """Calls ``do(*args)`` at ``at``; there is no taking back.

        Raises:
          ValueError: if ``at`` lies in the past.
        """
        ...

    def run(self, until: Instant) -> None:
        """Does everything due before ``until``, and stands there."""
        ...


class Ties:
    """Who goes first among things due at one instant: a cheap stream of numbers from a seed.

    Both engines draw once a call, so they run one seed alike. Once ``calm_after`` were ``drawn`` there is no more
    luck in the schedule: whoever was planned first goes first, and packets take the same time.
    """

    __slots__ = ("_state", "calm_after", "drawn")

    def __init__(self, seed: int) -> None:
        self.drawn = 0
        self.calm_after = _NEVER_CALM
        self._state = (seed * 2 + 1) & _MASK

    def next(self) -> int:
        drawn = self.drawn = self.drawn + 1
        if drawn > self.calm_after:
            return 1
        state = self._state = (self._state * _FACTOR + _ADDEND) & _MASK
        return (state >> 33) + 1


_NEVER_CALM: Final = 2**62
_MASK: Final = 2**64 - 1
_FACTOR: Final = 6364136223846793005
_ADDEND: Final = 1442695040888963407


class _Due:
    """What SimPy needs of an event that is certain to happen and that nobody waits for."""

    __slots__ = ("args", "callbacks", "do")
    _ok: Final = True

    def __init__(self, do: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.do = do
        self.args = args
        self.callbacks: tuple[Callable[[_Due], None], ...] | None = _HAPPEN


_HAPPEN: Final[tuple[Callable[[_Due], None], ...]] = (lambda due: due.do(*due.args),)


class SimPyEngine:
    """An engine on SimPy as a bare scheduler: one event a call, no processes.

    Args:
      seed: of the ties.
    """

    def __init__(self, seed: int = 0) -> None:
        self._env: Any = simpy.Environment(initial_time=0)
        self.ties = Ties(seed)

    @property
    def now(self) -> Instant:
        return cast(int, self._env.now)  # a sum of integers

    def call_at(self, at: Instant, do: Callable[..., None], *args: Any) -> None:
        now = self._env.now
        if at < now:
            raise ValueError(f"{at} lies before {now}")
        # The priority breaks ties.
        self._env.schedule(_Due(do, args), self.ties.next(), at - now)

    def run(self, until: Instant) -> None:
        if until > self.now:
            self._env.run(until)
