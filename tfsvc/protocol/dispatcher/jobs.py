"""Jobs, their iterations, and the readers of each."""

from __future__ import annotations

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import About
from tfsvc.protocol.dispatcher import ending, lanes, ordered, remainders, rounds, tasks
from tfsvc.protocol.dispatcher.entities import Iteration, Job, Lane, unnamed
from tfsvc.protocol.dispatcher.roster import kept
from tfsvc.protocol.dispatcher.turn import Turn, invalid, not_found
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.splits import has_position


def get_or_create_job(turn: Turn, request: m.GetOrCreateJobRequest) -> m.GetOrCreateJobResponse | RpcError:
    """The job of that name, which must have the same parameters, or a new one."""
    made = turn.state.nonces.get(request.nonce)
    if made is not None:
        return m.GetOrCreateJobResponse(made)
    error = ending.refusal(turn) or ordered.check_job(request)
    if error is not None:
        return error
    if request.job_name is None:
        name = f"{unnamed(turn.state.next_job_id)}{turn.luck.stream('jobs').bits()}"
    else:
        name = request.job_name
        existing = turn.state.jobs_by_name.get(name)
        if existing is not None:
            job = turn.state.jobs[existing]
            differences = _differences(job, request)
            if differences:
                return invalid(
                    f"Tried to create job with name {name}, but found an existing job with different parameters: "
                    f"{' '.join(differences)} Choose another job name, or the same parameters."
                )
            warning = _other_dataset(turn, job, request)
            if warning:
                turn.warn(warning, About(job.label))
            return m.GetOrCreateJobResponse(job.id, warning)
    turn.record(
        u.CreateJob(
            turn.state.next_job_id,
            name,
            request.dataset_id,
            request.processing_mode_def.sharding_policy,
            request.num_consumers,
            request.use_cross_trainer_cache,
            request.target_workers,
            request.nonce,
            request.order,
            request.delivery,
        )
    )
    return m.GetOrCreateJobResponse(turn.state.jobs_by_name[name])


def _other_dataset(turn: Turn, job: Job, request: m.GetOrCreateJobRequest) -> str:
    """What people should know where a job was made for another dataset than its reader's.

    TensorFlow's rule is that the job's dataset is read. That is no mistake where each reader has registered the same
    one, which then has many ids; so datasets are compared by what they are.
    """
    made_for = turn.state.datasets.get(job.dataset_id)
    wanted = turn.state.datasets.get(request.dataset_id)
    if made_for is None or wanted is None or made_for.looks_like(wanted):
        return ""
    return (
        f"job {job.name!r} was made for dataset {made_for.words}, and gives the elements of that, also to a reader of "
        f"dataset {wanted.words}. Read another dataset with a job_name of its own"
    )


def _differences(job: Job, request: m.GetOrCreateJobRequest) -> list[str]:
    found = []
    policy = request.processing_mode_def.sharding_policy
    if job.policy != policy:
        found.append(f"Existing processing mode: <{job.policy.name}>; got <{policy.name}>.")
    if job.use_cross_trainer_cache != request.use_cross_trainer_cache:
        words = ["<disabled>", "<enabled>"]
        found.append(
            f"Existing cross-trainer cache: {words[job.use_cross_trainer_cache]}; "
            f"got {words[request.use_cross_trainer_cache]}."
        )
    if job.delivery != request.delivery:
        found.append(f"Existing delivery: <{job.delivery.name}>; got <{request.delivery.name}>.")
    if job.order != request.order:
        found.append(f"Existing order: {job.order}; got {request.order}.")
    if job.order.lanes and job.num_consumers != request.num_consumers:
        found.append(f"Existing number of consumers: {job.num_consumers}; got {request.num_consumers}.")
    if job.target_workers != request.target_workers:
        found.append(f"Existing target workers: <{job.target_workers.name}>; got <{request.target_workers.name}>.")
    return found


