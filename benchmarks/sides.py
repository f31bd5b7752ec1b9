"""Sides: the systems that a benchmark compares, each run in processes of its own that answer line by line.

And how all benchmarks tell what they were measured on, and a ratio.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
from typing import Any, Final

MODULES: Final = {"tfsvc": "tfsvc", "TensorFlow": "tensorflow"}
"""The systems, and the modules that they are."""


def load(system: str) -> Any:
    """The module of one system, imported in a process of that side."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    return importlib.import_module(MODULES[system])


def machine() -> str:
    """What is measured on, and how busy it is."""
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load}"


def ratio(one: list[float], two: list[float]) -> str:
    """Of measurements of the same rounds: the median, the least and the largest."""
    ratios = [a / b for a, b in zip(one, two, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


class Child:
    """A process that runs a benchmark's module; it reads questions and writes answers, a line of JSON each.

    Args:
      module: what follows ``python -m``.
      *arguments: of its command line.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        command = [sys.executable, "-m", module, *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def line(self) -> str:
        """The next line that it writes.

        Raises:
          RuntimeError: if it has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"a process of the benchmark ended with code {self._process.wait(10)}")
        return line

    def tell(self, *question: Any) -> None:
        """Asks without waiting for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()

    def ask(self, *question: Any) -> Any:
        """What it answers."""
        self.tell(*question)
        return json.loads(self.line())

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()
