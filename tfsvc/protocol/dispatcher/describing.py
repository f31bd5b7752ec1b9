"""The picture of a whole cluster for people and their tools. Nothing changes by looking at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from tfsvc.protocol.dispatcher import jobs
from tfsvc.protocol.dispatcher.entities import Dataset, Iteration, Job, Lane, Task, Worker
from tfsvc.protocol.dispatcher.scaling import scaling
from tfsvc.protocol.dispatcher.snapshot_state import Snapshot
from tfsvc.protocol.dispatcher.turn import Turn
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.messages import IterationScaling
from tfsvc.protocol.messages import description as d
from tfsvc.protocol.messages.chronicle import GetChronicleRequest, GetChronicleResponse
from tfsvc.protocol.splits import SplitPlan

WORDS_MAX: Final = 4096
"""How much of a text that users write is shown."""


def describe(turn: Turn, request: d.DescribeServiceRequest) -> d.DescribeServiceResponse:
    """What there is now, in no more than so many rows of each kind."""
    state, vitals = turn.state, turn.vitals
    rows = request.rows_max if request.rows_max > 0 else d.ROWS_MAX
    wanted = scaling(state, vitals)
    asked = {each.iteration_id: each for each in wanted.iterations}
    paces = {pace.task_id: pace.processing_time_nsec for told in vitals.paces.values() for pace in told}
    tasks = sorted(state.tasks.values(), key=lambda task: task.finished)
    lanes_by_task, leased_by_task = _lanes_by_task(state.lanes.values())
    lanes_by_reader = Counter(lane.client_id for lane in state.lanes.values())
    return d.DescribeServiceResponse(
        d.Description(
            incarnation=turn.incarnation,
            up_ns=0 if vitals.since is None else turn.now - vitals.since,
            stopping=vitals.stopping is not None,
            deployment_mode=turn.settings.deployment_mode.name,
            recommended_workers=wanted.recommended,
            census=_census(turn),
            tally=vitals.counters.tally(list(vitals.consumptions.values())),
            workers=tuple(
                _worker(turn, worker, lanes_by_task, leased_by_task) for worker in islice(state.workers.values(), rows)
            ),
            datasets=tuple(_dataset(dataset) for dataset in islice(state.datasets.values(), rows)),
            jobs=tuple(_job(job) for job in islice(state.jobs.values(), rows)),
            iterations=tuple(
                _iteration(turn, iteration, asked.get(iteration.id))
                for iteration in islice(state.iterations.values(), rows)
            ),
            tasks=tuple(_task(task, paces.get(task.id, 0.0)) for task in tasks[:rows]),
            lanes=tuple(_lane(turn, lane) for lane in islice(state.lanes.values(), rows)),
            readers=tuple(
                _reader(turn, client_id, iteration_id, lanes_by_reader[client_id])
                for client_id, iteration_id in islice(state.clients.items(), rows)
            ),
            snapshots=tuple(_snapshot(snapshot) for snapshot in islice(state.snapshots.by_path.values(), rows)),
        )
    )


def chronicle(turn: Turn, request: GetChronicleRequest) -> GetChronicleResponse:
    """What happened lately, and how fast it was."""
    state, vitals = turn.state, turn.vitals
    happenings, left_out = vitals.chronicle.behind(request.after, turn.now)
    present = {
        client_id: (state.job_of(state.iterations[state.clients[client_id]]).label, consumption)
        for client_id, consumption in vitals.consumptions.items()
    }
    course = vitals.course
    return GetChronicleResponse(happenings, course.samples(turn.now), course.recent(), course.totals(present), left_out)


def _census(turn: Turn) -> d.Census:
    state = turn.state
    return d.Census(
        workers=len(state.workers),
        datasets=len(state.datasets),
        jobs=len(state.jobs),
        iterations=len(state.iterations),
        tasks=len(state.tasks),
        lanes=len(state.lanes),
        readers=len(state.clients),
        snapshots=len(state.snapshots.by_path),
    )


def _lanes_by_task(lanes: Iterable[Lane]) -> tuple[Counter[int], Counter[int]]:
    """How many lanes each task runs, and how many splits these hold."""
    count: Counter[int] = Counter()
    leased: Counter[int] = Counter()
    for lane in lanes:
        count[lane.task_id] += 1
        leased[lane.task_id] += lane.held
    return count, leased


def _silent_ns(turn: Turn, heard: Instant | None) -> int | None:
    """How long ago somebody was heard; TensorFlow's readers count as heard before their first heartbeat."""
    return None if heard is None else 0 if heard == NEVER else turn.now - heard


def _worker(turn: Turn, worker: Worker, lanes: Mapping[int, int], leased: Mapping[int, int]) -> d.WorkerDescription:
    return d.WorkerDescription(
        address=worker.address,
        incarnation=worker.incarnation,
        native=worker.native,
        state=_worker_state(turn, worker.address),
        tags=worker.tags,
        transfer_servers=tuple(d.TransferServer(s.protocol, s.address) for s in worker.transfer_servers),
        silent_ns=_silent_ns(turn, turn.vitals.workers.get(worker.address)),
        interval_ns=turn.vitals.intervals_ns.get(worker.address, worker.interval_ns),
        tasks=len(worker.tasks),
        lanes=sum(lanes[task_id] for task_id in worker.tasks),
        leased=sum(leased[task_id] for task_id in worker.tasks),
    )


