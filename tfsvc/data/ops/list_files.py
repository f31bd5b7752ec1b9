"""The files behind ``Dataset.list_files``: found once, when the dataset is made."""

from __future__ import annotations

import glob
from collections.abc import Iterable

from tfsvc.errors import InvalidArgumentError


def matching_files(patterns: Iterable[bytes | str]) -> list[bytes]:
    """The files that match any of the patterns, sorted by name.

    Raises:
      InvalidArgumentError: if no file matches.
    """
    texts = [p.decode() if isinstance(p, bytes) else p for p in patterns]
    found = sorted({path for text in texts for path in glob.glob(text)})
    if not found:
        raise InvalidArgumentError(message=f"No files matched pattern: {', '.join(texts)}")
    return [path.encode() for path in found]
