"""Arrays in files: ``.npy`` files, and the members of ``.npz`` files, read row by row."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tfsvc.errors import DataLossError, NotFoundError, UnimplementedError
from tfsvc.storage.folders import local_path, open_file

_LOCAL_HEAD_BYTES = 30
"""Of a member of a zip file, before its name and what else its head has."""


class Rows(Protocol):
    """An array that can give its rows ``lo <= i < hi``."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def __getitem__(self, rows: slice, /) -> Any: ...


@dataclass(frozen=True)
class ArrayFile:
    """Where an array lies.

    Attributes:
      path: the file.
      member: its name in a ``.npz`` file, or ``None`` for a ``.npy`` file.
    """

    path: str
    member: str | None = None

    def open(self) -> Rows:
        """The array: mapped into memory, read-only; or read piece by piece where it is compressed, or has no path.

        Raises:
          NotFoundError: if there is no such file.
          ValueError: if it is no such file, or holds Python objects.
          UnimplementedError: if it is compressed and lies there column by column.
        """
        try:
            return _mapped(self.path) if self.member is None else _member(self.path, f"{self.member}.npy")
        except FileNotFoundError as error:
            raise NotFoundError(message=f"{self.path}; No such file or directory") from error


def members_of(path: str) -> list[str]:
    """The names of the arrays in a ``.npz`` file; raises as :meth:`ArrayFile.open`."""
    try:
        with _open_zip(path) as file:
            return [name.removesuffix(".npy") for name in file.namelist()]
    except FileNotFoundError as error:
        raise NotFoundError(message=f"{path}; No such file or directory") from error
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is no .npz file: {error}") from error


def _mapped(path: str) -> Rows:
    local = local_path(path)
    if local is None:
        return _streamed(path, open_file(path))
    found = np.load(local, mmap_mode="r")
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{path} is no .npy file; read an .npz file with from_npz")
    # As a plain array, so that its rows are plain too.
    return np.asarray(found)


def _open_zip(path: str) -> zipfile.ZipFile:
    local = local_path(path)
    return zipfile.ZipFile(open_file(path) if local is None else local)


def _member(path: str, name: str) -> Rows:
    file = _open_zip(path)
    info = file.getinfo(name)
    local = local_path(path)
    if info.compress_type != zipfile.ZIP_STORED or local is None:
        return _streamed(f"{name} in {path}", file.open(info))
    shape, is_by_column, dtype = _read_head(stream := file.open(info))
    _check_plain(f"{name} in {path}", dtype)
    head_bytes = stream.tell()
    with open(local, "rb") as opened:
        opened.seek(info.header_offset + _LOCAL_HEAD_BYTES - 4)
        name_bytes, extra_bytes = np.frombuffer(opened.read(4), "<u2").tolist()
    start = info.header_offset + _LOCAL_HEAD_BYTES + name_bytes + extra_bytes + head_bytes
    if not np.prod(shape):
        return np.empty(shape, dtype)
    return np.asarray(np.memmap(local, dtype, "r", start, shape, "F" if is_by_column else "C"))


def _streamed(what: str, stream: Any) -> Rows:
    """The array whose file ``stream`` is, read piece by piece."""
    shape, is_by_column, dtype = _read_head(stream)
    _check_plain(what, dtype)
    if is_by_column:
        raise UnimplementedError(
            message=f"{what} is compressed, or in a bucket, and lies there column by column; "
            "save np.ascontiguousarray of it, or use np.savez"
        )
    return _Streamed(what, stream, stream.tell(), shape, dtype)


def _check_plain(what: str, dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise ValueError(f"{what} holds Python objects, which are not read")


def _read_head(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    match np.lib.format.read_magic(stream):
        case (1, _):
            return np.lib.format.read_array_header_1_0(stream)
        case _:
            return np.lib.format.read_array_header_2_0(stream)


class _Streamed:
    """Rows of an array that cannot be mapped. In a compressed one going back means to decompress from the beginning."""

    def __init__(self, what: str, stream: Any, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._what = what
        self._stream = stream
        self._start = start
        self.shape = shape
        self.dtype = dtype

    def __getitem__(self, rows: slice) -> Any:
        row_bytes = int(np.prod(self.shape[1:])) * self.dtype.itemsize
        size = (rows.stop - rows.start) * row_bytes
        try:
            self._stream.seek(self._start + rows.start * row_bytes)
            found = self._stream.read(size)
        except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
            raise DataLossError(message=f"{self._what} is damaged: {error}") from error
        if len(found) < size:
            raise DataLossError(message=f"{self._what} ends within row {rows.start + len(found) // row_bytes}")
        return np.frombuffer(found, self.dtype).reshape(rows.stop - rows.start, *self.shape[1:])
