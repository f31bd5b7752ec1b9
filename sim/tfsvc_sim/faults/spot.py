"""Spot traces: when instances were taken back and came again, as faults.

A trace is lines of ``seconds,instance,up`` or ``seconds,instance,down``, as fleets log them; ``#`` begins a comment.
Instances become workers in the order in which they appear.
"""

from __future__ import annotations

from typing import Final

from tfsvc_sim.faults import Fault, Preempt

NOTICE_MS: Final = 120_000
"""How long before it is taken an instance is told; two minutes, as in the largest cloud."""


def preemptions(trace: str, faster: int = 1, notice_ms: int = NOTICE_MS) -> tuple[Fault, ...]:
    """The preemptions of a trace.

    Args:
      faster: by how much the trace is sped up, so that hours fit into the seconds of a small dataset.

    Raises:
      ValueError: naming the line that makes no sense.
    """
    numbers: dict[str, int] = {}
    down_since: dict[int, int] = {}
    faults = []
    for number, line in enumerate(trace.splitlines(), 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        try:
            seconds, instance, what = (part.strip() for part in text.split(","))
            at_ms = round(float(seconds) * 1000 / faster)
        except ValueError as error:
            raise ValueError(f"line {number} of the trace is {line!r}, not seconds,instance,up or down") from error
        worker = numbers.setdefault(instance, len(numbers))
        match what:
            case "down" if worker not in down_since:
                down_since[worker] = at_ms
            case "up":
                since = down_since.pop(worker, at_ms)
                if since < at_ms:
                    faults.append(_taken(worker, since, at_ms - since, notice_ms // faster))
            case _:
                raise ValueError(f"line {number} of the trace: {instance} cannot go {what!r} here")
    faults += [_taken(worker, since, None, notice_ms // faster) for worker, since in down_since.items()]
    return tuple(sorted(faults, key=lambda fault: fault.at_ms))


def _taken(worker: int, at_ms: int, for_ms: int | None, notice_ms: int) -> Fault:
    return Fault(Preempt(f"worker{worker}", notice_ms), at_ms, for_ms)
