"""What is asked of a cluster's server, as master and as worker, and what it answers.

Names and fields are those of TensorFlow's ``master.proto`` and ``worker.proto``. Graphs are serialized
``GraphDef``, tensors serialized ``TensorProto``: masters pass them on without reading.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NamedTensor:
    name: str = ""
    tensor: bytes = b""


@dataclass(frozen=True, slots=True)
class JobDef:
    name: str = ""


@dataclass(frozen=True, slots=True)
class ClusterDef:
    job: tuple[JobDef, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What a server reads of a ``ConfigProto``."""

    device_filters: tuple[str, ...] = ()
    allow_soft_placement: bool = False
    operation_timeout_in_ms: int = 0
    isolate_session_state: bool = False
    cluster_def: ClusterDef = ClusterDef()

    def over(self, defaults: SessionConfig) -> SessionConfig:
        """This one, with what it leaves open taken from ``defaults``."""
        return SessionConfig(
            self.device_filters or defaults.device_filters,
            self.allow_soft_placement or defaults.allow_soft_placement,
            self.operation_timeout_in_ms or defaults.operation_timeout_in_ms,
            self.isolate_session_state or defaults.isolate_session_state,
            self.cluster_def,
        )


@dataclass(frozen=True, slots=True)
class RunOptions:
    timeout_in_ms: int = 0


@dataclass(frozen=True, slots=True)
class CallableOptions:
    feed: tuple[str, ...] = ()
    fetch: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    run_options: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True, slots=True)
class DeviceAttributes:
    name: str = ""
    device_type: str = ""
    memory_limit: int = 0
    incarnation: int = 0


# --- asked of a master ---


@dataclass(frozen=True, slots=True)
class CreateSessionRequest:
    graph_def: bytes = b""
    config: SessionConfig = field(default_factory=SessionConfig)
    target: str = ""


@dataclass(frozen=True, slots=True)
class CreateSessionResponse:
    session_handle: str = ""
    graph_version: int = 0


@dataclass(frozen=True, slots=True)
class ExtendSessionRequest:
    session_handle: str = ""
    graph_def: bytes = b""
    current_graph_version: int = 0


@dataclass(frozen=True, slots=True)
class ExtendSessionResponse:
    new_graph_version: int = 0


@dataclass(frozen=True, slots=True)
class RunStepRequest:
    session_handle: str = ""
    feed: tuple[NamedTensor, ...] = ()
    fetch: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    options: RunOptions = field(default_factory=RunOptions)
    partial_run_handle: str = ""
    store_errors_in_response_body: bool = False
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class RunStepResponse:
    tensor: tuple[NamedTensor, ...] = ()
    status_code: int = 0
    status_error_message: str = ""


@dataclass(frozen=True, slots=True)
class PartialRunSetupRequest:
    session_handle: str = ""


@dataclass(frozen=True, slots=True)
class PartialRunSetupResponse:
    partial_run_handle: str = ""


@dataclass(frozen=True, slots=True)
class CloseSessionRequest:
    session_handle: str = ""


@dataclass(frozen=True, slots=True)
class CloseSessionResponse:
    pass


@dataclass(frozen=True, slots=True)
class ResetRequest:
    container: tuple[str, ...] = ()
    device_filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResetResponse:
    pass


@dataclass(frozen=True, slots=True)
class ListDevicesRequest:
    session_handle: str = ""


@dataclass(frozen=True, slots=True)
class ListDevicesResponse:
    local_device: tuple[DeviceAttributes, ...] = ()
    remote_device: tuple[DeviceAttributes, ...] = ()


@dataclass(frozen=True, slots=True)
class MakeCallableRequest:
    session_handle: str = ""
    options: CallableOptions = field(default_factory=CallableOptions)
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class MakeCallableResponse:
    handle: int = 0


@dataclass(frozen=True, slots=True)
class RunCallableRequest:
    session_handle: str = ""
    handle: int = 0
    feed: tuple[bytes, ...] = ()
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class RunCallableResponse:
    fetch: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseCallableRequest:
    session_handle: str = ""
    handle: int = 0


