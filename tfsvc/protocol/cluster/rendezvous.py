"""The rendezvous: where the values of a step are left and taken, each under its key.

A value stays until its step is over, so that a peer whose call was lost may take it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.computing import Value

Taker = Callable[[Value | RpcError], None]

DROPPED = RpcError(Code.CANCELLED, "the step is over")


@dataclass(slots=True)
class _Step:
    values: dict[str, Value] = field(default_factory=dict)
    takers: dict[str, list[Taker]] = field(default_factory=dict)
    error: RpcError | None = None


class Rendezvous:
    """The values of all steps that a task takes part in."""

    def __init__(self) -> None:
        self._steps: dict[int, _Step] = {}

    def put(self, step_id: int, value: Value) -> None:
        """Leaves a value; whoever waits for it has it at once."""
        step = self._steps.setdefault(step_id, _Step())
        step.values[value.key] = value
        for taker in step.takers.pop(value.key, ()):
            taker(value)

    def take(self, step_id: int, key: str, taker: Taker) -> None:
        """Hands a value to ``taker`` now or once it is there, or the error that the step ends with."""
        step = self._steps.setdefault(step_id, _Step())
        if step.error is not None:
            taker(step.error)
        elif key in step.values:
            taker(step.values[key])
        else:
            step.takers.setdefault(key, []).append(taker)

    def give_up(self, step_id: int, key: str, taker: Taker) -> None:
        """Lets ``taker`` wait no longer."""
        step = self._steps.get(step_id)
        if step is None or taker not in step.takers.get(key, ()):
            return
        step.takers[key].remove(taker)
        if not step.takers[key]:
            del step.takers[key]
        if not (step.takers or step.values or step.error):
            del self._steps[step_id]

    def found(self, step_id: int, key: str) -> Value | None:
        """A value that is there."""
        step = self._steps.get(step_id)
        return None if step is None else step.values.get(key)

    def fail(self, step_id: int, error: RpcError) -> None:
        """Whoever waits for a value of the step, now or later, has the error instead."""
        step = self._steps.setdefault(step_id, _Step())
        step.error = step.error or error
        _tell(step, step.error)

    def drop(self, step_id: int) -> None:
        """The step is over."""
        step = self._steps.pop(step_id, None)
        if step is not None:
            _tell(step, step.error or DROPPED)

    def __len__(self) -> int:
        return len(self._steps)


def _tell(step: _Step, error: RpcError) -> None:
    while step.takers:
        for taker in step.takers.pop(next(iter(step.takers))):
            taker(error)
