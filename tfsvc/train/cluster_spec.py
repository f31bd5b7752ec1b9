"""``ClusterSpec``: the jobs of a cluster, and the address of each of their tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfsvc.train.protos import ClusterDef, as_message

Tasks = dict[int, str]


class ClusterSpec:
    """A cluster as a set of jobs, each with tasks that have indices and addresses.

    Args:
      cluster: a dictionary of job names to either a list of addresses, or a dictionary of task indices to
        addresses where the indices have gaps; or a ``ClusterDef``; or another ``ClusterSpec``, which is copied.

    Raises:
      TypeError: if it is none of them, or an address or a job's name is not a string.
      ValueError: if a task's index is not a number.
    """

    def __init__(self, cluster: Any) -> None:
        message = as_message(cluster, ClusterDef)
        if isinstance(cluster, Mapping):
            self._jobs = {_text("Job name", job): _tasks(job, tasks) for job, tasks in cluster.items()}
            self._message: Any = self._to_message()
        elif message is not None:
            self._jobs = {job.name: dict(job.tasks) for job in message.job}
            self._message = cluster
        elif isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
            self._message = self._to_message()
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                f"`ClusterDef` protocol buffer. Received: {cluster!r}"
            )

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs, in the order in which they were given."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks the job ``job_name`` has.

        Raises:
          ValueError: if there is no such job.
        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of the tasks of the job ``job_name``, ascending.

        Raises:
          ValueError: if there is no such job.
        """
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Where the task ``task_index`` of the job ``job_name`` is reached: ``"host:port"``.

        Raises:
          ValueError: if there is no such job or task.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of the tasks of ``job_name``, each at the place of its index, with ``None`` in the gaps.

        Raises:
          ValueError: if there is no such job, or it has no tasks.
        """
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks) + 1)]

    def as_dict(self) -> dict[str, list[str] | Tasks]:
        """Jobs as lists of addresses, or as dictionaries where the indices are not 0, 1, 2 and so on."""
        return {job: _plain(tasks) for job, tasks in self._jobs.items()}

    def as_cluster_def(self) -> ClusterDef:
        """The ``ClusterDef`` that this was made from, or one with jobs and tasks in order."""
        message: ClusterDef = self._message
        return message

    def _to_message(self) -> ClusterDef:
        message = ClusterDef()
        for job_name, tasks in sorted(self._jobs.items()):
            job = message.job.add(name=job_name)
            for index, address in sorted(tasks.items()):
                job.tasks[index] = address
        return message

    def _job(self, job_name: str) -> Tasks:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return self._jobs == (other._jobs if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        jobs = ", ".join(f"{job!r}: {_plain(self._jobs[job])!r}" for job in sorted(self._jobs))
        return f"ClusterSpec({{{jobs}}})"


def _plain(tasks: Tasks) -> list[str] | Tasks:
    indices = sorted(tasks)
    if tasks and indices == list(range(len(indices))):
        return [tasks[index] for index in indices]
    return {index: tasks[index] for index in indices}


def _tasks(job: Any, tasks: Any) -> Tasks:
    if isinstance(tasks, list | tuple):
        tasks = dict(enumerate(tasks))
    elif not isinstance(tasks, Mapping):
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to strings. Received: {tasks!r}"
        )
    found: Tasks = {}
    for index, address in tasks.items():
        try:
            number = int(index)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Task index {index!r} of job {job!r} is not a number") from error
        found[number] = _text(f"Task address {number}", address)
    return found


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str | bytes):
        raise TypeError(f"{what} must be bytes or unicode. Received: {value!r}")
    return value  # type: ignore[return-value]  # bytes stay bytes, as in TensorFlow
