"""The tutorial, done as it says: its files saved, its commands given to one shell, a worker and a trainer killed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import portpicker
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
SAVED = re.compile(r'^```python title="([^"]+)"\n(.*?)^```', re.M | re.S)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_tutorial_goes_as_it_says(tmp_path):
    text = PAGE.read_text().replace("5050", str(portpicker.pick_unused_port()))
    for name, content in SAVED.findall(text):
        (tmp_path / name).write_text(content)
    commands = [block for block in SHELL.findall(text) if "pip install" not in block]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    shell = subprocess.Popen(
        ["bash", "-eu", "-c", "".join(commands)],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = shell.communicate(timeout=280)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)  # what an interrupted page has left running
    assert shell.returncode == 0, said
    assert said.count("each element came exactly once") == 2
    assert "going on behind step" in said
    assert re.search(r"done after step 60: the sum is 71820100", said)
    assert re.search(r"lane \d+ moves|worker localhost:\d+ ", said), "nobody noticed that a worker was killed"
