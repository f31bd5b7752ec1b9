"""Where datasets are kept: a directory of files, or the objects below a URL such as ``s3://bucket/path``.

A file is there whole or not at all, whatever dies. Names are relative, with slashes.
"""

from __future__ import annotations

import functools
import io
import os
import re
import shutil
import uuid
from pathlib import Path
from typing import IO, Any, Final, Protocol

from tfsvc.errors import NotFoundError
from tfsvc.storage.bucket import PATIENCE_S, Bucket, Upload

OBJECT_BYTES_MAX: Final = 1 << 30
"""How large a file in a bucket may grow: to move it is to have it copied in one request, S3's limit being 5 GiB."""

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://")


class NewFile(Protocol):
    """A file that is being written."""

    def write(self, data: bytes, /) -> Any: ...

    def close(self) -> None:
        """Returns when what was written is durable; then the file is whole."""
        ...

    def abandon(self) -> None:
        """Lets go of the file, of which nothing counts."""
        ...


class Folder(Protocol):
    """A place for files; ``str()`` is how people name it.

    Where it is a bucket, all methods raise ``UnavailableError`` if it does not answer and ``PermissionDeniedError`` if
    it refuses; where it is a directory, they raise ``OSError``.

    Attributes:
      file_bytes_max: how large a file should grow; ``None`` where it does not matter.
    """

    @property
    def file_bytes_max(self) -> int | None: ...

    def address(self, name: str) -> str:
        """What :func:`open_file` takes."""
        ...

    def claim(self, name: str, owner: str) -> bool:
        """Makes the folder, with a file that says whose it is, unless there is one; whether it is ``owner``'s now."""
        ...

    def make(self, name: str) -> None:
        """Makes a directory within, where there are such things."""
        ...

    def children(self, name: str = "") -> list[str]:
        """The names of what is right in the folder or in a directory within, sorted; none if it is not there."""
        ...

    def has(self, name: str) -> bool: ...

    def read(self, name: str) -> bytes:
        """A whole file.

        Raises:
          NotFoundError: if it is not there.
        """
        ...

    def write(self, name: str, body: bytes, durable: bool = True) -> None:
        """Makes a file, instead of what had its name; one that is not ``durable`` may be lost with the machine."""
        ...

    def begin(self, name: str) -> NewFile:
        """A new file, written piece by piece."""
        ...

    def move(self, source: str, target: str) -> None:
        """Gives a file another name, durably. Done again, it changes nothing.

        Raises:
          NotFoundError: if it is neither here nor there.
        """
        ...

    def share(self, source: str, target: str) -> None:
        """Gives a file that will not change any more a second name.

        Raises:
          NotFoundError: if it is not there.
        """
        ...

    def remove(self, name: str) -> None:
        """Removes a file or a directory, if it is there."""
        ...

    def sync(self, name: str) -> None:
        """Returns when it is durable which files there are in a directory within."""
        ...


def folder_at(path: str, patience_s: float = PATIENCE_S) -> Folder:
    """The folder of a path or a URL; nothing is looked for yet.

    Args:
      patience_s: how long a bucket may take to answer, in seconds.

    Raises:
      InvalidArgumentError: if the URL is of no kind that is known.
      FailedPreconditionError: if obstore is not installed.
    """
    local = local_path(path)
    return PathFolder(Path(local)) if local is not None else BucketFolder(*_split(path, patience_s))


def absolute(path: str) -> str:
    """The one name by which all machines know a path or a URL."""
    local = local_path(path)
    return os.path.abspath(local) if local is not None else path.rstrip("/")


def open_file(path: str) -> io.BufferedReader:
    """The bytes of a file at a path or a URL; whoever reads it closes it.

    Raises:
      NotFoundError: if there is no such file.
    """
    local = local_path(path)
    if local is None:
        bucket, name = _split(path, PATIENCE_S)
        return bucket.open(name)
    try:
        return Path(local).open("rb")
    except FileNotFoundError as error:
        raise _missing(local) from error


def local_path(path: str) -> str | None:
    """The path of what lies in a file system."""
    return path.removeprefix("file://") if path.startswith("file://") or not _URL.match(path) else None


def _split(url: str, patience_s: float) -> tuple[Bucket, str]:
    scheme, _, rest = url.partition("://")
    host, _, name = rest.partition("/")
    return _bucket(f"{scheme}://{host}", patience_s), "/".join(filter(None, name.split("/")))


@functools.lru_cache(maxsize=16)
def _bucket(url: str, patience_s: float) -> Bucket:
    return Bucket(url, patience_s)