def get_or_create_iteration(
    turn: Turn, request: m.GetOrCreateIterationRequest
) -> m.GetOrCreateIterationResponse | RpcError:
    """A new reader of an iteration, which is created for its first reader."""
    made = turn.state.nonces.get(request.nonce)
    job = turn.state.jobs.get(request.job_id)
    if made is not None:
        return m.GetOrCreateIterationResponse(made, job is not None and job.has_lanes)
    if job is None:
        return not_found(f"Job id {request.job_id} not found. Create the job again.")
    error = ending.refusal(turn) or ordered.check(job, request)
    if error is not None:
        return error
    if request.repetition not in job.iterations:
        # Of what was read to its end nothing is kept but that; a token says where to begin in it again.
        over = has_position(job.finished, request.repetition) and not request.resumes
        error = _create_iteration(turn, job, request.repetition, over)
        if error is not None:
            return error
    iteration = turn.state.iterations[job.iterations[request.repetition]]
    client_id = turn.state.next_client_id
    if request.resumes:
        # Before the reader is remembered: asking again after a crash must find its lanes where it wants them.
        ordered.rewind(turn, iteration, request.consumer_index, request.places)
    turn.record(u.AcquireClient(iteration.id, client_id, request.nonce, request.consumer_index))
    if job.order.lanes:
        for older in ordered.older_readers(iteration, client_id):
            turn.warn(
                f"reader {client_id} takes over from reader {older} of job {job.name}",
                About(job.label, iteration.id, reader=client_id),
            )
            _drop_client(turn, older)
        if request.resumes:
            _staff(turn, iteration)
        elif not iteration.finished:
            ordered.deal(turn, iteration, request.consumer_index)
        turn.vitals.ready.pop((iteration.id, request.consumer_index), None)
    turn.vitals.clients[client_id] = turn.now if request.nonce else NEVER
    turn.vitals.had_work, turn.vitals.idle_since = True, None
    turn.hasten = True
    return m.GetOrCreateIterationResponse(client_id, job.has_lanes)


def _create_iteration(turn: Turn, job: Job, repetition: int, over: bool) -> RpcError | None:
    dataset = turn.state.datasets.get(job.dataset_id)
    if dataset is None:
        return not_found(f"Dataset id {job.dataset_id} not found. Register the dataset with this dispatcher first.")
    shards = len(turn.settings.worker_addresses) if job.policy.static else 1
    if not shards:
        return not_found(
            f"The workers are not in the workers list, by which sharding policy {job.policy.name} divides the data. "
            "Name them in DispatcherConfig.worker_addresses, or use DYNAMIC, which needs no list."
        )
    if job.policy == m.ShardingPolicy.DYNAMIC and not dataset.definition.plans:
        return RpcError(Code.UNIMPLEMENTED, dataset.definition.unsplittable or "The dataset has no splits.")
    if job.order.lanes:
        seed = ordered.seed(job.order, repetition)
    else:
        seed = turn.luck.stream(f"iteration/{turn.state.next_iteration_id}").bits() >> 1
    turn.record(u.CreateIteration(turn.state.next_iteration_id, job.id, repetition, seed, shards, over))
    if not over:
        _staff(turn, turn.state.iterations[turn.state.next_iteration_id - 1])
    return None


def _staff(turn: Turn, iteration: Iteration) -> None:
    """Gives every worker that has none a task of the iteration."""
    unfinished = (turn.state.tasks[task_id] for task_id in iteration.tasks)
    have = {task.worker_address for task in unfinished if not task.finished}
    for worker in tuple(turn.state.workers.values()):
        if worker.address not in have and tasks.can_run(turn, iteration, worker):
            tasks.push(turn, tasks.create(turn, iteration, worker))


def mend(turn: Turn) -> None:
    """Completes what a crash cut short, since the updates of one step may have become durable in part."""
    for iteration in tuple(turn.state.iterations.values()):
        if not finished(turn, iteration):
            given = (turn.state.tasks[task_id] for task_id in iteration.tasks)
            have = {task.worker_address for task in given if not task.lost}
            for worker in tuple(turn.state.workers.values()):
                if worker.address not in have and tasks.can_run(turn, iteration, worker):
                    tasks.create(turn, iteration, worker)
        lanes.arrange(turn, iteration)
        settle(turn, iteration)


def finished(turn: Turn, iteration: Iteration) -> bool:
    """Whether the iteration has no more elements for anybody."""
    if iteration.finished:
        return True
    if turn.state.job_of(iteration).has_lanes:
        return lanes.finished(turn, iteration)
    given = [turn.state.tasks[task_id] for task_id in iteration.tasks]
    if turn.state.job_of(iteration).coordinated and any(task.lost for task in given):
        return False  # as long as its readers have not given it up together
    return bool(given) and all(task.finished for task in given)


