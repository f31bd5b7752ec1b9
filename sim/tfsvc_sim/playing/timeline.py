"""The timeline: a run in a dozen lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.kernel.trace import Entry
from tfsvc_sim.nodes.world import World

TOLD = ("starts", "crashes", "loses power", "is paused", "goes on", "warning", "error", "application leaves", "fault")
"""How events begin that people want to hear of."""


def timeline(world: World) -> Iterator[str]:
    """Who came, went and moved, with how much had been taken by then; needs a world that keeps its trace."""
    takings = sorted(world.ledger.takings, key=lambda taking: taking.at)
    taken = 0
    for entry in filter(_told, world.trace.entries):
        while taken < len(takings) and takings[taken].at <= entry.at:
            taken += 1
        yield f"{entry.at / MILLISECOND:9.1f} ms  {taken:5} taken  {entry.where:<13} {entry.what}"
    yield ""
    yield from _shares("made by", Counter(taking.worker for taking in takings))
    yield from _shares("taken by", Counter(taking.reader for taking in takings))


def _told(entry: Entry) -> bool:
    return entry.what.startswith(TOLD) and not entry.where.startswith("registrar")


def _shares(what: str, counts: Counter[str]) -> Iterator[str]:
    yield f"{what:<9} " + ", ".join(f"{name}: {counts[name]}" for name in sorted(counts))
