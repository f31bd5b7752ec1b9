"""``tf.data.experimental.service``: run datasets on a fleet of workers.

A dispatcher knows the workers and the jobs; workers run the datasets; readers get the elements::

    dispatcher = tf.data.experimental.service.DispatchServer()
    worker = tf.data.experimental.service.WorkerServer(
        tf.data.experimental.service.WorkerConfig(dispatcher_address=dispatcher.target))
    dataset = tf.data.Dataset.range(10)
    dataset = dataset.apply(tf.data.experimental.service.distribute("distributed_epoch", dispatcher.target))
"""

from tfsvc.protocol.messages import Description, ShardingPolicy
from tfsvc.service.autoscaling import Actuator, Autoscaler, LocalProcesses
from tfsvc.service.config import CrossTrainerCache, DispatcherConfig, WorkerConfig
from tfsvc.service.controlling import (
    Chronicle,
    Scaling,
    chronicle,
    describe,
    drain_worker,
    recommended_workers,
    stop_service,
)
from tfsvc.service.distribute import distribute, from_dataset_id, register_dataset
from tfsvc.service.measuring import metrics, start_metrics_server
from tfsvc.service.saving import SnapshotProgress, distributed_save, snapshot_progress
from tfsvc.service.security import Limits, Security
from tfsvc.service.servers import DispatchServer, WorkerServer

__all__ = [
    "Actuator",
    "Autoscaler",
    "Chronicle",
    "CrossTrainerCache",
    "Description",
    "DispatchServer",
    "DispatcherConfig",
    "Limits",
    "LocalProcesses",
    "Scaling",
    "Security",
    "ShardingPolicy",
    "SnapshotProgress",
    "WorkerConfig",
    "WorkerServer",
    "chronicle",
    "describe",
    "distribute",
    "distributed_save",
    "drain_worker",
    "from_dataset_id",
    "metrics",
    "recommended_workers",
    "register_dataset",
    "snapshot_progress",
    "start_metrics_server",
    "stop_service",
]
