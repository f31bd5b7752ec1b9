"""Segments: the journal's records in groups, as objects with names, and which of them make the journal.

A *log* segment holds the records that became durable together. It is numbered, from 1 without gaps, and
knows the checksum of the one before it. A *snapshot* is a run of parts that say in few records what all logs
up to a number had come to. So the journal is the newest snapshot that is whole, and the logs behind it;
everything else is stale. Nothing is ever written over: a name is given once, and then means the same for
good. Every life of a dispatcher begins with a log behind the last one, so that the dispatcher before it finds
the name of its next log taken. That log is never deleted, however long the other may sleep: a *life* of the
same number marks it.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import google_crc32c

from tfsvc.errors import DataLossError
from tfsvc.protocol.updates import Update
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, decodes, parse, serialize
from tfsvc.wire.messages import UPDATES, pack, unpack

MAGIC: Final = b"TFSVCJ1\n"
_CHECKSUM: Final = struct.Struct("<I")
_HEADER: Final = len(MAGIC) + _CHECKSUM.size
_NAME: Final = re.compile(r"(log|life)/(\d{20})|snapshot/(\d{20})-(\d{20})/(\d{6})(-last)?")


@dataclass(frozen=True, slots=True)
class Segment:
    """A group of records.

    Attributes:
      number: its place among the logs; of the last log that a snapshot stands for.
      first: how many records there were before it, or are in what a snapshot stands for.
      previous: the checksum of the log before it, or of the last that a snapshot stands for.
      owner: who wrote it.
    """

    number: int
    first: int
    previous: int
    owner: str
    updates: tuple[Update, ...]


class Log(NamedTuple):
    """The name of a log segment."""

    number: int

    def __str__(self) -> str:
        return f"log/{self.number:020}"


class Part(NamedTuple):
    """The name of one part of a snapshot; ``life`` is the number of its owner's first log."""

    number: int
    life: int
    place: int
    last: bool

    def __str__(self) -> str:
        return f"snapshot/{self.number:020}-{self.life:020}/{self.place:06}{'-last' if self.last else ''}"


class Life(NamedTuple):
    """The name of the mark beside the first log of a life."""

    number: int

    def __str__(self) -> str:
        return f"life/{self.number:020}"


def parse_name(name: str) -> Log | Life | Part | None:
    """What a name says; ``None`` for a name of something else."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    kind, log, number, life, place, last = found.groups()
    if kind:
        return (Log if kind == "log" else Life)(int(log))
    return Part(int(number), int(life), int(place), bool(last))


class Plan(NamedTuple):
    """Which objects make a journal, in the order in which they are read.

    Attributes:
      base: the log that the snapshot stands for, 0 without one.
      stale: names that may be deleted.
    """

    base: int
    snapshot: tuple[Part, ...]
    logs: tuple[Log, ...]
    stale: tuple[Log | Part, ...]


def plan(names: Iterable[str], where: str) -> Plan:
    """Finds the journal among the names of ``where``; see :func:`arrange`."""
    return arrange(map(parse_name, names), where)


def arrange(names: Iterable[Log | Life | Part | None], where: str) -> Plan:
    """Finds the journal among what the names of ``where`` say.

    A snapshot that is not whole yet is left alone unless a newer one is: somebody may be writing it.

    Raises:
      DataLossError: if a log is missing.
    """
    logs: list[Log] = []
    lives: dict[int, None] = {}
    snapshots: dict[tuple[int, int], list[Part]] = defaultdict(list)
    for name in names:
        if isinstance(name, Log):
            logs.append(name)
        elif isinstance(name, Life):
            lives[name.number] = None
        elif name is not None:
            snapshots[name.number, name.life].append(name)
    whole = [key for key, parts in snapshots.items() if _is_whole(sorted(parts))]
    newest = max(whole, default=(0, 0))
    base = newest[0]
    needed = sorted(log for log in logs if log.number > base)
    for expected, log in enumerate(needed, base + 1):
        if log.number != expected:
            raise damaged(where, f"{Log(expected)} is missing, and {log} is there")
    stale = [log for log in logs if log.number <= base and log.number not in lives]
    parts = [part for key, parts in snapshots.items() if key[0] <= base and key != newest for part in parts]
    return Plan(base, tuple(sorted(snapshots.get(newest, ()))), tuple(needed), (*sorted(stale), *sorted(parts)))


def _is_whole(parts: list[Part]) -> bool:
    return parts[-1].last and [part.place for part in parts] == list(range(len(parts)))


def damaged(where: str, why: object) -> DataLossError:
    """What is told of a journal that is not as it was written."""
    return DataLossError(
        message=f"the journal in {where} is damaged: {why}. Restore it from a copy, or start with an empty work_dir; "
        "readers then begin anew. `tfsvc journal verify` says what is left of it."
    )


def _field(kind: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


_FIELDS: Final = {kind: _field(kind) for kind in UPDATES}
_KINDS: Final = {name: kind for kind, name in _FIELDS.items()}


def encode_segment(segment: Segment) -> bytes:
    """The bytes of a segment, with a checksum over all of them in front."""
    message = pb.SegmentDef(number=segment.number, first=segment.first, previous=segment.previous, owner=segment.owner)
    for update in segment.updates:
        getattr(message.records.add(), _FIELDS[type(update)]).CopyFrom(pack(update))
    body = serialize(message)
    return MAGIC + _CHECKSUM.pack(google_crc32c.value(body)) + body


def checksum(data: bytes) -> int:
    """The checksum that a segment carries."""
    (found,) = _CHECKSUM.unpack_from(data, len(MAGIC))
    return int(found)


@decodes("a segment of a journal")
def decode_segment(data: bytes) -> Segment:
    """The segment in ``data``.

    Raises:
      WireError: if it is cut short, or any bit of it is not as it was written.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin as one of this version")
    body = data[_HEADER:]
    if len(data) < _HEADER or google_crc32c.value(body) != checksum(data):
        raise ValueError("it is cut short, or its bytes have changed")
    message = parse(pb.SegmentDef, body)
    updates = tuple(_update(record) for record in message.records)
    return Segment(message.number, message.first, message.previous, message.owner, updates)


def _update(record: pb.RecordDef) -> Update:
    name = record.WhichOneof("update")
    if name is None:
        raise WireError("a record of a journal", "it is of a kind that this version does not know")
    found: Update = unpack(_KINDS[name], getattr(record, name))
    return found
