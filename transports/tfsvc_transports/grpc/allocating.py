"""Memory for messages, which comes and goes."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

_BLOCK_BYTES: Final = 31 << 20
"""The C library remembers blocks of up to 32 MiB."""


@cache
def keep_what_is_freed() -> None:
    """Lets the process keep some memory that it has freed.

    The C library gives memory back to the system where more is free than twice the largest block that it has mapped
    and let go of. Messages of a mebibyte then bring each page of theirs anew, which costs as much as to receive them.
    So it is shown one large block, of which no page is touched.
    """
    np.empty(_BLOCK_BYTES, np.uint8)
