"""Requests and responses: what nodes say to each other.

The names and fields are those of TensorFlow's ``dispatcher.proto`` and ``worker.proto``. Fields marked
*ours* travel under numbers that TensorFlow's peers skip; ``LeaseSplits`` and ``GetFrames`` are calls of
our own. Byte fields hold what the protocol passes on without reading it. What concerns cluster servers
alone has a module to itself, ``messages.cluster``.
"""

from __future__ import annotations

from tfsvc.protocol.messages.cluster import ClusterRequest, ClusterResponse
from tfsvc.protocol.messages.dispatcher import (
    ActiveTask,
    ClientHeartbeatRequest,
    ClientHeartbeatResponse,
    DisableCompressionAtRuntimeRequest,
    DisableCompressionAtRuntimeResponse,
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
    GetSplitRequest,
    GetSplitResponse,
    GetVersionRequest,
    GetVersionResponse,
    GetWorkersRequest,
    GetWorkersResponse,
    LeaseSplitsRequest,
    LeaseSplitsResponse,
    MaybeRemoveTaskRequest,
    MaybeRemoveTaskResponse,
    OpenLaneRequest,
    OpenLaneResponse,
    ReleaseIterationClientRequest,
    ReleaseIterationClientResponse,
    TaskProgress,
    WorkerHeartbeatRequest,
    WorkerHeartbeatResponse,
    WorkerInfo,
    WorkerUpdateRequest,
    WorkerUpdateResponse,
)
from tfsvc.protocol.messages.shared import (
    VERSION,
    Compression,
    DataServiceConfig,
    DataServiceMetadata,
    DatasetDef,
    DataTransferServerInfo,
    DeploymentMode,
    LaneComplaint,
    LaneInfo,
    LaneProgress,
    ProcessingModeDef,
    ShardingPolicy,
    TargetWorkers,
    TaskDef,
    TaskInfo,
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
)
WorkerRequest = ProcessTaskRequest | GetElementRequest | GetFramesRequest | GetWorkerTasksRequest
Request = DispatcherRequest | WorkerRequest | ClusterRequest
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
    | ProcessTaskResponse
    | GetElementResponse
    | GetFramesResponse
    | GetWorkerTasksResponse
    | ClusterResponse
)

__all__ = [
    "VERSION",
    "ActiveTask",
    "ClientHeartbeatRequest",
    "ClientHeartbeatResponse",
    "Compression",
    "DataServiceConfig",
    "DataServiceMetadata",
    "DataTransferServerInfo",
    "DatasetDef",
    "DeploymentMode",
    "DisableCompressionAtRuntimeRequest",
    "DisableCompressionAtRuntimeResponse",
    "DispatcherRequest",
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
    "GetSplitRequest",
    "GetSplitResponse",
    "GetVersionRequest",
    "GetVersionResponse",
    "GetWorkerTasksRequest",
    "GetWorkerTasksResponse",
    "GetWorkersRequest",
    "GetWorkersResponse",
    "LaneComplaint",
    "LaneInfo",
    "LaneProgress",
    "LeaseSplitsRequest",
    "LeaseSplitsResponse",
    "MaybeRemoveTaskRequest",
    "MaybeRemoveTaskResponse",
    "OpenLaneRequest",
    "OpenLaneResponse",
    "ProcessTaskRequest",
    "ProcessTaskResponse",
    "ProcessingModeDef",
    "ReleaseIterationClientRequest",
    "ReleaseIterationClientResponse",
    "Request",
    "Response",
    "ShardingPolicy",
    "TargetWorkers",
    "TaskDef",
    "TaskInfo",
    "TaskProgress",
    "WorkerHeartbeatRequest",
    "WorkerHeartbeatResponse",
    "WorkerInfo",
    "WorkerRequest",
    "WorkerUpdateRequest",
    "WorkerUpdateResponse",
]
