"""Splits for TensorFlow's ``GetSplit``: one at a time, each handed out once."""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.entities import Cursor
from tfsvc.protocol.dispatcher.turn import Turn, invalid, not_found, precondition


def get_split(turn: Turn, request: m.GetSplitRequest) -> m.GetSplitResponse | RpcError:
    """The next split of a provider and repetition; every repetition has a cursor of its own."""
    iteration = turn.state.iterations.get(request.iteration_id)
    if iteration is None:
        if request.iteration_id < turn.state.next_iteration_id:
            return m.GetSplitResponse(end_of_splits=True)  # it is over, and its worker has not heard of that
        return not_found(f"Iteration id {request.iteration_id} not found.")
    job = turn.state.job_of(iteration)
    if job.policy != m.ShardingPolicy.DYNAMIC:
        return precondition(f"Cannot get split for iteration {iteration.id}, since it is not a distributed_epoch one.")
    plans = turn.state.datasets[job.dataset_id].definition.plans
    provider = request.split_provider_index
    if not 0 <= provider < len(plans):
        return invalid(f"Dataset {job.dataset_id} has {len(plans)} split providers; there is no number {provider}.")
    cursor = iteration.cursors.get((0, provider, request.repetition), Cursor())
    if cursor.ended:
        return m.GetSplitResponse(end_of_splits=True)
    plan = plans[provider]
    finished = plan.count is not None and cursor.next >= plan.count
    value = plan.value(cursor.next)
    turn.record(u.ProduceSplit(iteration.id, provider, request.repetition, finished))
    return m.GetSplitResponse(end_of_splits=True) if finished else m.GetSplitResponse(split=value)