@dataclass(frozen=True, slots=True)
class ReleaseCallableResponse:
    pass


# --- asked of a worker ---


@dataclass(frozen=True, slots=True)
class GetStatusRequest:
    pass


@dataclass(frozen=True, slots=True)
class GetStatusResponse:
    device_attributes: tuple[DeviceAttributes, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateWorkerSessionRequest:
    session_handle: str = ""
    isolate_session_state: bool = False
    master_task: str = ""
    master_incarnation: int = 0


@dataclass(frozen=True, slots=True)
class CreateWorkerSessionResponse:
    pass


@dataclass(frozen=True, slots=True)
class DeleteWorkerSessionRequest:
    session_handle: str = ""


@dataclass(frozen=True, slots=True)
class DeleteWorkerSessionResponse:
    pass


@dataclass(frozen=True, slots=True)
class RegisterGraphRequest:
    session_handle: str = ""
    create_worker_session_called: bool = True
    graph_def: bytes = b""


@dataclass(frozen=True, slots=True)
class RegisterGraphResponse:
    graph_handle: str = ""


@dataclass(frozen=True, slots=True)
class DeregisterGraphRequest:
    session_handle: str = ""
    create_worker_session_called: bool = True
    graph_handle: str = ""


@dataclass(frozen=True, slots=True)
class DeregisterGraphResponse:
    pass


@dataclass(frozen=True, slots=True)
class RunGraphRequest:
    """``send`` are the values fed here, ``recv_key`` the keys of those to be fetched from here."""

    session_handle: str = ""
    create_worker_session_called: bool = True
    graph_handle: str = ""
    step_id: int = 0
    send: tuple[NamedTensor, ...] = ()
    recv_key: tuple[str, ...] = ()
    store_errors_in_response_body: bool = False
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class RunGraphResponse:
    recv: tuple[NamedTensor, ...] = ()
    status_code: int = 0
    status_error_message: str = ""


@dataclass(frozen=True, slots=True)
class CleanupGraphRequest:
    step_id: int = 0


@dataclass(frozen=True, slots=True)
class CleanupGraphResponse:
    pass


@dataclass(frozen=True, slots=True)
class CleanupAllRequest:
    container: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CleanupAllResponse:
    pass


@dataclass(frozen=True, slots=True)
class RecvTensorRequest:
    step_id: int = 0
    rendezvous_key: str = ""
    request_id: int = 0


@dataclass(frozen=True, slots=True)
class RecvTensorResponse:
    """``is_dead``: the value lies on a branch that was not taken."""

    tensor: bytes = b""
    is_dead: bool = False


@dataclass(frozen=True, slots=True)
class LoggingRequest:
    pass


@dataclass(frozen=True, slots=True)
class LoggingResponse:
    pass


MasterRequest = (
    CreateSessionRequest
    | ExtendSessionRequest
    | RunStepRequest
    | PartialRunSetupRequest
    | CloseSessionRequest
    | ResetRequest
    | ListDevicesRequest
    | MakeCallableRequest
    | RunCallableRequest
    | ReleaseCallableRequest
)
TaskRequest = (
    GetStatusRequest
    | CreateWorkerSessionRequest
    | DeleteWorkerSessionRequest
    | RegisterGraphRequest
    | DeregisterGraphRequest
    | RunGraphRequest
    | CleanupGraphRequest
    | CleanupAllRequest
    | RecvTensorRequest
    | LoggingRequest
)
ClusterRequest = MasterRequest | TaskRequest
ClusterResponse = (
    CreateSessionResponse
    | ExtendSessionResponse
    | RunStepResponse
    | PartialRunSetupResponse
    | CloseSessionResponse
    | ResetResponse
    | ListDevicesResponse
    | MakeCallableResponse
    | RunCallableResponse
    | ReleaseCallableResponse
    | GetStatusResponse
    | CreateWorkerSessionResponse
    | DeleteWorkerSessionResponse
    | RegisterGraphResponse
    | DeregisterGraphResponse
    | RunGraphResponse
    | CleanupGraphResponse
    | CleanupAllResponse
    | RecvTensorResponse
    | LoggingResponse
)
