"""Experiments: all that a run depends on, as a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc_sim.faults import Fault
from tfsvc_sim.kernel.network import Latency
from tfsvc_sim.nodes.tempo import DISPATCHER, Tempo
from tfsvc_sim.research.costs import Costs
from tfsvc_sim.research.laws import Fixed, Law
from tfsvc_sim.research.policies import Guided
from tfsvc_sim.research.policy import Policy
from tfsvc_sim.research.scaling import Scaler
from tfsvc_sim.research.source import Source


class Reading(StrEnum):
    """How trainers share what is read."""

    SHARED = "shared"
    """One job: each element goes to one of them, exactly once."""
    OWN = "own"
    """A job each: every trainer gets every element, and every element is made for each of them."""
    CACHED = "cached"
    """One endless stream a worker, and a window over it that all trainers read."""
    COORDINATED = "coordinated"
    """Rounds: all trainers get an element of the same worker at the same time, and step together."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Elements of different lengths, by which steps take their time; see coordinated reads.

    Attributes:
      step_ms: what a step takes with an element, by the element's length.
      alike: how many elements in a row have the same length: 1, or the number of trainers where they are sorted into
        buckets.
    """

    step_ms: Law = Fixed(10.0)
    alike: int = 1


@dataclass(frozen=True, slots=True)
class Buffers:
    """How far ahead is worked, in elements, and how often nodes report.

    Attributes:
      frame: a frame holds so many at the most.
      worker: a worker keeps so many of each stream.
      trainer: a trainer's client fetches so many ahead, of all streams.
      cache: the trainers' cache holds so many.
      worker_beat_s: how often a worker reports.
      trainer_beat_s: how often a reader does.
    """

    frame: int = 64
    worker: int = 256
    trainer: int = 1024
    cache: int = 1024
    worker_beat_s: float = 1.0
    trainer_beat_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Experiment:
    """A cluster, its data, its policies, and what goes wrong.

    Attributes:
      policy: how work is divided.
      scaling: how many workers there are, asked every ``scale_every_s``; ``None`` for always as many.
      workers: how many there are at the beginning.
      workers_max: more are never started.
      crash_rate: how often a worker dies in an hour, on the average.
      restart_s: how long until it is there again.
      faults: that happen besides, counted from the beginning of reading.
      steps: after how many a trainer leaves; ``None`` at the end of the data.
      until_s: when an experiment ends that has not ended by itself.
      lengths: of elements, where steps take their time by them.
      starts_s: when each trainer begins, if not at once.
      slowness: a factor on the steps of each trainer, if not 1.
    """

    source: Source = field(default_factory=lambda: Source.even(10_000, 100))
    costs: Costs = Costs()
    policy: type[Policy] = Guided
    scaling: type[Scaler] | None = None
    workers: int = 4
    workers_max: int = 1000
    trainers: int = 1
    reading: Reading = Reading.SHARED
    seed: int = 0
    crash_rate: float = 0.0
    restart_s: float = 5.0
    faults: tuple[Fault, ...] = ()
    steps: int | None = None
    until_s: float = 3600.0
    scale_every_s: float = 5.0
    buffers: Buffers = Buffers()
    latency: Latency = Latency()
    lengths: Lengths | None = None
    starts_s: tuple[float, ...] = ()
    slowness: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.reading in (Reading.CACHED, Reading.COORDINATED) and self.steps is None:
            raise ValueError(f"{self.reading} reading has no end; say after how many `steps` a trainer leaves")
        if self.workers < 1 or self.trainers < 1:
            raise ValueError(f"an experiment needs workers and trainers, not {self.workers} and {self.trainers}")

    @property
    def tempo(self) -> Tempo:
        """The settings of all machines."""
        b, size = self.buffers, self.source.element_bytes
        return Tempo(
            DispatcherSettings(fault_tolerant=True),
            WorkerSettings(
                address="",
                dispatcher=DISPATCHER,
                heartbeat_ns=round(b.worker_beat_s * SECOND),
                buffer_bytes=b.worker * size,
                frame_bytes=b.frame * size,
                cache_bytes=b.cache * (size + 64),
            ),
            ClientSettings(
                dispatcher=DISPATCHER,
                refresh_ns=round(b.trainer_beat_s * SECOND),
                buffer_bytes=b.trainer * size,
                read_bytes=4 * b.frame * size,
            ),
            self.latency,
            MILLISECOND,
        )
