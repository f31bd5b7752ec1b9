"""Real input that every machine has: the source files of Python's standard library, tokenised.

An element is one block of up to 1,000 tokens of one file: which block it is, how often each kind of
token occurs in it, and the process that counted. A split is one file.
"""

from __future__ import annotations

import os
import sysconfig
import token
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tfsvc.data import Dataset
from tfsvc.specs import TensorSpec

BLOCK = 1000
KINDS = len(token.tok_name)
SPEC = {
    "file": TensorSpec((), "string"),
    "block": TensorSpec((), "int64"),
    "counts": TensorSpec((KINDS,), "int64"),
    "process": TensorSpec((), "int64"),
}


def standard_library() -> list[str]:
    """The library's source files in order of their names, its own tests included, installed packages left out."""
    root = Path(sysconfig.get_path("stdlib"))
    skip = ("site-packages", "dist-packages", "__pycache__")
    found = (path for path in root.rglob("*.py") if not any(part in skip for part in path.relative_to(root).parts))
    return sorted(map(str, found))


def blocks(path: str) -> Iterator[dict[str, Any]]:
    """The elements of one file; a file that Python cannot tokenise ends at that place."""
    counts = np.zeros(KINDS, np.int64)
    block = 0
    for number, kind in enumerate(_kinds(path), 1):
        counts[kind] += 1
        if number % BLOCK == 0:
            yield _element(path, block, counts)
            block, counts = block + 1, np.zeros(KINDS, np.int64)
    if counts.any():
        yield _element(path, block, counts)


def _kinds(path: str) -> Iterator[int]:
    # The library's tests include files that are broken on purpose.
    with suppress(tokenize.TokenError, SyntaxError, UnicodeDecodeError), tokenize.open(path) as lines:
        for found in tokenize.generate_tokens(lines.readline):
            yield found.type


def _element(path: str, block: int, counts: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {
        "file": path.encode(),
        "block": np.int64(block),
        "counts": counts,
        "process": np.int64(os.getpid()),
    }


def tokens_of(path: bytes) -> Dataset:
    """The dataset of one file's blocks."""
    return Dataset.from_generator(lambda: blocks(path.decode()), output_signature=SPEC)


def token_counts(files: list[str]) -> Dataset:
    """The blocks of all ``files``."""
    return Dataset.from_tensor_slices([path.encode() for path in files]).flat_map(tokens_of)
