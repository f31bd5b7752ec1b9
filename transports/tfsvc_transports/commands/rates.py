"""How fast a cluster is, and which side waits: two descriptions of it, one some time after the other."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.protocol.messages import Consumption, Description
from tfsvc.protocol.messages.description import ReaderDescription

STARVED = 0.2
"""A reader that waits for a larger part of its time is held up by its input."""


@dataclass(frozen=True)
class ReaderRate:
    """A reader between two moments.

    Attributes:
      job: the name of its job.
      elements_per_s: how many its application took in a second of its life.
      bytes_per_s: the same in bytes.
      waiting: which part of its time the application waited for elements, from 0 to 1; ``None`` if it has not told.
    """

    id: int
    job: str
    elements_per_s: float
    bytes_per_s: float
    waiting: float | None


@dataclass(frozen=True)
class Rates:
    """A cluster between two moments.

    Attributes:
      seconds: how long that was.
      bottleneck: ``"workers"`` where readers wait for elements, ``"trainers"`` where workers wait for them,
        ``"nothing"`` where nobody reads.
      readers: those first that wait most.
    """

    seconds: float
    elements_per_s: float
    bytes_per_s: float
    leases_per_s: float
    discarded_per_s: float
    bottleneck: str
    readers: tuple[ReaderRate, ...]


def rates(before: Description, after: Description) -> Rates:
    """What happened from ``before`` to ``after``; if the dispatcher was started again, from its beginning."""
    same = before.incarnation == after.incarnation and before.up_ns < after.up_ns
    seconds = max(1e-9, (after.up_ns - (before.up_ns if same else 0)) / 1e9)
    earlier = {reader.id: reader.consumption for reader in before.readers} if same else {}
    jobs = {job.id: job.name for job in after.jobs}
    names = {iteration.id: jobs.get(iteration.job_id, "") for iteration in after.iterations}
    readers = [_reader(reader, names.get(reader.iteration_id, ""), earlier.get(reader.id)) for reader in after.readers]
    readers.sort(key=lambda rate: (-(rate.waiting or 0.0), rate.id))

    def per_second(name: str) -> float:
        return float((getattr(after.tally, name) - (getattr(before.tally, name) if same else 0)) / seconds)

    return Rates(
        seconds=seconds,
        elements_per_s=per_second("elements"),
        bytes_per_s=per_second("bytes"),
        leases_per_s=per_second("leases"),
        discarded_per_s=per_second("discarded"),
        bottleneck=_bottleneck(readers),
        readers=tuple(readers),
    )


def _reader(reader: ReaderDescription, job: str, earlier: Consumption | None) -> ReaderRate:
    now, then = reader.consumption, earlier or Consumption()
    if now is None:
        return ReaderRate(reader.id, job, 0.0, 0.0, None)
    if now.age_ns <= then.age_ns:  # it has said nothing new
        then = Consumption()
    seconds = max(1, now.age_ns - then.age_ns) / 1e9
    waiting = None if not now.age_ns else min(1.0, max(0, now.waited_ns - then.waited_ns) / 1e9 / seconds)
    return ReaderRate(
        reader.id, job, (now.elements - then.elements) / seconds, (now.bytes - then.bytes) / seconds, waiting
    )


def _bottleneck(readers: list[ReaderRate]) -> str:
    told = [rate.waiting for rate in readers if rate.waiting is not None]
    if not told:
        return "nothing"
    return "workers" if max(told) >= STARVED else "trainers"
