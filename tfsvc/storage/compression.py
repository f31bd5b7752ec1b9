"""Byte streams of files: plain, ``GZIP``, ``ZLIB`` and ``SNAPPY``, read and written piece by piece.

A Snappy stream is TensorFlow's: blocks, each a length as a big-endian u32 and so many bytes of a raw Snappy block.
"""

from __future__ import annotations

import io
import struct
import zlib
from abc import abstractmethod
from typing import IO, Any, Protocol

import cramjam

from tfsvc.errors import DataLossError, InvalidArgumentError
from tfsvc.storage.folders import open_file
from tfsvc.wire.varints import read_varint

COMPRESSIONS = ("", "GZIP", "ZLIB", "SNAPPY")
PIECE_BYTES = 1 << 16
"""How much of a compressed file is in memory at a time."""

SNAPPY_BLOCK_BYTES = 1 << 17
"""Uncompressed bytes of a block; TensorFlow's readers refuse blocks of more than 256 KiB, compressed or not."""

_SNAPPY_RATIO_MAX = 32
_SNAPPY_LENGTH = struct.Struct(">I")
_WBITS = {"GZIP": 31, "ZLIB": 15}


def check_compression(compression: str) -> None:
    """Raises ``InvalidArgumentError`` if there is no such compression."""
    if compression not in COMPRESSIONS:
        raise InvalidArgumentError(message=f"Unsupported compression_type: {compression}.")


def open_reader(path: str, compression: str) -> io.BufferedReader:
    """The decompressed bytes of a file. Seeking is cheap in plain files and skips Snappy's blocks unread; else all
    that lies before must be decompressed again.

    Reading raises ``DataLossError`` where the file is damaged.

    Raises:
      NotFoundError: if there is no such file.
      InvalidArgumentError: if there is no such compression.
    """
    check_compression(compression)
    file = open_file(path)
    match compression:
        case "":
            return file
        case "SNAPPY":
            return io.BufferedReader(_Unsnapped(path, file), PIECE_BYTES)
        case _:
            return io.BufferedReader(_Inflated(path, file, compression), PIECE_BYTES)


class _Decoded(io.RawIOBase):
    """A compressed file, decompressed from its beginning to its end."""

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._at = 0
        self._begin()

    @abstractmethod
    def _begin(self) -> None:
        """Goes to the beginning."""

    @abstractmethod
    def _next(self, limit: int) -> bytes:
        """The next bytes, ``limit`` at the most; none at the end."""

    def _skip(self, count: int) -> int:
        """Passes over up to ``count`` bytes; says how many, none at the end."""
        return len(self._next(min(count, PIECE_BYTES)))

    def readinto(self, buffer: Any) -> int:
        found = self._next(len(buffer))
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("the size of a compressed file is not known")
        target = offset + (self._at if whence == io.SEEK_CUR else 0)
        if target < self._at:
            self._file.seek(0)
            self._at = 0
            self._begin()
        while self._at < target:
            skipped = self._skip(target - self._at)
            if not skipped:
                break
            self._at += skipped
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def _damaged(self, why: object) -> DataLossError:
        return DataLossError(message=f"{self._path} is not a whole {self._kind} file: {why}")

    @property
    @abstractmethod
    def _kind(self) -> str: ...


class _Inflated(_Decoded):
    def __init__(self, path: str, file: IO[bytes], kind: str) -> None:
        self._wbits = _WBITS[kind]
        super().__init__(path, file)

    @property
    def _kind(self) -> str:
        return next(kind for kind, wbits in _WBITS.items() if wbits == self._wbits)

    def _begin(self) -> None:
        self._stream = zlib.decompressobj(self._wbits)
        self._rest = self._file.read(PIECE_BYTES)
        self._ended = not self._rest

    def _next(self, limit: int) -> bytes:
        while not self._ended:
            found = self._inflate(limit)
            if self._stream.eof:
                self._next_member()
            if found:
                return found
        return b""

    def _inflate(self, limit: int) -> bytes:
        piece = self._rest or self._file.read(PIECE_BYTES)
        try:
            found = self._stream.decompress(piece, limit)
        except zlib.error as error:
            raise self._damaged(error) from error
        if not piece and not found and not self._stream.eof:
            raise self._damaged("it ends too early")
        self._rest = self._stream.unconsumed_tail
        return found

    def _next_member(self) -> None:
        """A GZIP file may hold several streams, and zeros behind the last."""
        self._rest = self._stream.unused_data.lstrip(b"\0")
        while not self._rest:
            piece = self._file.read(PIECE_BYTES)
            if not piece:
                break
            self._rest = piece.lstrip(b"\0")
        self._ended = not self._rest or self._kind == "ZLIB"
        self._stream = zlib.decompressobj(self._wbits)


