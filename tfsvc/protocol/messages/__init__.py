"""Requests and responses: what nodes say to each other.

The names and fields are those of TensorFlow's ``dispatcher.proto``, ``worker.proto`` and ``tf_rpc_service.proto``.
Fields marked *ours* travel under numbers that TensorFlow's peers skip; ``LeaseSplits``, ``GetFrames`` and a few more
are calls of our own. Byte fields hold what the protocol passes on without reading it. What concerns cluster servers
alone has a module to itself, ``messages.cluster``.
"""

from __future__ import annotations

from typing import Final

from tfsvc.protocol.messages.chronicle import GetChronicleRequest, GetChronicleResponse
from tfsvc.protocol.messages.cluster import (
    ClusterRequest,
    ClusterResponse,
    CreateSessionRequest,
    RunCallableRequest,
    RunGraphRequest,
    RunStepRequest,
)
from tfsvc.protocol.messages.description import (
    Consumption,
    DescribeServiceRequest,
    DescribeServiceResponse,
    Description,
)
from tfsvc.protocol.messages.dispatcher import (
    ActiveTask,
    ClientHeartbeatRequest,
    ClientHeartbeatResponse,
    DisableCompressionAtRuntimeRequest,
    DisableCompressionAtRuntimeResponse,
    DrainWorkerRequest,
    DrainWorkerResponse,
    GetDataServiceConfigRequest,
    GetDataServiceConfigResponse,
    GetDataServiceMetadataRequest,
    GetDataServiceMetadataResponse,
    GetDatasetDefRequest,
    GetDatasetDefResponse,
    GetOrCreateIterationRequest,
    GetOrCreateIterationResponse,
    GetOrCreateJobRequest,
    GetOrCreateJobResponse,
    GetOrRegisterDatasetRequest,
    GetOrRegisterDatasetResponse,
    GetScalingRequest,
    GetScalingResponse,
    GetSplitRequest,
    GetSplitResponse,
    GetVersionRequest,
    GetVersionResponse,
    GetWorkersRequest,
    GetWorkersResponse,
    IterationScaling,
    LeaseSplitsRequest,
    LeaseSplitsResponse,
    MaybeRemoveTaskRequest,
    MaybeRemoveTaskResponse,
    OpenLaneRequest,
    OpenLaneResponse,
    ReleaseIterationClientRequest,
    ReleaseIterationClientResponse,
    StopServiceRequest,
    StopServiceResponse,
    TaskProgress,
    WorkerHeartbeatRequest,
    WorkerHeartbeatResponse,
    WorkerInfo,
    WorkerUpdateRequest,
    WorkerUpdateResponse,
)
from tfsvc.protocol.messages.node import AboutNodeRequest, AboutNodeResponse
from tfsvc.protocol.messages.rpc import (
    CallRequest,
    CallResponse,
    CancelCallRequest,
    CancelCallResponse,
    EndSessionRequest,
    EndSessionResponse,
    FetchItemsRequest,
    FetchItemsResponse,
    ListRequest,
    ListResponse,
    Refusal,
    RegisteredMethod,
    Tensors,
)
from tfsvc.protocol.messages.shared import (
    VERSION,
    Compression,
    DataServiceConfig,
    DataServiceMetadata,
    DatasetDef,
    DataTransferServerInfo,
    Delivery,
    DeploymentMode,
    LaneComplaint,
    LaneInfo,
    LanePlace,
    LaneProgress,
    Level,
    OrderDef,
    ProcessingModeDef,
    Remainder,
    ShardingPolicy,
    TargetWorkers,
    TaskDef,
    TaskInfo,
    native_address,
)
from tfsvc.protocol.messages.snapshots import (
    CommitChunkRequest,
    CommitChunkResponse,
    DistributedSnapshotMetadata,
    GetSnapshotSplitRequest,
    GetSnapshotSplitResponse,
    GetSnapshotStreamsRequest,
    GetSnapshotStreamsResponse,
    GetSnapshotTaskProgressesRequest,
    GetSnapshotTaskProgressesResponse,
    OpenStreamRequest,
    OpenStreamResponse,
    SnapshotRequest,
    SnapshotResponse,
    SnapshotStreamInfo,
    SnapshotTaskDef,
    SnapshotTaskProgress,
    StreamState,
)
from tfsvc.protocol.messages.worker import (
    GetElementRequest,
    GetElementResponse,
    GetFramesRequest,
    GetFramesResponse,
    GetWorkerTasksRequest,
    GetWorkerTasksResponse,
    ProcessTaskRequest,
    ProcessTaskResponse,
)

