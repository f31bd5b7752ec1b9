"""A fault: what goes wrong, when it begins, and how long it lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Protocol

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.faults.moments import Moment, Watched, upon
from tfsvc_sim.kernel.disk import Aftermath, Trouble
from tfsvc_sim.kernel.network import Installed
from tfsvc_sim.kernel.rules import Rule

Mend = Callable[[], None]
"""Ends a fault; it may come when the fault has become meaningless, and then does nothing."""


class Stage(Watched, Protocol):
    """What faults need of a world; see ``World``."""

    @property
    def workers(self) -> Sequence[str]: ...

    @property
    def readers(self) -> Sequence[str]: ...

    def struck(self, fault: Fault) -> None: ...

    def rule(self, rule: Rule) -> Installed: ...

    def crash(self, address: str, silent: bool = False, aftermath: Aftermath = Aftermath.TORN) -> None: ...

    def restart(self, address: str) -> None: ...

    def pause(self, address: str) -> None: ...

    def resume(self, address: str) -> None: ...

    def slow_down(self, address: str, factor: int) -> None: ...

    def kill(self, address: str, silent: bool = False) -> None: ...

    def stop(self, address: str) -> None: ...

    def trouble(self, address: str, trouble: Trouble | None) -> None: ...

    def slow_disk(self, address: str, factor: int) -> None: ...

    def rot(self, address: str, rotten: bool) -> None: ...

    def adjust_clock(self, address: str, drift_ppm: int | None = None, ahead_ns: int = 0) -> None: ...


class Kind(Protocol):
    """What goes wrong: a frozen dataclass whose fields are numbers, words, flags and names of nodes.

    Names are ``dispatcher``, ``worker0``, ``reader2``; they are counted around the nodes that there are.
    """

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        """Makes it happen now; returns what ends it, after ``for_ns``, or never where that is ``None``."""
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
      what: what goes wrong.
      at_ms: when, from the moment on in which readers begin; or from ``upon`` on.
      for_ms: how long; ``None`` for good.
      upon: the moment that sets it off.
    """

    what: Kind
    at_ms: int = 0
    for_ms: int | None = 200
    upon: Moment | None = None

    def __post_init__(self) -> None:
        if self.at_ms < 0 or (self.for_ms is not None and self.for_ms < 1):
            raise ValueError(f"a fault begins at 0 ms or later and lasts 1 ms or longer, not {self}")


def apply(faults: Sequence[Fault], stage: Stage) -> int:
    """Plans all faults, counted from now, and returns when the last of them is over, in nanoseconds from now.

    What lasts for good, or waits for a moment that may not come, is left out of that.
    """
    end = 0
    for fault in faults:
        _plan(fault, stage)
        if fault.upon is None:
            end = max(end, (fault.at_ms + (fault.for_ms or 0)) * MILLISECOND)
    return end


def _plan(fault: Fault, stage: Stage) -> None:
    begins = fault.at_ms * MILLISECOND
    lasts = None if fault.for_ms is None else fault.for_ms * MILLISECOND

    def strike() -> None:
        stage.struck(fault)
        mend = fault.what.strike(stage, lasts)
        if lasts is not None:
            stage.at(lasts, mend)

    if fault.upon is None:
        stage.at(begins, strike)
    elif not begins:
        upon(fault.upon, stage, strike)
    else:
        upon(fault.upon, stage, lambda: stage.at(begins, strike))


def label(what: Kind) -> str:
    """The kind of a fault in a few words, for tables: its class, whom it concerns, and what is special about it."""
    words = [type(what).__name__]
    for name, value in _special(what):
        if isinstance(value, Enum):
            words.append(str(value.value))
        elif value is True:
            words.append(name)
        elif isinstance(value, str):
            words.append(value.rstrip("0123456789"))
    return " ".join(words)


def text(fault: Fault) -> str:
    """A fault that begins, for people."""
    lasts = "for good" if fault.for_ms is None else f"for {fault.for_ms} ms"
    shown = ", ".join(f"{name}={value}" for name, value in _special(fault.what))
    return f"fault: {type(fault.what).__name__}({shown}) {lasts}"


def _special(what: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a fault that say something: all but empty words, flags that are down, and usual choices."""
    for field in fields(what):
        value = getattr(what, field.name)
        usual = isinstance(value, Enum) and value == field.default
        if not usual and value is not False and value != "":
            yield field.name, value
