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
from tfsvc.service.controlling import Scaling, describe, drain_worker, recommended_workers, stop_service
from tfsvc.service.distribute import distribute, from_dataset_id, register_dataset
from tfsvc.service.saving import SnapshotProgress, distributed_save, snapshot_progress
from tfsvc.service.servers import DispatchServer, WorkerServer

__all__ = [
    "Actuator",
    "Autoscaler",
    "CrossTrainerCache",
    "Description",
    "DispatchServer",
    "DispatcherConfig",
    "LocalProcesses",
    "Scaling",
    "ShardingPolicy",
    "SnapshotProgress",
    "WorkerConfig",
    "WorkerServer",
    "describe",
    "distribute",
    "distributed_save",
    "drain_worker",
    "from_dataset_id",
    "recommended_workers",
    "register_dataset",
    "snapshot_progress",
    "stop_service",
]