DispatcherRequest = (
    GetVersionRequest
    | WorkerHeartbeatRequest
    | WorkerUpdateRequest
    | GetDatasetDefRequest
    | GetSplitRequest
    | LeaseSplitsRequest
    | OpenLaneRequest
    | GetOrRegisterDatasetRequest
    | GetDataServiceMetadataRequest
    | GetDataServiceConfigRequest
    | GetOrCreateJobRequest
    | GetOrCreateIterationRequest
    | MaybeRemoveTaskRequest
    | ReleaseIterationClientRequest
    | ClientHeartbeatRequest
    | GetWorkersRequest
    | DisableCompressionAtRuntimeRequest
    | SnapshotRequest
    | GetSnapshotSplitRequest
    | GetSnapshotStreamsRequest
    | OpenStreamRequest
    | CommitChunkRequest
    | GetScalingRequest
    | DescribeServiceRequest
    | GetChronicleRequest
    | DrainWorkerRequest
    | StopServiceRequest
)
WorkerRequest = (
    ProcessTaskRequest | GetElementRequest | GetFramesRequest | GetWorkerTasksRequest | GetSnapshotTaskProgressesRequest
)
RpcRequest = ListRequest | CallRequest | FetchItemsRequest | CancelCallRequest | EndSessionRequest
Request = DispatcherRequest | WorkerRequest | RpcRequest | ClusterRequest | AboutNodeRequest
Response = (
    GetVersionResponse
    | WorkerHeartbeatResponse
    | WorkerUpdateResponse
    | GetDatasetDefResponse
    | GetSplitResponse
    | LeaseSplitsResponse
    | OpenLaneResponse
    | GetOrRegisterDatasetResponse
    | GetDataServiceMetadataResponse
    | GetDataServiceConfigResponse
    | GetOrCreateJobResponse
    | GetOrCreateIterationResponse
    | MaybeRemoveTaskResponse
    | ReleaseIterationClientResponse
    | ClientHeartbeatResponse
    | GetWorkersResponse
    | DisableCompressionAtRuntimeResponse
    | SnapshotResponse
    | GetSnapshotSplitResponse
    | GetSnapshotStreamsResponse
    | OpenStreamResponse
    | CommitChunkResponse
    | GetScalingResponse
    | DescribeServiceResponse
    | GetChronicleResponse
    | DrainWorkerResponse
    | StopServiceResponse
    | ProcessTaskResponse
    | GetElementResponse
    | GetFramesResponse
    | GetWorkerTasksResponse
    | GetSnapshotTaskProgressesResponse
    | ClusterResponse
    | ListResponse
    | CallResponse
    | FetchItemsResponse
    | CancelCallResponse
    | EndSessionResponse
    | AboutNodeResponse
)

CANCELLABLE: Final[frozenset[type]] = frozenset(
    {CallRequest, CreateSessionRequest, RunStepRequest, RunCallableRequest, RunGraphRequest}
)
"""Requests that may be answered late, and whose work is in vain when nobody waits for the answer any more."""

__all__ = [
    "CANCELLABLE",
    "VERSION",
    "AboutNodeRequest",
    "AboutNodeResponse",
    "ActiveTask",
    "CallRequest",
    "CallResponse",
    "CancelCallRequest",
    "CancelCallResponse",
    "ClientHeartbeatRequest",
    "ClientHeartbeatResponse",
    "CommitChunkRequest",
    "CommitChunkResponse",
    "Compression",
    "Consumption",
    "DataServiceConfig",
    "DataServiceMetadata",
    "DataTransferServerInfo",
    "DatasetDef",
    "Delivery",
    "DeploymentMode",
    "DescribeServiceRequest",
    "DescribeServiceResponse",
    "Description",
    "DisableCompressionAtRuntimeRequest",
    "DisableCompressionAtRuntimeResponse",
    "DispatcherRequest",
    "DistributedSnapshotMetadata",
    "DrainWorkerRequest",
    "DrainWorkerResponse",
    "EndSessionRequest",
    "EndSessionResponse",
    "FetchItemsRequest",
    "FetchItemsResponse",
    "GetChronicleRequest",
    "GetChronicleResponse",
    "GetDataServiceConfigRequest",
    "GetDataServiceConfigResponse",
    "GetDataServiceMetadataRequest",
    "GetDataServiceMetadataResponse",
    "GetDatasetDefRequest",
    "GetDatasetDefResponse",
    "GetElementRequest",
    "GetElementResponse",
    "GetFramesRequest",
    "GetFramesResponse",
    "GetOrCreateIterationRequest",
    "GetOrCreateIterationResponse",
    "GetOrCreateJobRequest",
    "GetOrCreateJobResponse",
    "GetOrRegisterDatasetRequest",
    "GetOrRegisterDatasetResponse",
    "GetScalingRequest",
    "GetScalingResponse",
    "GetSnapshotSplitRequest",
    "GetSnapshotSplitResponse",
    "GetSnapshotStreamsRequest",
    "GetSnapshotStreamsResponse",
    "GetSnapshotTaskProgressesRequest",
    "GetSnapshotTaskProgressesResponse",
    "GetSplitRequest",
    "GetSplitResponse",
    "GetVersionRequest",
    "GetVersionResponse",
    "GetWorkerTasksRequest",
    "GetWorkerTasksResponse",
    "GetWorkersRequest",
    "GetWorkersResponse",
    "IterationScaling",
    "LaneComplaint",
    "LaneInfo",
    "LanePlace",
    "LaneProgress",
    "LeaseSplitsRequest",
    "LeaseSplitsResponse",
    "Level",
    "ListRequest",
    "ListResponse",
    "MaybeRemoveTaskRequest",
    "MaybeRemoveTaskResponse",
    "OpenLaneRequest",
    "OpenLaneResponse",
    "OpenStreamRequest",
    "OpenStreamResponse",
    "OrderDef",
    "ProcessTaskRequest",
    "ProcessTaskResponse",
    "ProcessingModeDef",
    "Refusal",
    "RegisteredMethod",
    "ReleaseIterationClientRequest",
    "ReleaseIterationClientResponse",
    "Remainder",
    "Request",
    "Response",
    "RpcRequest",
    "ShardingPolicy",
    "SnapshotRequest",
    "SnapshotResponse",
    "SnapshotStreamInfo",
    "SnapshotTaskDef",
    "SnapshotTaskProgress",
    "StopServiceRequest",
    "StopServiceResponse",
    "StreamState",
    "TargetWorkers",
    "TaskDef",
    "TaskInfo",
    "TaskProgress",
    "Tensors",
    "WorkerHeartbeatRequest",
    "WorkerHeartbeatResponse",
    "WorkerInfo",
    "WorkerRequest",
    "WorkerUpdateRequest",
    "WorkerUpdateResponse",
    "native_address",
]
