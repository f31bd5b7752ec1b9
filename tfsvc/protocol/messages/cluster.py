"""What is asked of a cluster's server, as master and as worker, and what it answers.

Names and fields are those of TensorFlow's ``master.proto`` and ``worker.proto``. Graphs are serialized
``GraphDef``, tensors serialized ``TensorProto``: masters pass them on without reading.
"""

from __future__ import annotations

from dataclasses import field

from tfsvc.record import record


@record
class NamedTensor:
    name: str = ""
    tensor: bytes = b""


@record
class JobDef:
    name: str = ""


@record
class ClusterDef:
    job: tuple[JobDef, ...] = ()


@record
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


@record
class RunOptions:
    timeout_in_ms: int = 0


@record
class CallableOptions:
    feed: tuple[str, ...] = ()
    fetch: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    run_options: RunOptions = field(default_factory=RunOptions)


@record
class DeviceAttributes:
    name: str = ""
    device_type: str = ""
    memory_limit: int = 0
    incarnation: int = 0


# --- asked of a master ---


@record
class CreateSessionRequest:
    graph_def: bytes = b""
    config: SessionConfig = field(default_factory=SessionConfig)
    target: str = ""


@record
class CreateSessionResponse:
    session_handle: str = ""
    graph_version: int = 0


@record
class ExtendSessionRequest:
    session_handle: str = ""
    graph_def: bytes = b""
    current_graph_version: int = 0


@record
class ExtendSessionResponse:
    new_graph_version: int = 0


@record
class RunStepRequest:
    session_handle: str = ""
    feed: tuple[NamedTensor, ...] = ()
    fetch: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    options: RunOptions = field(default_factory=RunOptions)
    partial_run_handle: str = ""
    store_errors_in_response_body: bool = False
    request_id: int = 0


@record
class RunStepResponse:
    tensor: tuple[NamedTensor, ...] = ()
    status_code: int = 0
    status_error_message: str = ""


@record
class PartialRunSetupRequest:
    session_handle: str = ""


@record
class PartialRunSetupResponse:
    partial_run_handle: str = ""


@record
class CloseSessionRequest:
    session_handle: str = ""


@record
class CloseSessionResponse:
    pass


@record
class ResetRequest:
    container: tuple[str, ...] = ()
    device_filters: tuple[str, ...] = ()


@record
class ResetResponse:
    pass


@record
class ListDevicesRequest:
    session_handle: str = ""


@record
class ListDevicesResponse:
    local_device: tuple[DeviceAttributes, ...] = ()
    remote_device: tuple[DeviceAttributes, ...] = ()


@record
class MakeCallableRequest:
    session_handle: str = ""
    options: CallableOptions = field(default_factory=CallableOptions)
    request_id: int = 0


@record
class MakeCallableResponse:
    handle: int = 0


@record
class RunCallableRequest:
    session_handle: str = ""
    handle: int = 0
    feed: tuple[bytes, ...] = ()
    request_id: int = 0


@record
class RunCallableResponse:
    fetch: tuple[bytes, ...] = ()


@record
class ReleaseCallableRequest:
    session_handle: str = ""
    handle: int = 0


@record
class ReleaseCallableResponse:
    pass


# --- asked of a worker ---


@record
class GetStatusRequest:
    pass


@record
class GetStatusResponse:
    device_attributes: tuple[DeviceAttributes, ...] = ()


@record
class CreateWorkerSessionRequest:
    session_handle: str = ""
    isolate_session_state: bool = False
    master_task: str = ""
    master_incarnation: int = 0


@record
class CreateWorkerSessionResponse:
    pass


@record
class DeleteWorkerSessionRequest:
    session_handle: str = ""


@record
class DeleteWorkerSessionResponse:
    pass


@record
class RegisterGraphRequest:
    session_handle: str = ""
    create_worker_session_called: bool = True
    graph_def: bytes = b""


@record
class RegisterGraphResponse:
    graph_handle: str = ""


@record
class DeregisterGraphRequest:
    session_handle: str = ""
    create_worker_session_called: bool = True
    graph_handle: str = ""


@record
class DeregisterGraphResponse:
    pass


@record
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


@record
class RunGraphResponse:
    recv: tuple[NamedTensor, ...] = ()
    status_code: int = 0
    status_error_message: str = ""


@record
class CleanupGraphRequest:
    step_id: int = 0


@record
class CleanupGraphResponse:
    pass


@record
class CleanupAllRequest:
    container: tuple[str, ...] = ()


@record
class CleanupAllResponse:
    pass


@record
class RecvTensorRequest:
    step_id: int = 0
    rendezvous_key: str = ""
    request_id: int = 0


@record
class RecvTensorResponse:
    """``is_dead``: the value lies on a branch that was not taken."""

    tensor: bytes = b""
    is_dead: bool = False


@record
class LoggingRequest:
    pass


@record
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
