"""What this process and its machine are: releases, limits, the time of day."""

from __future__ import annotations

import os
import platform
import resource
import socket
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from tfsvc.protocol.messages import AboutNodeResponse

_SHARED: Final = "/dev/shm"
_MEMORY_MAX: Final = 1 << 60
"""A control group whose limit is larger has none."""


def about_node() -> AboutNodeResponse:
    """This process, as it is now. What a system does not tell is -1, or empty."""
    return AboutNodeResponse(
        tfsvc=release("tfsvc"),
        python=platform.python_version(),
        grpcio=release("grpcio"),
        protobuf=release("protobuf"),
        cloudpickle=release("cloudpickle"),
        host=socket.gethostname(),
        pid=os.getpid(),
        time_ns=time.time_ns(),
        files_max=_files_max(),
        files_open=_files_open(),
        shared_bytes=_shared_bytes(),
        memory_bytes=_memory_bytes(),
    )


def release(package: str) -> str:
    """The version of a package; empty where it was not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _files_max() -> int:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**31 if limit == resource.RLIM_INFINITY else min(limit, 2**31)


def _files_open() -> int:
    with suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return -1


def _shared_bytes() -> int:
    with suppress(OSError):
        found = os.statvfs(_SHARED)
        return found.f_bavail * found.f_frsize
    return -1


def _memory_bytes() -> int:
    """What the machine has left, or this control group if that is less."""
    found = [left for left in (_machine_left(), _group_left()) if left >= 0]
    return min(found, default=-1)


def _machine_left() -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return -1


def _group_left() -> int:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):
            most = int(Path(limit).read_text())
            if most < _MEMORY_MAX:
                return max(0, most - int(Path(used).read_text()))
    return -1
