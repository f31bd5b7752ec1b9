"""The job for Slurm, run as a whole: one machine stands for all nodes, and a script for `srun`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.conftest import ROOT

SRUN = """\
#!/bin/bash
# Starts the command as often as --ntasks or --ntasks-per-node says, and gives each its number.
count=1
while [[ $1 == --* ]]; do
  case $1 in
    --ntasks=*|--ntasks-per-node=*) count=${1#*=} ;;
  esac
  shift
done
for ((i = 0; i < count; i++)); do
  SLURM_PROCID=$i SLURM_NTASKS=$count "$@" &
done
code=0
for job in $(jobs -p); do wait "$job" || code=$?; done
exit $code
"""
TRAINER = """\
import os, signal, sys, time
import tfsvc as tf

def slowly(x):
    time.sleep(0.002)
    return x, os.getpid()

service = tf.data.experimental.service
where = "env:TFSVC_DISPATCHER"
wish = service.distribute("distributed_epoch", where, job_name="train", task_refresh_interval_hint_ms=50)
with open(f"taken-{os.environ['SLURM_PROCID']}", "w") as taken:
    for at, (x, worker) in enumerate(tf.data.Dataset.range(2000).map(slowly).apply(wish)):
        print(int(x), file=taken)
        if at == 300 and os.environ["SLURM_PROCID"] == "0":
            os.kill(int(worker), signal.SIGKILL)
sys.exit(int(os.environ.get("FAILING", 0)))
"""


@pytest.fixture
def job(tmp_path):
    """Runs the job in a directory, with more of an environment."""
    tools = {
        "srun": SRUN,
        "scontrol": "#!/bin/sh\necho localhost\n",
        "tfsvc": f'#!/bin/sh\nexec {sys.executable} -m tfsvc "$@"\n',
        "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    }
    (tmp_path / "bin").mkdir()
    for name, text in tools.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "train.py").write_text(TRAINER)

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_NODELIST": "localhost",
            "TFSVC_HOST": "localhost",
            "TFSVC_WORKERS": "--ntasks=3",
            "TFSVC_TRAIN": "--ntasks=2",
            "TFSVC_DRAIN": "5",
            **more,
        }
        script = str(ROOT / "deploy" / "slurm" / "train.sh")
        return subprocess.run(
            ["bash", script, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=110
        )

    return run


def taken(directory: Path) -> list[int]:
    return sorted(int(line) for path in directory.glob("taken-*") for line in path.read_text().split())


@pytest.mark.slow
def test_trainers_get_each_element_once_though_a_worker_is_killed(job, tmp_path):
    done = job("python", "train.py")
    assert done.returncode == 0, done.stderr
    assert taken(tmp_path) == list(range(2000))
    assert "has failed and begins again" in done.stderr
    assert not (tmp_path / ".tfsvc-7").exists()


@pytest.mark.slow
def test_a_trainer_that_fails_leaves_the_journal(job, tmp_path):
    done = job("python", "train.py", FAILING="3")
    assert done.returncode == 3, done.stderr
    assert (tmp_path / ".tfsvc-7" / "journal").exists()
    assert (tmp_path / ".tfsvc-7").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / ".tfsvc-7" / "token").stat().st_mode & 0o777 == 0o600


def test_a_job_without_a_trainer_says_how():
    done = subprocess.run(
        ["bash", str(ROOT / "deploy" / "slurm" / "train.sh")], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert "sbatch" in done.stderr
