"""Claims: what a scenario says about its runs, beside the oracles that judge every one.

    always("no more than one lane a pair", lambda world: ...)        in every look at every run
    sometimes("a lane moves twice", lambda world: ...)               in some look at some run
    eventually("the worker is back", lambda world: ...)              in every run, once its faults are over
    reachable("a lease is asked for again", Message("LeaseSplits"))  in some run

A claim that was never looked at has not been shown, and a sweep says so: ``sometimes`` and ``reachable`` must have come
true in one of its runs at least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.faults.moments import Moment, watch
from tfsvc_sim.nodes.world import World

Holds = Callable[[World], bool]

WITHIN_MS: Final = 30_000


class Mode(StrEnum):
    """In which runs, and when, a claim must hold."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    EVENTUALLY = "eventually"
    REACHABLE = "reachable"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim; make it with ``always``, ``sometimes``, ``eventually`` or ``reachable``."""

    mode: Mode
    name: str
    holds: Holds | None = None
    moment: Moment | None = None
    within_ms: int = WITHIN_MS

    @property
    def rare(self) -> bool:
        """Whether one run in a sweep is enough."""
        return self.mode in (Mode.SOMETIMES, Mode.REACHABLE)


def always(name: str, holds: Holds) -> Claim:
    """It holds whenever somebody looks: every 50 ms, and after every element that is taken."""
    return Claim(Mode.ALWAYS, name, holds)


def sometimes(name: str, holds: Holds) -> Claim:
    """It holds in some look at some run of a sweep."""
    return Claim(Mode.SOMETIMES, name, holds)


def eventually(name: str, holds: Holds, within_ms: int = WITHIN_MS) -> Claim:
    """It holds in some look, ``within_ms`` after the last fault was over at the latest, and before the run ends."""
    return Claim(Mode.EVENTUALLY, name, holds, within_ms=within_ms)


def reachable(name: str, moment: Moment) -> Claim:
    """The moment comes in some run of a sweep."""
    return Claim(Mode.REACHABLE, name, moment=moment)


class Looking:
    """Looks at one world as it runs, and says in the end what came of each claim.

    Args:
      world: to which it must be handed before readers begin.
    """

    def __init__(self, claims: Sequence[Claim], world: World) -> None:
        self._world = world
        self._claims = claims
        self._true: dict[str, int] = {}
        """When a claim first held."""
        self._broken: dict[str, int] = {}
        """When a claim first did not."""
        self._looks = 0
        if claims:
            world.onlookers.append(self.look)
            world.watch_takings(lambda taking: self.look())
        for claim in claims:
            if claim.moment is not None:
                self._reach(claim.name, claim.moment)

    def _reach(self, name: str, moment: Moment) -> None:
        def come() -> bool:
            self._note(self._true, name)
            return False

        watch(moment, self._world, come)

    def look(self) -> None:
        """Looks once at all that can be looked at."""
        self._looks += 1
        for claim in self._claims:
            if claim.holds is not None:
                self._note(self._true if claim.holds(self._world) else self._broken, claim.name)

    def _note(self, when: dict[str, int], name: str) -> None:
        when.setdefault(name, self._world.now)

    def problems(self, faults_over: int) -> list[str]:
        """What does not hold of this run.

        Args:
          faults_over: when the last fault was over.
        """
        found = []
        for claim in self._claims:
            if claim.mode is Mode.ALWAYS and claim.name in self._broken:
                at = self._broken[claim.name] / MILLISECOND
                found.append(f"not always: {claim.name}; at {at:.3f} ms it was not so")
            elif claim.mode is Mode.ALWAYS and not self._looks:
                found.append(f"not always: {claim.name}; nobody ever looked")
            elif claim.mode is Mode.EVENTUALLY:
                limit = faults_over + claim.within_ms * MILLISECOND
                if self._true.get(claim.name, limit + 1) > limit:
                    found.append(f"never: {claim.name}, within {claim.within_ms} ms after the last fault")
        return found

    def marks(self) -> tuple[str, ...]:
        """The rare claims that came true."""
        return tuple(claim.name for claim in self._claims if claim.rare and claim.name in self._true)
