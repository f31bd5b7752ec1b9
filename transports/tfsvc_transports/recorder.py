"""The flight recorder: writes what a node is told and what it says, in files of bounded size.

Each file stands for itself: the first of a life begins with its birth, the others with the machine as it was there. The
files of all nodes of a directory are a ring: when there are too many bytes, the oldest files go. Every line is with the
operating system before the machine is told of the event, so a process that is killed leaves all but what it was at.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tfsvc.errors import InvalidArgumentError
from tfsvc.flight.births import ROLES, Birth, DispatcherBirth
from tfsvc.flight.codec import Codec
from tfsvc.flight.format import SUFFIX, Header, commands_line, digest, event_line, header_line
from tfsvc.flight.state import freeze
from tfsvc.protocol.contract import Command, Event, Machine
from tfsvc.protocol.ids import Instant

LOG = logging.getLogger("tfsvc")

DIRECTORY: Final = "TFSVC_RECORD_DIR"
"""The variable of the environment that has all nodes of a process recorded."""
BODIES: Final = "TFSVC_RECORD_BODIES"
"""Set to 1, elements, tensors and programs are recorded as they are."""
FILE_BYTES: Final = 16 << 20
RING_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Recording:
    """Where and how much to record.

    Attributes:
      directory: of the files; it is made if it is not there.
      bodies: whether to record what belongs to users.
      file_bytes: how long a file grows; 16 MiB.
      ring_bytes: how much the directory holds; 256 MiB.
    """

    directory: Path
    bodies: bool = False
    file_bytes: int = FILE_BYTES
    ring_bytes: int = RING_BYTES


def wanted(record_dir: str | None = None) -> Recording | None:
    """What a configuration asks for, or else the environment; ``None``: nothing is recorded."""
    directory = record_dir or os.environ.get(DIRECTORY)
    return Recording(Path(directory), os.environ.get(BODIES, "") not in ("", "0")) if directory else None


class Recorder:
    """Records one life of one node. Whatever goes wrong with it ends the recording, and never the node.

    Raises:
      InvalidArgumentError: if the directory cannot be had.
    """

    def __init__(self, recording: Recording) -> None:
        try:
            recording.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidArgumentError(message=f"cannot record in {recording.directory}: {error}") from error
        self._recording = recording
        self._codec = Codec(secrets.token_bytes(32), recording.bodies)
        self._file = -1
        self._size = 0
        self._events = 0
        self._header: Header | None = None
        self._lock = threading.Lock()
        """A node may be ended by another thread than the one that is in its machine."""

    def begin(self, birth: Birth) -> None:
        """A life begins."""
        now, wall = time.monotonic_ns(), time.time_ns()
        role, host = ROLES[type(birth)], socket.gethostname()
        header = Header(role, birth.name, birth.incarnation, 1, 0, now, wall, host, self._recording.bodies, birth)
        try:
            self._open(header)
        except Exception:
            self._fail(birth.name)

    def event(self, at: Instant, event: Event) -> None:
        """The machine is about to be told of an event."""
        with self._lock:
            if self._file < 0:
                return
            try:
                self._write(event_line(self._events + 1, at, event, self._codec))
                self._events += 1
            except Exception:
                self._fail()

    def commands(self, machine: Machine, commands: Sequence[Command]) -> None:
        """What it said."""
        with self._lock:
            if self._file < 0 or self._header is None:
                return
            try:
                self._write(commands_line(self._events, [digest(command, self._codec) for command in commands]))
                if self._size > self._recording.file_bytes:
                    self._turn_over(self._header, machine)
            except Exception:
                self._fail()

    def close(self) -> None:
        """Ends the recording; safe to repeat."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._file >= 0:
            file, self._file = self._file, -1
            os.close(file)

    def _turn_over(self, header: Header, machine: Machine) -> None:
        """Goes on in another file, with the machine in place of all that led to it."""
        state = freeze(machine, self._codec)
        self._end()
        birth = header.birth
        if isinstance(birth, DispatcherBirth):
            birth = replace(birth, records=())
        now, wall, part = time.monotonic_ns(), time.time_ns(), header.part + 1
        self._open(replace(header, part=part, events=self._events, at=now, wall_ns=wall, birth=birth, state=state))

    def _open(self, header: Header) -> None:
        first = header_line(header, self._codec)
        self._make_room()
        name = re.sub(r"[^A-Za-z0-9.-]+", "_", header.name)
        path = self._recording.directory / f"{header.role}-{name}-{header.incarnation}-{header.part:06}{SUFFIX}"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._header = header
        self._write(first)
        # A large state must not have every event begin a file.
        self._size = 0

    def _make_room(self) -> None:
        found = []
        for path in self._recording.directory.glob(f"*{SUFFIX}"):
            with suppress(OSError):  # another node of the directory was faster
                status = path.stat()
                found.append((status.st_mtime_ns, path, status.st_size))
        size = sum(entry[2] for entry in found) + self._recording.file_bytes
        for _, path, freed in sorted(found):
            if size <= self._recording.ring_bytes:
                break
            with suppress(OSError):
                path.unlink()
            size -= freed

    def _write(self, line: bytes) -> None:
        view = memoryview(line)
        while view:
            view = view[os.write(self._file, view) :]
        self._size += len(line)

    def _fail(self, name: str = "") -> None:
        name = name or (self._header.name if self._header else "a node")
        LOG.warning("%s is no longer recorded in %s", name, self._recording.directory, exc_info=True)
        with suppress(OSError):
            self._end()
