"""The shared memory that a process has open."""

from __future__ import annotations

import os
from contextlib import suppress


def buffers(pid: int | str = "self") -> list[str]:
    """The files of shared memory between readers and workers that a process holds."""
    found = []
    for file in os.listdir(f"/proc/{pid}/fd"):
        with suppress(OSError):
            found.append(os.readlink(f"/proc/{pid}/fd/{file}"))
    return [link for link in found if "memfd:tfsvc" in link]
