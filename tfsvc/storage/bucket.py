"""Buckets: S3, Google Cloud Storage, Azure, or whatever else obstore reaches by a URL.

All that is asked of a bucket is that an object can be put on the condition that there is none of its name, and that a
listing shows what was put. Credentials and endpoints come from the environment, as for obstore.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tfsvc.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")

SCHEMES: Final = ("s3", "gs", "az", "file", "memory")
CONNECT_S: Final = 4.0
PATIENCE_S: Final = 60.0
"""How long a bucket is asked again before it counts as out of reach."""
PIECE_BYTES: Final = 1 << 20
"""How much of an object is asked for at once."""

_memory: dict[str, ObjectStore] = {}


class Bucket:
    """Objects below a URL such as ``s3://bucket/path``; all methods may be called from several threads at once.

    ``memory://name`` is a bucket of this process, ``file:///path`` a directory. Nothing is asked of it yet.

    Args:
      url: where the objects lie.
      patience_s: how long it may take to answer, in seconds.

    Raises:
      InvalidArgumentError: if the URL is none of a bucket.
      FailedPreconditionError: if obstore is not installed.
      UnavailableError: if the URL cannot be understood; from all methods, if the bucket does not answer.
      PermissionDeniedError: from all methods, if it refuses.
    """

    def __init__(self, url: str, patience_s: float = PATIENCE_S) -> None:
        if url.split("://")[0] not in SCHEMES:
            known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
            raise InvalidArgumentError(message=f"{url!r} is of no kind that is known: {known}, or a path")
        try:
            import obstore
            from obstore import exceptions
        except ImportError as error:
            raise FailedPreconditionError(
                message=f"{url!r} is a bucket, which needs the package obstore: pip install 'tfsvc[bucket]'"
            ) from error
        self.url = url
        self._obstore: Any = obstore
        self._exceptions: Any = exceptions
        self._store = self._connect(patience_s)

    def names(self, below: str = "") -> list[str]:
        """The names of all objects, or of those in one directory and the directories in it, in any order."""

        def listed() -> list[str]:
            return [str(found["path"]) for batch in self._obstore.list(self._store, below or None) for found in batch]

        return self._do(listed)

    def children(self, name: str) -> list[str]:
        """The names of what is right in one directory, objects and directories, in any order."""

        def listed() -> list[str]:
            found = self._obstore.list_with_delimiter(self._store, name)
            return [*found["common_prefixes"], *(str(one["path"]) for one in found["objects"])]

        return self._do(listed)

    def get(self, name: str) -> bytes:
        """An object.

        Raises:
          NotFoundError: if it is not there.
        """
        return self._do(lambda: bytes(self._obstore.get(self._store, name).bytes()))

    def part(self, name: str, start: int, end: int) -> bytes:
        """The bytes of an object from ``start`` to before ``end``, both within it."""
        return self._do(lambda: bytes(self._obstore.get_range(self._store, name, start=start, end=end)))

    def put(self, name: str, body: bytes) -> None:
        """Makes an object durable, instead of what had its name."""
        self._do(lambda: self._obstore.put(self._store, name, body, use_multipart=False))

    def create(self, name: str, body: bytes) -> bool:
        """Makes an object durable, unless there is one of that name; whether it did."""

        def put() -> bool:
            try:
                self._obstore.put(self._store, name, body, mode="create", use_multipart=False)
            except self._exceptions.AlreadyExistsError:
                return False
            return True

        return self._do(put)

    def size(self, name: str) -> int | None:
        """How many bytes an object has; ``None`` if it is not there."""
        try:
            return int(self._do(lambda: self._obstore.head(self._store, name))["size"])
        except NotFoundError:
            return None

    def copy(self, source: str, target: str) -> None:
        """Makes an object durable that is like another.

        Raises:
          NotFoundError: if the other is not there.
        """
        self._do(lambda: self._obstore.copy(self._store, source, target))

    def delete(self, names: Sequence[str]) -> None:
        """Removes objects; those that are not there are passed over."""

        def delete() -> None:
            if names:
                self._obstore.delete(self._store, list(names))

        with suppress(NotFoundError):  # where others were deleted too, some may stay until the next time
            self._do(delete)

    def open(self, name: str) -> io.BufferedReader:
        """An object to be read piece by piece.

        Raises:
          NotFoundError: if it is not there.
        """
        size = self.size(name)
        if size is None:
            raise NotFoundError(message=f"{self.url}/{name}; No such file or directory")
        return io.BufferedReader(_Reading(self, name, size), PIECE_BYTES)

    def upload(self, name: str) -> Upload:
        """A new object that is written piece by piece."""
        return Upload(self._do(lambda: self._obstore.open_writer(self._store, name)), self._do)

    def _connect(self, patience_s: float) -> ObjectStore:
        if self.url.startswith("memory://"):
            return _memory.setdefault(self.url, self._obstore.store.MemoryStore())
        options: dict[str, Any] = {}
        if not self.url.startswith("file://"):
            # Without encryption only where the environment names an endpoint that has none.
            options["client_options"] = {
                "allow_http": True,
                "connect_timeout": f"{CONNECT_S:g}s",
                "timeout": f"{patience_s:g}s",
            }
            options["retry_config"] = {"max_retries": 10, "retry_timeout": timedelta(seconds=patience_s)}
        else:
            options["mkdir"] = True
        store: ObjectStore = self._do(lambda: self._obstore.store.from_url(self.url, **options))
        return store

    def _do(self, act: Callable[[], T]) -> T:
        """What ``act`` gives; its errors as ours, with the bucket's name."""
        known = self._exceptions
        try:
            return act()
        except FileNotFoundError as error:
            raise NotFoundError(message=f"{self.url}: {_first_line(error)}") from error
        except (known.PermissionDeniedError, known.UnauthenticatedError) as error:
            raise PermissionDeniedError(
                message=f"the bucket {self.url} refuses: {_first_line(error)}. Check the environment's credentials."
            ) from error
        except (known.BaseError, OSError, ValueError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> OpError:
        return UnavailableError(
            message=f"the bucket {self.url} cannot be used: {_first_line(error)}. Check its name, the network and the "
            "credentials in the environment."
        )


class _Reading(io.RawIOBase):
    def __init__(self, bucket: Bucket, name: str, size: int) -> None:
        self._bucket = bucket
        self._name = name
        self._size = size
        self._at = 0

    def readinto(self, buffer: Any) -> int:
        end = min(self._size, self._at + len(buffer))
        if end <= self._at:
            return 0
        found = self._bucket.part(self._name, self._at, end)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


class Upload:
    """An object under way; it is there from :meth:`close` on, and never in parts."""

    def __init__(self, file: Any, do: Callable[[Callable[[], Any]], Any]) -> None:
        self._file = file
        self._do = do

    def write(self, data: bytes) -> None:
        """Takes some bytes."""
        self._do(lambda: self._file.write(data))

    def close(self) -> None:
        """Returns when the object is durable."""
        self._do(self._file.close)

    def abandon(self) -> None:
        """Makes no object."""
        self._file = None


def _first_line(error: Exception) -> str:
    """Behind the first line comes what only obstore's authors can use."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
