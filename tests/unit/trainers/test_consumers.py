"""Which consumer a process is, by literal environments."""

from __future__ import annotations

import pytest

from tfsvc.errors import InvalidArgumentError
from tfsvc.trainers import Consumer, consumer_from_environment

SRUN = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
SBATCH = {"SLURM_JOB_ID": "7"}


@pytest.mark.parametrize(
    ("environ", "consumer"),
    [
        ({}, (0, 1)),
        ({"PATH": "/bin"}, (0, 1)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, (3, 8)),
        ({"RANK": "0", "WORLD_SIZE": "1"}, (0, 1)),
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "4", **SRUN}, (2, 4)),
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "4"}, (2, 4)),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 2)),
        # srun started one torchrun a node, each of which started four trainers
        ({"RANK": "6", "WORLD_SIZE": "8", "SLURM_PROCID": "1", "SLURM_NTASKS": "2", **SRUN}, (6, 8)),
        # both say the same
        ({"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "1", "SLURM_NTASKS": "2", **SRUN}, (1, 2)),
        # torchrun in a batch script, whose shell is task 0 of 4
        ({"RANK": "3", "WORLD_SIZE": "4", "SLURM_PROCID": "0", "SLURM_NTASKS": "4", **SBATCH}, (3, 4)),
        # a batch script of one task
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", **SBATCH}, (0, 1)),
    ],
)
def test_a_launcher_says_it(environ: dict[str, str], consumer: tuple[int, int]) -> None:
    assert consumer_from_environment(environ) == Consumer(*consumer)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"RANK": "3"}, "RANK=3 is set and WORLD_SIZE is not"),
        ({"WORLD_SIZE": "3"}, "WORLD_SIZE=3 is set and RANK is not"),
        ({"RANK": "8", "WORLD_SIZE": "8"}, "RANK=8 and WORLD_SIZE=8 make no sense"),
        ({"RANK": "-1", "WORLD_SIZE": "8"}, "make no sense"),
        ({"RANK": "one", "WORLD_SIZE": "8"}, "make no sense"),
        ({"RANK": "", "WORLD_SIZE": ""}, "make no sense"),
        (
            {"RANK": "0", "WORLD_SIZE": "2", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"},
            "RANK=0 and WORLD_SIZE=2 contradict SLURM_PROCID=1 and SLURM_NTASKS=2",
        ),
        (
            {"RANK": "0", "WORLD_SIZE": "3", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"},
            "RANK=0 and WORLD_SIZE=3 contradict SLURM_PROCID=0 and SLURM_NTASKS=2",
        ),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4", **SBATCH}, "Start the trainer with srun or torchrun"),
    ],
)
def test_what_cannot_be_is_refused(environ: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        consumer_from_environment(environ)
