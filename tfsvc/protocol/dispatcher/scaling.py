"""What the iterations that are being read ask for: the recommended number of workers."""

from __future__ import annotations

from tfsvc.protocol import messages as m
from tfsvc.protocol.autoscaling import bounded, estimate
from tfsvc.protocol.dispatcher.entities import Iteration
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.dispatcher.turn import Vitals


def scaling(state: DispatcherState, vitals: Vitals) -> m.GetScalingResponse:
    """The most that any iteration asks for, as workers serve all of them at once."""
    staying = [address for address in state.workers if address not in vitals.left and address not in vitals.draining]
    found = [_of(state, vitals, iteration) for iteration in state.iterations.values() if iteration.clients]
    asking = [asked for asked in found if asked is not None]
    wanted = max((asked.recommended for asked in asking), default=None)
    recommended = None if wanted is None else bounded(wanted, len(staying))
    return m.GetScalingResponse(len(staying), recommended, tuple(asking))


def _of(state: DispatcherState, vitals: Vitals, iteration: Iteration) -> m.IterationScaling | None:
    processing = [
        pace.processing_time_nsec
        for paces in vitals.paces.values()
        for pace in paces
        if pace.task_id in iteration.tasks and pace.processing_time_nsec > 0
    ]
    wants = (vitals.wants.get(client_id, 0.0) for client_id in iteration.clients)
    target = [want for want in wants if want > 0]
    recommended = estimate(processing, target)
    if recommended is None:
        return None
    return m.IterationScaling(
        iteration.id,
        state.job_of(iteration).name,
        len(processing),
        recommended,
        sum(processing) / len(processing),
        sum(target) / len(target),
    )
