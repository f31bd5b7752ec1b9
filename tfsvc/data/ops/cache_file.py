"""``Dataset.cache(filename)``: elements that are made once and kept in a file.

The file is a row of frames (:mod:`tfsvc.wire.frames`), one an element, each behind its length as a
little-endian u64. A pass writes a file of its own and renames it when it has come to its end, so there is
either a whole cache or none.
"""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO, Any

from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.data.stacking import to_columns
from tfsvc.errors import NotFoundError
from tfsvc.wire.frames import decode_frame, encode_frame

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, eq=False)
class CacheFile(UnaryOperator):
    """The input's elements, or those of the file where there is one.

    The file is local to whoever runs the dataset: two workers that share it would share their splits too, so
    give each its own or cache in memory.
    """

    filename: str
    name = "cache"
    shards_by_file = True

    def iterator(self, context: Context) -> OperatorIterator:
        return _CacheFileIterator(self, context)


class _Pass(Enum):
    """What a pass does."""

    NEW = "not begun"
    WRITING = "makes elements and a cache"
    READING = "reads the cache"
    MAKING = "makes elements only"
    ENDED = "has come to its end"


class _CacheFileIterator(OperatorIterator):
    def __init__(self, cache: CacheFile, context: Context) -> None:
        self._final = Path(cache.filename)
        self._input = cache.input.iterator(context)
        self._pass = _Pass.NEW
        self._file: IO[bytes] | None = None
        self._part: Path | None = None
        self._offset = 0

    def next(self) -> Any:
        if self._pass is _Pass.NEW:
            self._pass = _Pass.READING if self._final.exists() else _Pass.WRITING
        match self._pass:
            case _Pass.WRITING:
                return self._write()
            case _Pass.READING:
                return self._read()
            case _Pass.MAKING:
                return self._input.next()
            case _:
                raise StopIteration

    def _write(self) -> Any:
        if self._file is None:
            self._part = Path(f"{self._final}.{uuid.uuid4().hex}.part")
            self._file = self._part.open("wb")
        try:
            element = self._input.next()
        except StopIteration:
            self._end()
            if self._part is not None:
                self._part.replace(self._final)
            raise
        frame = encode_frame(to_columns([element]))
        self._file.write(_LENGTH.pack(len(frame)) + frame)
        self._offset += _LENGTH.size + len(frame)
        return element

    def _read(self) -> Any:
        if self._file is None:
            try:
                self._file = self._final.open("rb")
            except FileNotFoundError as error:
                raise NotFoundError(message=f"the cache file {self._final} that this pass reads is gone") from error
            self._file.seek(self._offset)
        head = self._file.read(_LENGTH.size)
        if not head:
            self._end()
            raise StopIteration
        (length,) = _LENGTH.unpack(head)
        self._offset += _LENGTH.size + length
        return decode_frame(self._file.read(length)).element(0)

    def _end(self) -> None:
        self._pass = _Pass.ENDED
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._part is not None:
            self._part.unlink(missing_ok=True)

    def save(self) -> Any:
        if self._file is not None and self._pass is _Pass.WRITING:
            self._file.flush()
        return self._pass.value, self._part and str(self._part), self._offset, self._input.save()

    def load(self, state: Any) -> None:
        doing, part, self._offset, input = state
        self._pass = _Pass(doing)
        self._input.load(input)
        if self._pass is _Pass.WRITING and part is not None:
            self._continue(Path(part))

    def _continue(self, part: Path) -> None:
        """Copies what the saved pass had written; where that is gone, this pass makes no cache."""
        # The pass that was saved may have come to its end since.
        source = next((path for path in (part, self._final) if path.exists()), None)
        if source is None:
            self._pass = _Pass.MAKING
            return
        self._part = Path(f"{self._final}.{uuid.uuid4().hex}.part")
        self._file = self._part.open("wb")
        with source.open("rb") as saved:
            self._file.write(saved.read(self._offset))