class PathFolder:
    """A directory of a file system."""

    file_bytes_max = None

    def __init__(self, root: Path) -> None:
        self._root = root

    def __str__(self) -> str:
        return str(self._root)

    def address(self, name: str) -> str:
        return str(self._root / name)

    def claim(self, name: str, owner: str) -> bool:
        if not self._root.exists():
            part = self._root.with_name(f"{self._root.name}.{owner}.tmp")
            part.mkdir(parents=True, exist_ok=True)
            write_atomically(part / name, owner.encode())
            part.rename(self._root)
            return True
        try:
            return self.read(name) == owner.encode()
        except NotFoundError:
            return False

    def make(self, name: str) -> None:
        (self._root / name).mkdir(parents=True, exist_ok=True)

    def children(self, name: str = "") -> list[str]:
        return sorted(path.relative_to(self._root).as_posix() for path in (self._root / name).glob("*"))

    def has(self, name: str) -> bool:
        return (self._root / name).exists()

    def read(self, name: str) -> bytes:
        try:
            return (self._root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise _missing(self.address(name)) from error

    def write(self, name: str, body: bytes, durable: bool = True) -> None:
        self._inside(name)
        write_atomically(self._root / name, body, durable)

    def begin(self, name: str) -> NewFile:
        self._inside(name)
        return PathFile(self._root / name)

    def move(self, source: str, target: str) -> None:
        try:
            (self._root / source).replace(self._root / target)
        except FileNotFoundError as error:
            if not self.has(target):
                raise _missing(self.address(source)) from error
        sync_folder((self._root / target).parent)

    def share(self, source: str, target: str) -> None:
        self._inside(target)
        try:
            os.link(self._root / source, self._root / target)
        except FileNotFoundError as error:
            raise _missing(self.address(source)) from error
        except OSError:  # where the disk has no such names
            shutil.copyfile(self._root / source, self._root / target)

    def sync(self, name: str) -> None:
        top = self._root / name
        for folder in (*filter(Path.is_dir, top.iterdir()), top, self._root):
            sync_folder(folder)

    def remove(self, name: str) -> None:
        path = self._root / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def _inside(self, name: str) -> None:
        (self._root / name).parent.mkdir(parents=True, exist_ok=True)


class PathFile:
    """A file that is written where it is read: only what its name or another file says makes it count."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("wb")

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        self._file.close()


class BucketFolder:
    """The objects of a bucket below a name."""

    file_bytes_max = OBJECT_BYTES_MAX

    def __init__(self, bucket: Bucket, root: str) -> None:
        self._bucket = bucket
        self._root = root

    def __str__(self) -> str:
        return self.address("").rstrip("/")

    def address(self, name: str) -> str:
        return f"{self._bucket.url}/{self._key(name)}"

    def claim(self, name: str, owner: str) -> bool:
        key, body = self._key(name), owner.encode()
        if self._bucket.size(key) is None:
            if self._bucket.names(self._root):
                return False
            if self._bucket.create(key, body):
                return True
        return self._bucket.get(key) == body

    def make(self, name: str) -> None:
        """A bucket has no directories."""

    def children(self, name: str = "") -> list[str]:
        start = len(self._root) + 1 if self._root else 0
        return sorted(found[start:] for found in self._bucket.children(self._key(name)))

    def has(self, name: str) -> bool:
        return self._bucket.size(self._key(name)) is not None

    def read(self, name: str) -> bytes:
        return self._bucket.get(self._key(name))

    def write(self, name: str, body: bytes, durable: bool = True) -> None:
        self._bucket.put(self._key(name), body)

    def begin(self, name: str) -> Upload:
        return self._bucket.upload(self._key(name))

    def move(self, source: str, target: str) -> None:
        try:
            self._bucket.copy(self._key(source), self._key(target))
        except NotFoundError:
            if not self.has(target):
                raise
        self._bucket.delete([self._key(source)])

    def share(self, source: str, target: str) -> None:
        self._bucket.copy(self._key(source), self._key(target))

    def sync(self, name: str) -> None:
        """An object that is there is durable."""

    def remove(self, name: str) -> None:
        # Some buckets end a deletion at the first name that is not there.
        self._bucket.delete(self._bucket.names(self._key(name)) or [self._key(name)])

    def _key(self, name: str) -> str:
        return f"{self._root}/{name}".strip("/")


def write_atomically(path: Path, data: bytes, durable: bool = True) -> None:
    """Replaces a file so that a crash leaves the old one or the new one, whole."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    with part.open("wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)
    if durable:
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Returns when the disk knows which files are there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _missing(path: str) -> NotFoundError:
    return NotFoundError(message=f"{path}; No such file or directory")
