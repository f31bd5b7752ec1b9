"""Shards of WebDataset: tar files in which neighbouring files of one name and several extensions are one sample.

``images/17.jpg`` and ``images/17.cls`` are the sample with the key ``images/17`` and the fields ``jpg`` and ``cls``.
An index beside a shard is of the kind that NVIDIA DALI's ``wds2idx`` writes: a line a sample, which says the name, the
first byte and the size of each of its files.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import IO, Final, NamedTuple

from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfsvc.storage.compression import open_reader
from tfsvc.storage.folders import folder_at, open_file

BLOCK_BYTES: Final = 512
INDEX_VERSION: Final = b"v1.2"


class Member(NamedTuple):
    """A file in a shard.

    Attributes:
      key: its name up to the first dot behind the last slash.
      field: the rest.
      size: its bytes.
      start: where its head begins, which may have several blocks.
      data: where its bytes begin.
    """

    key: str
    field: str
    size: int
    start: int
    data: int

    @property
    def name(self) -> str:
        return f"{self.key}.{self.field}"

    @property
    def end(self) -> int:
        """Where the next head begins."""
        return self.data + _padded(self.size)


@dataclass(frozen=True)
class Sample:
    """The files of one key, those that were wanted with their bytes.

    Attributes:
      start: behind the sample before it, and ``end`` where the head of the next one begins.
      members: all of its files.
    """

    key: str
    start: int
    end: int
    members: tuple[Member, ...]
    contents: dict[str, bytes]


class TarShard:
    """The samples of a shard, one after the other; nothing is read twice and nothing is sought backwards.

    Args:
      file: the shard, standing where a head begins.
      path: its name, for messages.
      start: where it stands.
    """

    def __init__(self, file: IO[bytes], path: str, start: int = 0) -> None:
        self._file = file
        self._path = path
        self._at = start
        self._ahead: Member | None = None

    def next(self, wanted: Collection[str] | None = None) -> Sample | None:
        """The next sample; ``None`` behind the last.

        Args:
          wanted: the fields whose bytes are read; all when ``None``.

        Raises:
          DataLossError: if the shard is damaged, or a sample has a field twice.
        """
        start = self._at if self._ahead is None else self._ahead.start
        members: list[Member] = []
        contents: dict[str, bytes] = {}
        while True:
            member = self._ahead or self._next_member()
            self._ahead = member
            if member is None or (members and member.key != members[0].key):
                break
            if any(member.field == other.field for other in members):
                raise DataLossError(message=f"{self._path} has {member.name} twice in one sample")
            members.append(member)
            if wanted is None or member.field in wanted:
                contents[member.field] = self._read(member.size)
            self._skip(member.end - self._at)
            self._ahead = None
        if not members:
            return None
        end = self._at if self._ahead is None else self._ahead.start
        return Sample(members[0].key, start, end, tuple(members), contents)

    def close(self) -> None:
        self._file.close()

    def _next_member(self) -> Member | None:
        """The next plain file that has a key; its head is read, its bytes are not."""
        start, name, size = self._at, None, None
        while True:
            block = self._file.read(BLOCK_BYTES)
            if not block.strip(b"\0"):
                return None
            try:
                info = _head(block)
            except tarfile.HeaderError as error:
                raise DataLossError(message=f"{self._path} is no whole tar file: {error} at byte {self._at}") from error
            self._at += BLOCK_BYTES
            match info.type:
                case tarfile.REGTYPE | tarfile.AREGTYPE | tarfile.CONTTYPE:
                    key, field = split_name(name or info.name)
                    size = info.size if size is None else size
                    if key and field:
                        return Member(key, field, size, start, self._at)
                    self._skip(_padded(size))
                    start, name, size = self._at, None, None
                case tarfile.GNUTYPE_LONGNAME:
                    name = self._read_padded(info.size).rstrip(b"\0").decode("utf-8", "surrogateescape")
                case tarfile.XHDTYPE | tarfile.SOLARIS_XHDTYPE:
                    told = _pax(self._read_padded(info.size)[: info.size])
                    name = told.get("path", name)
                    size = int(told["size"]) if "size" in told else size
                case tarfile.XGLTYPE | tarfile.GNUTYPE_LONGLINK:
                    self._skip(_padded(info.size))
                case _:  # a directory, a link
                    self._skip(_padded(info.size))
                    start, name, size = self._at, None, None

    def _read(self, size: int) -> bytes:
        found = self._file.read(size)
        if len(found) < size:
            raise DataLossError(message=f"{self._path} ends within a file, at byte {self._at + len(found)}")
        self._at += size
        return found

    def _read_padded(self, size: int) -> bytes:
        return self._read(_padded(size))

    def _skip(self, count: int) -> None:
        if count:
            # One can seek far beyond a file's end and not notice.
            self._file.seek(count - 1, io.SEEK_CUR)
            self._at += count - 1
            self._read(1)


def split_name(name: str) -> tuple[str, str]:
    """The key and the field of a file; the key is empty for one whose name begins with a dot, as hidden files' do."""
    folder, slash, base = name.rpartition("/")
    key, _, field = base.partition(".")
    return (f"{folder}{slash}{key}" if key else ""), field


