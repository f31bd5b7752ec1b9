"""A shelf in a bucket: S3, Google Cloud Storage, Azure, or whatever else obstore reaches by a URL.

All it asks of a bucket is that an object can be put on the condition that there is none of its name, and
that a listing shows what was put. Credentials and endpoints come from the environment, as for obstore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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
OPEN_S: Final = 8.0
"""How long a bucket may take to answer when a dispatcher starts."""
PATIENCE_S: Final = 60.0
"""How long a dispatcher waits for its bucket before it gives up and ends."""
READERS: Final = 32

_memory: dict[str, ObjectStore] = {}


class BucketShelf:
    """Keeps objects below a URL such as ``s3://bucket/path``.

    ``memory://name`` is a bucket of this process, ``file:///path`` a directory.

    Raises:
      InvalidArgumentError: if the URL is none of a bucket.
      FailedPreconditionError: if obstore is not installed.
      UnavailableError: if the bucket does not answer.
      PermissionDeniedError: if it refuses.
    """

    def __init__(self, url: str) -> None:
        if url.split("://")[0] not in SCHEMES:
            known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
            raise InvalidArgumentError(message=f"work_dir {url!r} is of no kind that is known: {known}, or a path")
        try:
            import obstore
            from obstore import exceptions
        except ImportError as error:
            raise FailedPreconditionError(
                message=f"work_dir {url!r} is a bucket, which needs the package obstore: pip install 'tfsvc[bucket]'"
            ) from error
        self._url = url
        self._obstore: Any = obstore
        self._exceptions: Any = exceptions
        self._connect(OPEN_S)
        self.names()
        self._connect(PATIENCE_S)

    @property
    def where(self) -> str:
        return self._url

    def names(self) -> Sequence[str]:
        def listed() -> list[str]:
            return [str(found["path"]) for batch in self._obstore.list(self._store) for found in batch]

        return self._do(listed)

    def get(self, names: Sequence[str]) -> Iterator[bytes]:
        def read(name: str) -> bytes:
            return self._do(lambda: bytes(self._obstore.get(self._store, name).bytes()))

        if len(names) == 1:
            yield read(names[0])
            return
        with ThreadPoolExecutor(READERS, "tfsvc-bucket") as pool:
            yield from pool.map(read, names)

    def put(self, name: str, body: bytes) -> bool:
        def put() -> bool:
            try:
                self._obstore.put(self._store, name, body, mode="create", use_multipart=False)
            except self._exceptions.AlreadyExistsError:
                return False
            return True

        return self._do(put)

    def has(self, name: str) -> bool:
        try:
            self._do(lambda: self._obstore.head(self._store, name))
        except NotFoundError:
            return False
        return True

    def delete(self, names: Sequence[str]) -> None:
        def delete() -> None:
            if names:
                self._obstore.delete(self._store, list(names))

        with suppress(NotFoundError):  # where others were deleted too, some may stay until the next time
            self._do(delete)

    def close(self) -> None:
        """There is nothing to let go of: whoever goes on with the journal fences off the rest."""

    def _connect(self, patience_s: float) -> None:
        if self._url.startswith("memory://"):
            self._store = _memory.setdefault(self._url, self._obstore.store.MemoryStore())
            return
        options: dict[str, Any] = {}
        if not self._url.startswith("file://"):
            # Without encryption only where the environment names an endpoint that has none.
            options["client_options"] = {
                "allow_http": True,
                "connect_timeout": f"{OPEN_S / 2:g}s",
                "timeout": f"{patience_s:g}s",
            }
            options["retry_config"] = {"max_retries": 10, "retry_timeout": timedelta(seconds=patience_s)}
        else:
            options["mkdir"] = True
        self._store = self._do(lambda: self._obstore.store.from_url(self._url, **options))

    def _do(self, act: Callable[[], T]) -> T:
        """What ``act`` gives; its errors as ours, with the bucket's name."""
        known = self._exceptions
        try:
            return act()
        except FileNotFoundError as error:
            raise NotFoundError(message=f"{self._url}: {_first_line(error)}") from error
        except (known.PermissionDeniedError, known.UnauthenticatedError) as error:
            raise PermissionDeniedError(
                message=f"the bucket {self._url} refuses: {_first_line(error)}. Check the environment's credentials."
            ) from error
        except (known.BaseError, OSError, ValueError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> OpError:
        return UnavailableError(
            message=f"the bucket {self._url} cannot be used: {_first_line(error)}. Check its name, the network and the "
            "credentials in the environment."
        )


def _first_line(error: Exception) -> str:
    """Behind the first line comes what only obstore's authors can use."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