class _Unsnapped(_Decoded):
    _kind = "SNAPPY"

    def _begin(self) -> None:
        self._size = self._file.seek(0, io.SEEK_END)
        self._file.seek(0)
        self._block: bytes | memoryview = b""

    def _next(self, limit: int) -> bytes:
        while not self._block:
            compressed = self._read_block()
            if compressed is None:
                return b""
            self._block = self._decompress(compressed)
        found, self._block = self._block[:limit], self._block[limit:]
        return bytes(found)

    def _skip(self, count: int) -> int:
        while not self._block:
            start = self._file.tell()
            length = self._block_length()
            if length is None:
                return 0
            size = self._uncompressed_size(self._file.read(min(length, 5)), length)
            if size and size <= count:
                self._file.seek(start + _SNAPPY_LENGTH.size + length)
                return size
            self._file.seek(start)
            self._block = self._decompress(self._read_block() or b"")
        skipped = min(count, len(self._block))
        self._block = self._block[skipped:]
        return skipped

    def _block_length(self) -> int | None:
        head = self._file.read(_SNAPPY_LENGTH.size)
        if not head:
            return None
        length: int = _SNAPPY_LENGTH.unpack(head)[0] if len(head) == _SNAPPY_LENGTH.size else self._size
        if length > self._size - self._file.tell():
            raise self._damaged("it ends within a block")
        return length

    def _read_block(self) -> bytes | None:
        length = self._block_length()
        return None if length is None else self._file.read(length)

    def _decompress(self, compressed: bytes) -> memoryview:
        self._uncompressed_size(compressed, len(compressed))
        try:
            return memoryview(bytes(cramjam.snappy.decompress_raw(compressed)))
        except cramjam.DecompressionError as error:
            raise self._damaged(error) from error

    def _uncompressed_size(self, head: bytes, length: int) -> int:
        """What a block's own head says, before anything is allocated on its word."""
        try:
            size, _ = read_varint(head, 0)
        except ValueError as error:
            raise self._damaged(error) from error
        if size > _SNAPPY_RATIO_MAX * length:
            raise self._damaged(f"{length} bytes cannot make {size}")
        return size


class ByteWriter(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> Any: ...


class Compressor:
    """Compresses what is written, on its way into ``file``; whoever opened ``file`` closes it.

    Raises:
      InvalidArgumentError: if there is no such compression.
    """

    def __init__(self, file: ByteWriter, compression: str) -> None:
        check_compression(compression)
        self._file = file
        self._snappy = compression == "SNAPPY"
        self._deflate = zlib.compressobj(wbits=_WBITS[compression]) if compression in _WBITS else None
        self._block = bytearray()

    def write(self, data: bytes) -> None:
        """Takes some bytes."""
        if self._deflate is not None:
            self._file.write(self._deflate.compress(data))
        elif self._snappy:
            self._block += data
            while len(self._block) >= SNAPPY_BLOCK_BYTES:
                self._write_block()
        else:
            self._file.write(data)

    def finish(self) -> None:
        """Writes what is held; nothing may be written afterwards."""
        if self._deflate is not None:
            self._file.write(self._deflate.flush())
        while self._block:
            self._write_block()

    def _write_block(self) -> None:
        compressed = bytes(cramjam.snappy.compress_raw(bytes(self._block[:SNAPPY_BLOCK_BYTES])))
        del self._block[:SNAPPY_BLOCK_BYTES]
        self._file.write(_SNAPPY_LENGTH.pack(len(compressed)) + compressed)
