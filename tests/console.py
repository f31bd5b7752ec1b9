"""The ```console blocks of a page, played in one shell: ``$ command``, and below it what it prints.

Ports from 5050 to 5059 stand for free ones. Output is compared as doctest does, ``...`` for anything; a command without
any may print what it likes.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.e2e.clusters import free_ports

BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
PROLOGUE = """
tfsvc() { "$PYTHON" -m tfsvc "$@"; }
python() { "$PYTHON" "$@"; }
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
code=0
"""


class Step(NamedTuple):
    """A command of a page, and what it is said to print."""

    command: str
    expected: str


def steps(page: str) -> list[Step]:
    """All commands of a page in order."""
    found: list[Step] = []
    for block in BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Step(line[2:], ""))
            elif line == ">" or line.startswith("> "):
                found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{line[2:]}")
            else:
                found[-1] = found[-1]._replace(expected=f"{found[-1].expected}{line}\n")
    return found


def play(page: str, folder: Path, timeout_s: float = 280.0) -> list[str]:
    """Runs a page's commands in ``folder``; gives what is not as the page says."""
    ports = {f"{5050 + i}": str(port) for i, port in enumerate(free_ports(10))}
    todo = steps(re.sub(r"\b505[0-9]\b", lambda found: ports[found[0]], page))
    script = PROLOGUE + "\n".join(
        f"(exit $code)\n{{\n{step.command}\n}} > {number}.out 2>&1\ncode=$?" for number, step in enumerate(todo)
    )
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout_s
    )
    problems = [done.stderr] if done.stderr else []
    checker = doctest.OutputChecker()
    for number, (command, expected) in enumerate(todo):
        path = folder / f"{number}.out"
        said = path.read_text() if path.exists() else "(not reached)"
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        if expected and not checker.check_output(expected, said, flags):
            problems.append(f"$ {command}\nexpected:\n{expected}printed:\n{said}")
    return problems
