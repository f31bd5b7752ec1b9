"""The meter: what workers and trainers of a lab have cost and done so far, and how many workers there should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim.research.costs import HOUR_S
from tfsvc_sim.research.outcome import Outcome, jain, quantile, reversals
from tfsvc_sim.research.scaling import Load, Scaler

if TYPE_CHECKING:
    from tfsvc_sim.research.lab import Lab


class Meter:
    """Looks at a lab, and scales it as its experiment says."""

    def __init__(self, lab: Lab) -> None:
        self.series: list[tuple[float, int, float]] = []
        """At each look of the scaler: seconds, workers, and the share of its time that a trainer waited since."""
        self._lab = lab
        self._scaler: Scaler | None = None
        self._wanted = lab.experiment.workers
        self._wishes: list[int] = [self._wanted]
        self._most = lab.experiment.workers
        self._before = _Sums()

    def begin(self) -> None:
        """Trainers begin now."""
        lab = self._lab
        if lab.experiment.scaling is not None:
            self._scaler = lab.experiment.scaling()
            lab.at(round(lab.experiment.scale_every_s * SECOND), self._look)

    def _look(self) -> None:
        lab = self._lab
        if lab.all_left():
            return
        if self._scaler is not None:
            load = self._load()
            self.series.append((load.at_s, len(lab.hired), load.waited))
            self._wanted = max(1, min(self._scaler.workers(load), lab.experiment.workers_max))
            self._wishes.append(self._wanted)
            while len(lab.hired) < self._wanted:
                lab.hire()
            while len(lab.hired) > self._wanted:
                lab.fire()
            self._most = max(self._most, self._wanted)
        lab.at(round(lab.experiment.scale_every_s * SECOND), self._look)

    def _load(self) -> Load:
        lab, before = self._lab, self._before
        sums = self._before = _Sums.of(lab)
        per_worker = []
        for worker, (made, busy_ns) in sums.workers.items():
            made_before, busy_before = before.workers.get(worker, (0, 0))
            if made > made_before and worker in lab.hired:
                per_worker.append(
                    (busy_ns - busy_before) / (made - made_before) / MILLISECOND / lab.experiment.costs.slots
                )
        steps, waited = sums.steps - before.steps, sums.waited_ns - before.waited_ns
        stepped, taken = sums.stepped_ns - before.stepped_ns, sums.taken - before.taken
        there = [w for w in lab.hired if lab.nodes[w].alive]
        capacity = sum(t.done is False for t in lab.trainers.values()) * lab.tempo.client.buffer_bytes
        period_ns = round(lab.experiment.scale_every_s * SECOND)
        busy = sum(b - before.workers.get(w, (0, 0))[1] for w, (_, b) in sums.workers.items())
        trainer_ms = []
        for trainer, (begun, took_ns) in sums.trainers.items():
            begun_before, took_before = before.trainers.get(trainer, (0, 0))
            if begun > begun_before:
                step_ms = (took_ns - took_before) / (begun - begun_before) / MILLISECOND
                trainer_ms.append(step_ms / lab.experiment.costs.batch)
        return Load(
            at_s=(lab.now - lab.began_at) / SECOND,
            workers=len(there),
            wanted=self._wanted,
            worker_ms=per_worker,
            trainer_ms=trainer_ms,
            step_ms=(stepped + waited) / steps / MILLISECOND if steps and taken else None,
            waited=waited / (waited + stepped) if waited + stepped else 1.0,
            busy=busy / period_ns / max(1, len(there)) / lab.experiment.costs.slots,
            queued=sum(t.buffered for t in lab.trainers.values()) / capacity if capacity else 0.0,
        )

    def outcome(self) -> Outcome:
        """All in all."""
        lab = self._lab
        ended = lab.all_left()
        left = [t.left_at for t in lab.trainers.values() if t.left_at is not None]
        end = max(left) if ended and left else lab.now
        epoch_s = (end - lab.began_at) / SECOND
        paid_s = (lab.paid_ns + sum(end - since for since in lab.paid_since.values())) / SECOND
        waits = sorted(w / MILLISECOND for t in lab.trainers.values() for w in t.waits_ns)
        waited_ns = sum(t.waited_ns for t in lab.trainers.values())
        stepped_ns = sum(t.stepped_ns for t in lab.trainers.values())
        steps = sum(t.steps for t in lab.trainers.values())
        elements = sum(book.taken for book in lab.books)
        repeated = sum(book.repeated for book in lab.books)
        costs = lab.experiment.costs
        ends = [((t.left_at or lab.now) - t.began_at) / SECOND for t in lab.trainers.values()]
        rates = [t.taken / s for t, s in zip(lab.trainers.values(), ends, strict=True) if s]
        return Outcome(
            ended=ended,
            epoch_s=epoch_s,
            elements=elements,
            made=sum(output.made for output in lab.outputs.values()),
            repeated=repeated,
            missing=sum(book.missing for book in lab.books),
            skipped=sum(t.skipped for t in lab.trainers.values()),
            goodput=(elements - repeated) / epoch_s if epoch_s else 0.0,
            stall=waited_ns / (waited_ns + stepped_ns) if waited_ns + stepped_ns else 0.0,
            wait_ms_mean=sum(waits) / len(waits) if waits else 0.0,
            wait_ms_p50=quantile(waits, 0.5),
            wait_ms_p99=quantile(waits, 0.99),
            wait_ms_max=waits[-1] if waits else 0.0,
            step_ms=(waited_ns + stepped_ns) / steps / MILLISECOND if steps else 0.0,
            worker_s=paid_s,
            busy_s=sum(output.busy_ns for output in lab.outputs.values()) / SECOND,
            fairness=jain(rates),
            dollars=(paid_s * costs.worker_dollars + sum(ends) * costs.trainer_dollars) / HOUR_S,
            calls=lab.network.sent // 2,
            workers_max=self._most,
            rescalings=reversals(self._wishes),
        )


class _Sums:
    """Running sums, between two of which lies a period."""

    def __init__(self) -> None:
        self.workers: dict[str, tuple[int, int]] = {}
        self.trainers: dict[str, tuple[int, int]] = {}
        self.steps = self.waited_ns = self.stepped_ns = self.taken = 0

    @classmethod
    def of(cls, lab: Lab) -> _Sums:
        sums = cls()
        sums.workers = {worker: (output.made, output.busy_ns) for worker, output in lab.outputs.items()}
        for name, trainer in lab.trainers.items():
            sums.trainers[name] = len(trainer.waits_ns), trainer.stepped_ns
            sums.steps += trainer.steps
            sums.waited_ns += trainer.waited_ns
            sums.stepped_ns += trainer.stepped_ns
            sums.taken += trainer.taken
        return sums