def heartbeat(turn: Turn, request: m.ClientHeartbeatRequest) -> m.ClientHeartbeatResponse | RpcError:
    """What a reader took, and what it should know: its tasks, its lanes, whether it is the end."""
    client_id = request.iteration_client_id
    iteration_id = turn.state.clients.get(client_id)
    if iteration_id is None:
        return not_found(
            f"Unknown iteration client id {client_id}: it was released, timed out, had its place taken by a newer "
            "reader, or belongs to a dispatcher whose state was lost. Make a new iterator."
        )
    iteration = turn.state.iterations[iteration_id]
    turn.hasten = turn.vitals.clients.get(client_id, NEVER) == NEVER
    turn.vitals.clients[client_id] = turn.now
    readers = turn.vitals.lane_readers if request.reads_lanes else turn.vitals.plain_readers
    if client_id not in readers or turn.vitals.nearby.get(client_id) != request.nearby:
        readers[client_id] = None
        turn.vitals.nearby[client_id] = request.nearby
        turn.changed()
    turn.vitals.wants[client_id] = request.target_processing_time_nsec
    _consumed(turn, client_id, request.consumption)
    coordinated = turn.state.job_of(iteration).coordinated
    block_round = rounds.heartbeat(turn, iteration, request) if coordinated else None
    lanes.advance(turn, client_id, request.progress)
    lanes.complain(turn, client_id, request.complaints)
    lanes.arrange(turn, iteration)
    has_lanes = turn.state.job_of(iteration).has_lanes
    level = remainders.level(turn, iteration, client_id, request)
    done = finished(turn, iteration) or (
        has_lanes and request.reads_lanes and lanes.finished_for(turn, iteration, client_id)
    )
    done = done and (level is None or level.final is not None)
    cut_off = None if done else ending.cut_off(turn)
    if cut_off is not None:
        return cut_off
    if done != (client_id in turn.vitals.told_end):
        turn.changed()
        if done:
            turn.vitals.told_end[client_id] = None
            _tell_end(turn, iteration)
        else:
            del turn.vitals.told_end[client_id]
    return m.ClientHeartbeatResponse(
        task_info=_tasks_of(turn, iteration),
        block_round=block_round,
        iteration_finished=done,
        deployment_mode=turn.settings.deployment_mode,
        lanes=_lanes_of(turn, iteration, client_id),
        warning=_loss(iteration, has_lanes),
        level=level,
    )


def _tell_end(turn: Turn, iteration: Iteration) -> None:
    """Tells people that a pass is over, once nothing is left for any of its readers."""
    if finished(turn, iteration):
        told = (turn.vitals.consumptions.get(client_id) for client_id in iteration.clients)
        taken = sum(consumption.elements for consumption in told if consumption is not None)
        turn.vitals.chronicle.over(iteration, turn.state.job_of(iteration), taken)


def _tasks_of(turn: Turn, iteration: Iteration) -> tuple[m.TaskInfo, ...]:
    def describe() -> tuple[m.TaskInfo, ...]:
        given = (turn.state.tasks[task_id] for task_id in iteration.tasks)
        return tuple(tasks.describe_to_reader(turn, task) for task in given if not task.pending)

    roster = turn.vitals.roster
    return kept(roster.tasks, iteration.id, roster.task_changes, describe)


def _lanes_of(turn: Turn, iteration: Iteration, client_id: int) -> tuple[m.LaneInfo, ...]:
    roster = turn.vitals.roster
    told = roster.lanes.get(client_id)
    if told is None:
        found = (turn.state.lanes[lane_id] for lane_id in sorted(roster.lanes_of(turn.state, client_id)))
        again = turn.state.job_of(iteration).delivery is m.Delivery.AT_LEAST_ONCE
        # How far an attempt was taken matters to a reader to which it is new; then the reader itself knows best.
        told = roster.lanes[client_id] = tuple(
            m.LaneInfo(lane.id, lane.attempt, lane.task_id, _address_of(turn, lane), lane.taken, lane.index, again)
            for lane in found
        )
    return told


def _address_of(turn: Turn, lane: Lane) -> str:
    """Where a lane runs; empty as long as there is no worker for it."""
    task = turn.state.tasks.get(lane.task_id)
    worker = None if task is None else turn.state.workers.get(task.worker_address)
    return "" if worker is None else m.native_address(worker.transfer_servers) or worker.address


def _loss(iteration: Iteration, has_lanes: bool) -> str:
    if iteration.lost_shards:
        return (
            f"no worker came back for {iteration.lost_shards} of {iteration.shards} shards of this data; what was left "
            "of them is missing. Start a worker at the same address within DispatcherConfig.worker_timeout_ms, or use "
            "DYNAMIC sharding, which lets the others take over."
        )
    if iteration.given_up:
        return f"{iteration.given_up} splits were given up with their workers, since the job delivers at most once"
    if has_lanes or not iteration.lost_tasks:
        return ""
    return (
        f"{iteration.lost_tasks} worker(s) were lost or restarted while this data was read; what they still had is "
        "missing, and a restarted worker gave its data again. DYNAMIC sharding reads everything exactly once."
    )


