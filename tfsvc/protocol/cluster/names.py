"""Names of tasks and devices: ``/job:ps/replica:0/task:1/device:CPU:0``, and parts of such names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from tfsvc.record import record

CPU: Final = "CPU"


@dataclass(frozen=True, order=True, slots=True)
class Task:
    """One member of a cluster."""

    job: str
    index: int

    def __str__(self) -> str:
        return f"/job:{self.job}/replica:0/task:{self.index}"

    @property
    def device(self) -> str:
        """The full name of the task's one device, its processor."""
        return f"{self}/device:{CPU}:0"


@record
class DeviceSpec:
    """A device's name, or a part of one; ``None`` stands for what it leaves open."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    kind: str | None = None
    index: int | None = None

    def over(self, outer: DeviceSpec) -> DeviceSpec:
        """This name, with what it leaves open taken from ``outer``."""
        kept = {name: getattr(outer, name) for name in _FIELDS if getattr(self, name) is None}
        return replace(self, **kept)

    def takes(self, task: Task) -> bool:
        """Whether the name fits a task."""
        return self.job in (None, task.job) and self.replica in (None, 0) and self.task in (None, task.index)

    def __str__(self) -> str:
        parts = [f"/{name}:{value}" for name in _FIELDS[:3] if (value := getattr(self, name)) is not None]
        if self.kind is not None:
            parts.append(f"/device:{self.kind}:{'*' if self.index is None else self.index}")
        return "".join(parts)


_FIELDS: Final = ("job", "replica", "task", "kind", "index")
_PART: Final = re.compile(
    r"/job:(?P<job>[A-Za-z][\w.-]*)|/replica:(?P<replica>\d+)|/task:(?P<task>\d+)"
    r"|/device:(?P<kind>\w+):(?P<index>\d+|\*)|/(?P<short>cpu|gpu|CPU|GPU):(?P<number>\d+|\*)"
)


@lru_cache(maxsize=4096)
def parse_device(name: str) -> DeviceSpec:
    """The device that a name means; the empty one leaves everything open.

    Raises:
      ValueError: if it is not such a name.
    """
    spec, at = DeviceSpec(), 0
    while at < len(name):
        part = _PART.match(name, at)
        if part is None:
            raise ValueError(f"Malformed device specification '{name}'; it looks like '/job:ps/task:0/device:CPU:0'")
        at = part.end()
        match part.lastgroup:
            case "job":
                spec = replace(spec, job=part["job"])
            case "replica":
                spec = replace(spec, replica=int(part["replica"]))
            case "task":
                spec = replace(spec, task=int(part["task"]))
            case "index":
                spec = replace(spec, kind=part["kind"].upper(), index=_number(part["index"]))
            case _:
                spec = replace(spec, kind=part["short"].upper(), index=_number(part["number"]))
    return spec


def parse_task(name: str) -> Task:
    """The task of a full device's or task's name.

    Raises:
      ValueError: if it names none.
    """
    spec = parse_device(name)
    if spec.job is None or spec.task is None:
        raise ValueError(f"'{name}' names no task; one looks like '/job:ps/replica:0/task:0'")
    return Task(spec.job, spec.task)


def _number(text: str) -> int | None:
    return None if text == "*" else int(text)


class Key(NamedTuple):
    """The name of a value that passes between devices in a step: TensorFlow's rendezvous key."""

    source: str
    incarnation: int
    target: str
    tensor: str

    def __str__(self) -> str:
        return f"{self.source};{self.incarnation:016x};{self.target};{self.tensor};0:0"


def parse_key(text: str) -> Key:
    """The key that a text is.

    Raises:
      ValueError: if it is none.
    """
    parts = text.split(";")
    if len(parts) != 5:
        raise ValueError(f"Invalid rendezvous key: {text}")
    source, incarnation, target, tensor, _ = parts
    parse_task(source)
    parse_task(target)
    return Key(source, int(incarnation, 16), target, tensor)
