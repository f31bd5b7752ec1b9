"""A shelf in a bucket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tfsvc.storage.bucket import Bucket

OPEN_S: Final = 8.0
"""How long a bucket may take to answer when a dispatcher starts; later it waits longer before it gives up and ends."""
READERS: Final = 32


class BucketShelf:
    """Keeps objects below a URL such as ``s3://bucket/path``.

    Raises:
      InvalidArgumentError: if the URL is none of a bucket.
      FailedPreconditionError: if obstore is not installed.
      UnavailableError: if the bucket does not answer.
      PermissionDeniedError: if it refuses.
    """

    def __init__(self, url: str) -> None:
        Bucket(url, OPEN_S).names()
        self._bucket = Bucket(url)

    @property
    def where(self) -> str:
        return self._bucket.url

    def names(self) -> Sequence[str]:
        return self._bucket.names()

    def get(self, names: Sequence[str]) -> Iterator[bytes]:
        if len(names) == 1:
            yield self._bucket.get(names[0])
            return
        with ThreadPoolExecutor(READERS, "tfsvc-bucket") as pool:
            yield from pool.map(self._bucket.get, names)

    def put(self, name: str, body: bytes) -> bool:
        return self._bucket.create(name, body)

    def has(self, name: str) -> bool:
        return self._bucket.size(name) is not None

    def delete(self, names: Sequence[str]) -> None:
        self._bucket.delete(names)

    def close(self) -> None:
        """There is nothing to let go of: whoever goes on with the journal fences off the rest."""
