"""Which of a trainer's processes this is, as its launcher says in the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfsvc.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class Consumer:
    """One of the processes that train one model.

    Attributes:
      index: its place among them, from 0: ``consumer_index`` of ``distribute``.
      count: how many there are: ``num_consumers`` of ``distribute``.
    """

    index: int
    count: int


_LAUNCHERS = (
    ("RANK", "WORLD_SIZE"),  # torchrun, Lightning, Accelerate
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # mpirun of Open MPI
    ("SLURM_PROCID", "SLURM_NTASKS"),  # srun
)
"""The variables that say index and count, those of the innermost launcher first."""


def consumer_from_environment(environ: Mapping[str, str]) -> Consumer:
    """The consumer that a process is; the only one of 1 where no launcher says anything.

    One launcher may start another, as ``srun`` one ``torchrun`` a node: then the inner one, which has started more
    processes, is right.

    Args:
      environ: ``os.environ``, or another mapping.

    Raises:
      InvalidArgumentError: if a launcher says half of it or nonsense, if two of them contradict each other, or if this
        is the shell of a batch job with several tasks, in which only ``srun`` starts them. The message says what to do.
    """
    found: list[tuple[str, Consumer]] = []
    for names in _LAUNCHERS:
        consumer = _said(environ, *names)
        if consumer is not None:
            found.append((" and ".join(f"{name}={environ[name]}" for name in names), consumer))
    if not found:
        return Consumer(0, 1)
    (said, inner), *others = sorted(found, key=lambda one: -one[1].count)
    for other_said, outer in others:
        same = outer.count == inner.count
        if inner.count % outer.count or (same and outer != inner):
            raise InvalidArgumentError(
                message=f"{said} contradict {other_said}. Unset those that are not meant, or give `consumer_index` and "
                "`num_consumers` yourself."
            )
    return inner


def _said(environ: Mapping[str, str], index_name: str, count_name: str) -> Consumer | None:
    index, count = environ.get(index_name), environ.get(count_name)
    if index is None and count is None:
        return None
    if index_name == "SLURM_PROCID" and "SLURM_JOB_ID" in environ and "SLURM_STEP_ID" not in environ:
        return _of_batch_shell(environ)
    if index is None or count is None:
        known, missing = (index_name, count_name) if count is None else (count_name, index_name)
        raise InvalidArgumentError(message=f"{known}={environ[known]} is set and {missing} is not; both must be.")
    if not (_is_whole(index) and _is_whole(count)) or int(index) >= int(count):
        raise InvalidArgumentError(
            message=f"{index_name}={index} and {count_name}={count} make no sense: expected whole numbers, the first "
            "from 0 to below the second."
        )
    return Consumer(int(index), int(count))


def _of_batch_shell(environ: Mapping[str, str]) -> Consumer | None:
    """The shell of an ``sbatch`` script, or of ``salloc``, is none of the job's tasks."""
    inner = any(name in environ for name, _ in _LAUNCHERS if not name.startswith("SLURM"))
    if not inner and environ.get("SLURM_NTASKS", "1") != "1":
        raise InvalidArgumentError(
            message=f"SLURM_NTASKS={environ['SLURM_NTASKS']}, but this process was not started by srun, which starts "
            "the tasks. Start the trainer with srun or torchrun."
        )
    return None


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()