def _worker_state(turn: Turn, address: str) -> str:
    if address in turn.vitals.left:
        return "leaving"
    if address in turn.vitals.draining:
        return "draining"
    return "silent" if address in turn.vitals.suspects else "live"


def _dataset(dataset: Dataset) -> d.DatasetDescription:
    plans = dataset.definition.plans
    return d.DatasetDescription(
        id=dataset.id,
        native=bool(dataset.definition.program),
        cardinality=dataset.metadata.cardinality,
        sources=len(plans),
        splits=_splits(plans),
        operators=dataset.metadata.description[:WORDS_MAX],
    )


def _splits(plans: tuple[SplitPlan, ...]) -> int | None:
    """How many splits there are in one repetition of all sources."""
    counts = [plan.count for plan in plans]
    return None if None in counts or not counts else sum(count for count in counts if count is not None)


def _job(job: Job) -> d.JobDescription:
    return d.JobDescription(
        id=job.id,
        name=job.name,
        anonymous=job.anonymous,
        dataset_id=job.dataset_id,
        sharding_policy=job.policy.name,
        mode=_mode(job),
        delivery=job.delivery.name,
        target_workers=job.target_workers.name,
        num_consumers=job.num_consumers,
        finished=sum(span.size for span in job.finished),
    )


def _mode(job: Job) -> str:
    if job.order.lanes:
        return "ordered"
    if job.coordinated:
        return "coordinated"
    return "cached" if job.use_cross_trainer_cache else "independent"


def _iteration(turn: Turn, iteration: Iteration, asked: IterationScaling | None) -> d.IterationDescription:
    return d.IterationDescription(
        id=iteration.id,
        job_id=iteration.job_id,
        repetition=iteration.repetition,
        finished=jobs.finished(turn, iteration),
        readers=len(iteration.clients),
        tasks=len(iteration.tasks),
        tasks_lost=iteration.lost_tasks,
        shards=iteration.shards,
        shards_lost=iteration.lost_shards,
        lanes=len(iteration.lanes),
        splits=sum(cursor.next for cursor in iteration.cursors.values()),
        splits_again=iteration.leased_again,
        splits_given_up=iteration.given_up,
        repeated=iteration.repeated,
        recommended=None if asked is None else asked.recommended,
        processing_time_nsec=0.0 if asked is None else asked.processing_time_nsec,
        target_processing_time_nsec=0.0 if asked is None else asked.target_processing_time_nsec,
    )


def _task(task: Task, processing_time_nsec: float) -> d.TaskDescription:
    return d.TaskDescription(
        id=task.id,
        iteration_id=task.iteration_id,
        worker_address=task.worker_address,
        shard=task.shard,
        state=_task_state(task),
        processing_time_nsec=processing_time_nsec,
    )


def _task_state(task: Task) -> str:
    if task.finished:
        return "lost" if task.lost else "finished"
    return "pending" if task.pending else "running"


def _lane(turn: Turn, lane: Lane) -> d.LaneDescription:
    task = turn.state.tasks.get(lane.task_id)
    return d.LaneDescription(
        id=lane.id,
        iteration_id=lane.iteration_id,
        task_id=lane.task_id,
        reader_id=lane.client_id,
        worker_address="" if task is None else task.worker_address,
        index=lane.index,
        shard=lane.shard,
        attempt=lane.attempt,
        taken=lane.taken,
        leased=lane.held,
    )


def _reader(turn: Turn, client_id: int, iteration_id: int, lanes: int) -> d.ReaderDescription:
    vitals = turn.vitals
    heard = client_id in vitals.lane_readers or client_id in vitals.plain_readers
    return d.ReaderDescription(
        id=client_id,
        iteration_id=iteration_id,
        native=client_id in vitals.lane_readers if heard else None,
        silent_ns=_silent_ns(turn, vitals.clients.get(client_id)),
        consumer_index=turn.state.iterations[iteration_id].clients[client_id],
        lanes=lanes,
        consumption=vitals.consumptions.get(client_id),
        round=vitals.rounds.get(client_id),
        at_end=client_id in vitals.told_end,
        target_processing_time_nsec=vitals.wants.get(client_id, 0.0),
    )


def _snapshot(snapshot: Snapshot) -> d.SnapshotDescription:
    return d.SnapshotDescription(
        path=snapshot.path,
        state=_snapshot_state(snapshot),
        error="" if snapshot.error is None else snapshot.error.message[:WORDS_MAX],
        streams=len(snapshot.streams),
        streams_done=len(snapshot.streams) - len(snapshot.open()),
        chunks=sum(len(stream.commits) for stream in snapshot.streams),
        elements=sum(stream.elements for stream in snapshot.streams),
        splits=snapshot.splits,
        splits_total=_splits(snapshot.dataset.plans),
    )


def _snapshot_state(snapshot: Snapshot) -> str:
    if not snapshot.created:
        return "creating"
    if not snapshot.ended:
        return "writing"
    if not snapshot.closed:
        return "closing"
    return "done" if snapshot.error is None else "failed"