def samples(path: str, compression: str = "") -> Iterator[Sample]:
    """The samples of a shard without their bytes; raises as :class:`TarShard`, and ``NotFoundError``."""
    with open_reader(path, compression) as file:
        shard = TarShard(file, path)
        while (sample := shard.next(())) is not None:
            yield sample


def index_path(path: str) -> str:
    """Where the index of a shard lies: beside it, as ``17.idx`` beside ``17.tar``."""
    folder, slash, base = path.rpartition("/")
    return f"{folder}{slash}{base.partition('.')[0]}.idx"


def write_index(path: str) -> int:
    """Writes the index of a shard beside it; how many samples it has.

    Raises:
      NotFoundError: if there is no such shard.
      DataLossError: if it is damaged.
      InvalidArgumentError: if it has a name that no index can hold.
    """
    lines = []
    for sample in samples(path):
        parts = [part for m in sample.members for part in (m.field, str(m.data), str(m.size), m.name)]
        if any(len(part.split()) != 1 for part in parts):
            raise InvalidArgumentError(message=f"{path} has a sample {sample.key!r}, whose name no index can hold")
        lines.append(" ".join(parts))
    body = "\n".join([f"{INDEX_VERSION.decode()} {len(lines)}", *lines, ""])
    folder, _, name = index_path(path).rpartition("/")
    folder_at(folder or ".").write(name, body.encode("utf-8", "surrogateescape"))
    return len(lines)


def count_of_index(path: str) -> int:
    """How many samples the index of a shard tells of; only its head is read. Raises as :func:`read_index`."""
    with _open_index(path) as file:
        return _count(path, file.readline())


def read_index(path: str) -> list[bytes]:
    """The lines of a shard's index, for :func:`members_of_line`.

    Raises:
      NotFoundError: if it has none.
      DataLossError: if that is damaged.
    """
    with _open_index(path) as file:
        count = _count(path, file.readline())
        lines: list[bytes] = file.read().splitlines()
    if len(lines) != count:
        raise DataLossError(message=f"{index_path(path)} promises {count} samples and has {len(lines)}")
    return lines


def members_of_line(path: str, line: bytes) -> list[Member]:
    """The files of one sample; raises ``DataLossError`` if the line is damaged."""
    parts = line.decode("utf-8", "surrogateescape").split()
    groups = [parts[at : at + 4] for at in range(0, len(parts), 4)]
    try:
        return [
            Member(split_name(name)[0], field, int(size), int(data), int(data)) for field, data, size, name in groups
        ]
    except ValueError as error:
        raise DataLossError(message=f"{index_path(path)} has a damaged line: {line[:80]!r}") from error


def _open_index(path: str) -> io.BufferedReader:
    try:
        return open_file(index_path(path))
    except NotFoundError as error:
        raise NotFoundError(
            message=f"{error.message}: {path} has no index; make it with tf.data.experimental.index_webdataset()"
        ) from error


def _count(path: str, head: bytes) -> int:
    version, _, count = head.strip().partition(b" ")
    if version != INDEX_VERSION or not count.isdigit():
        raise DataLossError(
            message=f"{index_path(path)} is no index of version {INDEX_VERSION.decode()}: {head[:40]!r}"
        )
    return int(count)


class _Head(NamedTuple):
    """What the head of a file says of it, or of what follows."""

    name: str
    size: int
    type: bytes


def _head(block: bytes) -> _Head:
    """A head; in a fifth of the time that :mod:`tarfile` takes, which reads those that are not as usual.

    Raises:
      tarfile.HeaderError: if it is none.
    """
    name, kind = block[:100].partition(b"\0")[0], block[156:157]
    try:
        size, checksum = (int(field.strip(b" \0"), 8) for field in (block[124:136], block[148:156]))
    except ValueError:  # sizes beyond 8 GiB are written in another way
        return _slow_head(block)
    if sum(block) - sum(block[148:156]) + 8 * ord(" ") != checksum or (kind == tarfile.AREGTYPE and name[-1:] == b"/"):
        return _slow_head(block)
    if block[257:263] == tarfile.POSIX_MAGIC[:6] and block[345]:
        name = block[345:500].partition(b"\0")[0] + b"/" + name
    return _Head(name.decode("utf-8", "surrogateescape"), size, kind)


def _slow_head(block: bytes) -> _Head:
    info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    return _Head(info.name, info.size, info.type)


def _pax(body: bytes) -> dict[str, str]:
    """The records of an extended head: each is its own length, a name and a value."""
    told = {}
    while body:
        length = int(body.partition(b" ")[0])
        name, _, value = body[:length].partition(b" ")[2].rstrip(b"\n").partition(b"=")
        told[name.decode()] = value.decode("utf-8", "surrogateescape")
        body = body[length:]
    return told


def _padded(size: int) -> int:
    return -(-size // BLOCK_BYTES) * BLOCK_BYTES
