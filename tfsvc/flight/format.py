"""The file of a recording: lines of JSON, each behind its checksum.

The first line is the header. Then come pairs: an event with its time, written before the machine is told of it, and
what the machine's commands were, written when it has answered; so an event on which a machine breaks is there too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

import google_crc32c

from tfsvc.errors import DataLossError
from tfsvc.flight.births import Birth
from tfsvc.flight.codec import Codec, decode
from tfsvc.protocol.contract import Command, Event
from tfsvc.protocol.ids import Instant

VERSION: Final = 1
SUFFIX: Final = ".flight"


class DamagedRecordingError(DataLossError):
    """A recording is cut short, or not as it was written.

    Attributes:
      path: the file.
      line: where it is damaged, from 1 on.
      offset: the same in bytes.
    """

    def __init__(self, path: Path, line: int, offset: int, why: object) -> None:
        super().__init__(message=f"the recording {path} is damaged in line {line}, from byte {offset} on: {why}")
        self.path, self.line, self.offset = path, line, offset


@dataclass(frozen=True, slots=True)
class Header:
    """How a file of a recording begins.

    Attributes:
      role: what the node does, one of ``births.ROLES``.
      name: of the node.
      incarnation: which life of it.
      part: which file of this life, from 1 on.
      events: how many events of this life lie in the parts before.
      at: monotonic nanoseconds, the clock of the events.
      wall_ns: the same moment since 1970.
      host: the machine whose clock it is.
      bodies: whether what belongs to users is in it.
      birth: how the life began.
      state: the machine behind all parts before, pickled; empty in the first part.
    """

    role: str
    name: str
    incarnation: int
    part: int
    events: int
    at: Instant
    wall_ns: int
    host: str
    bodies: bool
    birth: Birth
    state: bytes = b""


class Entry(NamedTuple):
    """One event and its time; ``commands``: the digest of each command, ``None`` if the machine did not answer."""

    number: int
    at: Instant
    event: Event
    commands: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Flight:
    """A file of a recording; ``damage`` says where it ends too early, if it does and that was allowed."""

    path: Path
    header: Header
    entries: tuple[Entry, ...]
    damage: DamagedRecordingError | None = None


def header_line(header: Header, codec: Codec) -> bytes:
    told = {name: getattr(header, name) for name in Header.__slots__}
    told |= {"birth": codec.encode(header.birth), "state": base64.b85encode(header.state).decode()}
    return _line({"flight": VERSION, **told})


def event_line(number: int, at: Instant, event: Event, codec: Codec) -> bytes:
    return _line(["e", number, at, codec.encode(event)])


def commands_line(number: int, digests: Sequence[str]) -> bytes:
    return _line(["c", number, *digests])


def digest(command: Command, codec: Codec) -> str:
    """Stands for a command: its kind, and what tells it from others of its kind."""
    text = json.dumps(codec.encode(command), separators=(",", ":"))
    return f"{type(command).__name__}:{blake2b(text.encode(), digest_size=6).hexdigest()}"


def read(path: Path, partial: bool = False) -> Flight:
    """The recording in a file.

    Args:
      partial: whether to take what lies before damage, which every file may have at its end whose process was killed.

    Raises:
      DamagedRecordingError: where the file is cut short or has changed, or is no recording at all.
      OSError: if it cannot be read.
    """
    lines = _lines(path)
    header = _header(path, *next(lines, (1, 0, "it is empty")))
    entries: list[Entry] = []
    for line, offset, found in lines:
        try:
            match found:
                case ["e", int(number), int(at), event] if number == header.events + len(entries) + 1:
                    entries.append(Entry(number, at, decode(event), None))
                case ["c", int(number), *digests] if entries and number == entries[-1].number:
                    entries[-1] = entries[-1]._replace(commands=tuple(map(str, digests)))
                case str(why):
                    raise ValueError(why)
                case _:
                    raise ValueError("this line does not belong here")
        except (TypeError, ValueError) as error:
            damage = DamagedRecordingError(path, line, offset, error)
            if not partial:
                raise damage from error
            return Flight(path, header, tuple(entries), damage)
    return Flight(path, header, tuple(entries))


def _header(path: Path, line: int, offset: int, found: Any) -> Header:
    try:
        if isinstance(found, str):
            raise ValueError(found)
        if not isinstance(found, dict) or "flight" not in found:
            raise ValueError("it does not begin as a recording")
        version = found.pop("flight")
        if version != VERSION:
            raise ValueError(f"it is of version {version}, and this tfsvc reads version {VERSION}")
        return Header(**{**found, "birth": decode(found["birth"]), "state": base64.b85decode(found["state"])})
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedRecordingError(path, line, offset, error) from error


def _line(value: object) -> bytes:
    text = json.dumps(value, separators=(",", ":")).encode()
    return b"%08x %b\n" % (google_crc32c.value(text), text)


def _lines(path: Path) -> Iterator[tuple[int, int, Any]]:
    """Number, offset and content of each line; in place of one that is damaged, why, as a text."""
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            yield number, offset, _content(line)
            offset += len(line)


def _content(line: bytes) -> Any:
    if not line.endswith(b"\n"):
        return "it is cut short"
    text = line[9:-1]
    if line[:9] != b"%08x " % google_crc32c.value(text):
        return "its bytes have changed, or it is no recording"
    return json.loads(text)