def release(turn: Turn, request: m.ReleaseIterationClientRequest) -> m.ReleaseIterationClientResponse | RpcError:
    """A reader leaves; what it did not take goes to the others."""
    client_id = request.iteration_client_id
    if client_id not in turn.state.clients:
        return not_found(f"Unknown iteration client id {client_id}: it was released before.")
    lanes.advance(turn, client_id, request.progress)
    _consumed(turn, client_id, request.consumption)
    remainders.settle(turn, turn.state.iterations[turn.state.clients[client_id]], client_id)
    _drop_client(turn, client_id)
    return m.ReleaseIterationClientResponse()


def _consumed(turn: Turn, client_id: int, consumption: m.Consumption | None) -> None:
    if consumption is None:
        return
    consumption = m.Consumption() + consumption
    before = turn.vitals.consumptions.get(client_id)
    if before is not None and consumption.discarded > before.discarded:
        job = turn.state.job_of(turn.state.iterations[turn.state.clients[client_id]])
        turn.vitals.chronicle.again(job, client_id, consumption.discarded - before.discarded)
    turn.vitals.consumptions[client_id] = consumption
    turn.vitals.course.said(client_id, consumption, turn.now)


def _drop_client(turn: Turn, client_id: int) -> None:
    iteration = turn.state.iterations[turn.state.clients[client_id]]
    turn.record(u.ReleaseClient(client_id))
    turn.vitals.clients.pop(client_id, None)
    turn.vitals.lane_readers.pop(client_id, None)
    turn.vitals.plain_readers.pop(client_id, None)
    turn.vitals.told_end.pop(client_id, None)
    turn.vitals.nearby.pop(client_id, None)
    turn.vitals.wants.pop(client_id, None)
    consumption = turn.vitals.consumptions.pop(client_id, None)
    turn.vitals.counters.left(consumption)
    turn.vitals.course.left(client_id, turn.state.job_of(iteration).label, consumption)
    turn.vitals.chronicle.left(iteration.id, 0 if consumption is None else consumption.elements)
    for pair in [pair for pair in turn.vitals.shunned if pair[1] == client_id]:
        del turn.vitals.shunned[pair]
    turn.vitals.released_at[iteration.id] = turn.now
    lanes.arrange(turn, iteration)
    settle(turn, iteration)


def settle(turn: Turn, iteration: Iteration) -> None:
    """Forgets an iteration that nobody reads, if it is over; otherwise others may still go on with it."""
    if iteration.clients or not iteration.released:
        return
    if finished(turn, iteration):
        turn.record(u.FinishIteration(iteration.id))
    elif turn.state.job_of(iteration).anonymous:
        # Nobody can ever go on with it; its workers would keep what they made ahead for good.
        turn.record(u.CollectIteration(iteration.id))
    else:
        return
    turn.vitals.released_at.pop(iteration.id, None)
    for pair in [pair for pair in turn.vitals.ready if pair[0] == iteration.id]:
        del turn.vitals.ready[pair]


def expire(turn: Turn) -> None:
    """Releases readers that were silent too long, and collects iterations nobody reads."""
    if turn.settings.gc_timeout_ns < 0:
        return
    for client_id, iteration_id in tuple(turn.state.clients.items()):
        heard = turn.vitals.clients.setdefault(client_id, turn.now)
        if heard != NEVER and turn.now - heard >= turn.settings.client_timeout_ns:
            if not finished(turn, turn.state.iterations[iteration_id]):
                about = About(iteration=iteration_id, reader=client_id)
                turn.warn(f"reader {client_id} was silent too long; what it did not take goes to the others", about)
            turn.vitals.counters.readers_lost += 1
            _drop_client(turn, client_id)
    if turn.now >= turn.vitals.next_gc:
        for iteration in tuple(turn.state.iterations.values()):
            _collect(turn, iteration)
        turn.vitals.next_gc = turn.now + turn.settings.gc_interval_ns


def _collect(turn: Turn, iteration: Iteration) -> None:
    dynamic = turn.state.job_of(iteration).policy == m.ShardingPolicy.DYNAMIC
    if dynamic and not turn.settings.gc_dynamic_sharding_jobs:
        return
    if iteration.clients or not iteration.released:
        return
    if turn.now - turn.vitals.released_at.setdefault(iteration.id, turn.now) >= turn.settings.gc_timeout_ns:
        turn.record(u.CollectIteration(iteration.id))
        del turn.vitals.released_at[iteration.id]


def deadline(turn: Turn) -> Instant:
    """When the next reader will have been silent too long, or the next collection is due."""
    if turn.settings.gc_timeout_ns < 0:
        return NEVER
    heard = [t for t in turn.vitals.clients.values() if t != NEVER]
    return min([turn.vitals.next_gc, *(t + turn.settings.client_timeout_ns for t in heard)])
