"""The dispatcher as a machine: each request to its handler, one deadline for all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    NOTHING,
    Answered,
    Asked,
    Cancelled,
    Computed,
    Event,
    Executed,
    Failed,
    Finish,
    Invoked,
    Posed,
    Produced,
    Pulled,
    Step,
    Stopped,
    Stored,
    Synced,
    Wanted,
    Woke,
)
from tfsvc.protocol.dispatcher import (
    datasets,
    describing,
    ending,
    jobs,
    lanes,
    rounds,
    scaling,
    shards,
    snapshots,
    splits,
    steer,
    tasks,
    workers,
)
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.dispatcher.turn import Turn, Vitals
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.protocol.steering import Guided, Steering
from tfsvc.protocol.updates import ReserveIds, Update
from tfsvc.record import record

_HEARTBEATS: Final = (m.WorkerHeartbeatRequest, m.ClientHeartbeatRequest)


@record
class DispatcherView:
    """A picture of a dispatcher.

    Attributes:
      workers: addresses of the workers that are not lost and have not said that they leave.
      readers: reader ids by iteration.
      open_lanes: lane id to (attempt, elements taken).
      leased: how many splits of each iteration were handed out, over all providers and repetitions.
      leased_again: how many of them went to another worker, since theirs was lost.
      scaling: how many workers would do, and why.
    """

    workers: tuple[str, ...]
    readers: dict[int, tuple[int, ...]]
    open_lanes: dict[int, tuple[int, int]]
    leased: dict[int, int]
    leased_again: dict[int, int]
    scaling: m.GetScalingResponse


class Dispatcher:
    """A role of the machine contract.

    Args:
      settings: what it does when.
      name: its name in call ids.
      incarnation: which life this is.
      luck: its random streams.
      records: the updates that earlier lives made durable.
      origin: where a new state's ids begin. One drawn for each new state keeps what peers of another state
        hold from meaning anything here, so that the loss of a state is noticed.
      steering: how much it leases at a time, and which lanes it moves; ``Guided`` when not given.
    """

    def __init__(
        self,
        settings: DispatcherSettings,
        name: str,
        incarnation: int,
        luck: Luck,
        records: Iterable[Update] = (),
        origin: int = 0,
        steering: Steering | None = None,
    ) -> None:
        self.state = DispatcherState()
        for update in records:
            self.state.apply(update)
        self._settings = settings
        self._name = name
        self._incarnation = incarnation
        self._luck = luck
        self._steering = steering or Guided()
        self._vitals = Vitals()
        self._calls = 0
        self._mended = False
        self._deadline: Instant = 0
        self._origin = origin if self.state == DispatcherState() else 0

    def handle(self, event: Event, now: Instant) -> Step:
        if self._vitals.since is None:
            self._vitals.since = now
        turn = Turn(
            self.state,
            self._vitals,
            self._settings,
            self._luck,
            now,
            self._name,
            self._incarnation,
            self._calls,
            self._steering,
        )
        if self._origin:
            turn.record(_ids_behind(self._origin))
            self._origin = 0
        match event:
            case Asked():
                self._asked(turn, event.call, event.request)
            case Stored(number, error):
                snapshots.stored(turn, number, error)
            case Woke():
                if not self._mended:
                    self._mended = True
                    jobs.mend(turn)
                    snapshots.mend(turn)
                jobs.expire(turn)
                workers.expire(turn)
                shards.expire(turn)
                rounds.expire(turn)
                steer.expire(turn)
                ending.expire(turn)
            case Stopped(token):
                turn.words.append(Finish(token, None))
            case Answered() | Failed():
                pass  # tasks are pushed without waiting; a worker that missed one asks by heartbeat
            case (
                Synced()
                | Produced()
                | Executed()
                | Pulled()
                | Invoked()
                | Wanted()
                | Computed()
                | Posed()
                | Cancelled()
            ):
                return NOTHING
            case _:
                assert_never(event)
        self._calls = turn.calls
        if self._vitals.course.due(now) and isinstance(event, Asked) and isinstance(event.request, _HEARTBEATS):
            tally = self._vitals.counters.tally(list(self._vitals.consumptions.values()))
            self._vitals.course.sample(now, len(self.state.workers), len(self.state.clients), tally)
        if turn.hasten or isinstance(event, Woke):
            self._deadline = min(part.deadline(turn) for part in (jobs, workers, shards, rounds, steer, ending))
        return turn.step()

    def deadline(self) -> Instant:
        return self._deadline

    def view(self) -> DispatcherView:
        state = self.state
        return DispatcherView(
            workers=self._present(),
            readers={i.id: tuple(i.clients) for i in state.iterations.values()},
            open_lanes={lane.id: (lane.attempt, lane.taken) for lane in state.lanes.values()},
            leased={i.id: sum(c.next for c in i.cursors.values()) for i in state.iterations.values()},
            leased_again={i.id: i.leased_again for i in state.iterations.values()},
            scaling=scaling.scaling(state, self._vitals),
        )

    def _present(self) -> tuple[str, ...]:
        """Addresses of the workers that have not said that they leave."""
        return tuple(address for address in self.state.workers if address not in self._vitals.left)

    def _asked(self, turn: Turn, call: CallId, request: m.Request) -> None:
        match request:
            case m.WorkerHeartbeatRequest():
                snapshots.heartbeat(turn, call, request, workers.heartbeat(turn, request))
                ending.settle(turn)
            case m.MaybeRemoveTaskRequest():
                answer = rounds.maybe_remove(turn, call, request)
                if answer is not None:
                    turn.reply(call, answer)
            case m.StopServiceRequest():
                ending.begin(turn, call, request)
            case m.SnapshotRequest():
                snapshots.begin(turn, call, request)
            case m.GetSnapshotSplitRequest():
                snapshots.get_split(turn, call, request)
            case _:
                turn.reply(call, self._answer(turn, request))

    def _answer(self, turn: Turn, request: m.Request) -> m.Response | RpcError:
        # What is asked most often comes first.
        match request:
            case m.LeaseSplitsRequest():
                of_snapshot = snapshots.leases_to(turn, request.lane_id)
                return snapshots.lease(turn, request) if of_snapshot else lanes.lease(turn, request)
            case m.ClientHeartbeatRequest():
                return jobs.heartbeat(turn, request)
            case m.OpenLaneRequest():
                return lanes.open_lane(turn, request)
            case m.GetSplitRequest():
                return splits.get_split(turn, request)
            case m.GetVersionRequest():
                return m.GetVersionResponse(m.VERSION, self._incarnation)
            case m.WorkerUpdateRequest():
                return tasks.update(turn, request)
            case m.GetDatasetDefRequest():
                return datasets.definition(turn, request)
            case m.OpenStreamRequest():
                return snapshots.open_stream(turn, request)
            case m.CommitChunkRequest():
                return snapshots.commit(turn, request)
            case m.GetSnapshotStreamsRequest():
                return snapshots.describe(turn, request)
            case m.GetOrRegisterDatasetRequest():
                return datasets.register(turn, request)
            case m.GetDataServiceMetadataRequest():
                return datasets.metadata(turn, request)
            case m.GetDataServiceConfigRequest():
                return m.GetDataServiceConfigResponse(m.DataServiceConfig(self._settings.deployment_mode))
            case m.GetOrCreateJobRequest():
                return jobs.get_or_create_job(turn, request)
            case m.GetOrCreateIterationRequest():
                return jobs.get_or_create_iteration(turn, request)
            case m.ReleaseIterationClientRequest():
                return jobs.release(turn, request)
            case (
                m.MaybeRemoveTaskRequest()
                | m.WorkerHeartbeatRequest()
                | m.StopServiceRequest()
                | m.SnapshotRequest()
                | m.GetSnapshotSplitRequest()
            ):
                raise AssertionError("answered when others have spoken, or the disk has")
            case m.GetWorkersRequest():
                return m.GetWorkersResponse(tuple(m.WorkerInfo(address) for address in self._present()))
            case m.GetScalingRequest():
                return scaling.scaling(turn.state, turn.vitals)
            case m.DrainWorkerRequest():
                return ending.dismiss(turn, request)
            case m.DescribeServiceRequest():
                return describing.describe(turn, request)
            case m.GetChronicleRequest():
                return describing.chronicle(turn, request)
            case m.DisableCompressionAtRuntimeRequest():
                return datasets.decide_compression(turn, request)
            case _ if not isinstance(request, m.DispatcherRequest):
                return RpcError(Code.UNIMPLEMENTED, "This is a dispatcher; ask a worker.")
            case _:
                assert_never(request)


def _ids_behind(origin: int) -> ReserveIds:
    ids = DispatcherState()
    return ReserveIds(
        origin + ids.next_dataset_id,
        origin + ids.next_iteration_id,
        origin + ids.next_client_id,
        origin + ids.next_task_id,
        origin + ids.next_job_id,
        origin + ids.next_lane_id,
    )
