"""``ClusterDeviceFilters``: which devices the tasks of a cluster can see."""

from __future__ import annotations

from collections.abc import Sequence

from tfsvc.train.protos import ClusterDeviceFiltersDef


class ClusterDeviceFilters:
    """Device filters for each task of a cluster, as ``tf.config.experimental.ClusterDeviceFilters``."""

    def __init__(self) -> None:
        self._filters: dict[str, dict[int, tuple[str, ...]]] = {}

    def set_device_filters(self, job_name: str, task_index: int, device_filters: Sequence[str]) -> None:
        """Sets what one task can see.

        Args:
          job_name: of the task's job.
          task_index: the task's place in it.
          device_filters: of the devices that it sees, such as ``["/job:ps", "/job:worker/task:3"]``.

        Raises:
          TypeError: if the filters are not a sequence of strings.
        """
        if isinstance(device_filters, str) or not all(isinstance(each, str) for each in device_filters):
            raise TypeError("Device filters must be a list of strings")
        self._filters.setdefault(job_name, {})[int(task_index)] = tuple(device_filters)

    def _as_cluster_device_filters(self) -> ClusterDeviceFiltersDef:
        """The protobuf message for these filters, jobs and tasks in order."""
        message = ClusterDeviceFiltersDef()
        for job_name, tasks in sorted(self._filters.items()):
            job = message.jobs.add(name=job_name)
            for index, filters in sorted(tasks.items()):
                job.tasks[index].device_filters.extend(filters)
        return message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterDeviceFilters) and self._filters == other._filters

    __hash__ = None  # type: ignore[assignment]
