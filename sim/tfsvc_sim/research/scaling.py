"""Scaling: how many workers there should be, asked at intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class Load:
    """How a cluster got on since the question before.

    Attributes:
      at_s: when, in seconds of the experiment.
      workers: how many are there and ready.
      wanted: how many were last asked for.
      worker_ms: what a worker took for an element, of those that made any: one number for each.
      trainer_ms: what each trainer could take at the most for an element without ever waiting.
      step_ms: what a step took on the average, waiting included; ``None`` where there was none.
      waited: the share of its time that a trainer waited, on the average.
      busy: the share of their time that workers worked, on the average.
      queued: how full the trainers' buffers are, from 0 to 1.
    """

    at_s: float
    workers: int
    wanted: int
    worker_ms: Sequence[float]
    trainer_ms: Sequence[float]
    step_ms: float | None
    waited: float
    busy: float
    queued: float


class Scaler(Protocol):
    """Answers one load after the other."""

    def workers(self, load: Load) -> int:
        """How many workers there should be; one at least will be."""
        ...


class Hold:
    """As many as there were."""

    def workers(self, load: Load) -> int:
        return load.wanted


class TensorFlows:
    """TensorFlow's formula: the rates at which trainers take, over the mean rate at which workers make."""

    def workers(self, load: Load) -> int:
        if not load.worker_ms or not load.trainer_ms:
            return load.wanted
        demand = sum(1 / ms for ms in load.trainer_ms)
        rate = sum(1 / ms for ms in load.worker_ms) / len(load.worker_ms)
        return ceil(demand / rate - 1e-9)


class Cachews:
    """Cachew's hill climb: one more worker as long as steps get shorter by it, one fewer as long as they do not suffer.

    Once converged it holds, and looks again after ``STABLE`` answers.
    """

    MORE: Final = 0.07
    """A worker more must cut the step time by this share."""
    LESS: Final = 0.03
    """A worker fewer may lengthen it by this."""
    NOISE: Final = 1.2
    """Larger relative changes are not believed."""
    GROWN: Final = 1.5
    STABLE: Final = 20
    WORKERS_MAX: Final = 100

    def __init__(self) -> None:
        self._direction = 1
        self._before_ms: float | None = None
        self._before_queue = 0.0
        self._stable = 0

    def workers(self, load: Load) -> int:
        if load.workers != load.wanted or load.step_ms is None:
            return load.wanted
        now = load.step_ms
        if self._before_ms is None:
            self._remember(load)
            return self._bounded(load.wanted + 1)
        gain = (self._before_ms - now) / self._before_ms
        if abs(gain) > self.NOISE:
            return load.wanted
        if self._direction == 0:
            return self._look_again(load, now)
        if self._direction > 0:
            if gain > self.MORE:
                self._remember(load)
                return self._bounded(load.wanted + 1)
            return self._turn_back(load, load.wanted - 1)
        if gain > -self.LESS:
            self._remember(load)
            return self._bounded(load.wanted - 1)
        return self._turn_back(load, load.wanted + 1)

    def _turn_back(self, load: Load, workers: int) -> int:
        """The last step was one too many; what was before it counts from now on."""
        self._direction, self._stable = 0, 0
        return self._bounded(workers)

    def _look_again(self, load: Load, now: float) -> int:
        self._stable += 1
        if self._stable < self.STABLE:
            return load.wanted
        self._stable = 0
        if self._before_ms is not None and now > self.GROWN * self._before_ms:
            self._direction = 1
            self._remember(load)
            return self._bounded(load.wanted + 1)
        if load.queued > self.GROWN * self._before_queue:
            self._direction = -1
            self._remember(load)
            return self._bounded(load.wanted - 1)
        return load.wanted

    def _remember(self, load: Load) -> None:
        self._before_ms, self._before_queue = load.step_ms, load.queued

    def _bounded(self, workers: int) -> int:
        return max(1, min(workers, self.WORKERS_MAX))


class Busy:
    """Kubernetes' formula: as many as bring the share of busy time to ``TARGET``, if it is off by a tenth."""

    TARGET: Final = 0.7
    TOLERANCE: Final = 0.1

    def workers(self, load: Load) -> int:
        ratio = load.busy / self.TARGET
        return load.wanted if abs(ratio - 1) <= self.TOLERANCE else max(1, ceil(load.workers * ratio))


class Queue:
    """More while trainers' buffers run low, fewer while they are full, as Meta's service does by buffered batches."""

    LOW: Final = 0.3
    HIGH: Final = 0.9

    def workers(self, load: Load) -> int:
        if load.workers != load.wanted:
            return load.wanted
        if load.waited > 0.01 or load.queued < self.LOW:
            return load.wanted + max(1, load.wanted // 4)
        return max(1, load.wanted - 1) if load.queued > self.HIGH else load.wanted


SCALERS: Final[dict[str, type[Scaler]]] = {s.__name__: s for s in (Hold, TensorFlows, Cachews, Busy, Queue)}
"""By name."""
