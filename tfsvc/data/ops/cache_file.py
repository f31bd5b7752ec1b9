"""``Dataset.cache(filename)``: elements that are made once and kept in a file.

A pass writes a file of its own and renames it when it has come to its end, so there is either a whole cache or none,
and passes at the same time do not disturb each other.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO, Any

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import spec_of_element
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.data.stacking import cut, to_columns
from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.storage.frame_files import FrameFileWriter, read_frame


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
        self._cache = cache
        self._final = Path(cache.filename)
        self._input = cache.input.iterator(context)
        self._pass = _Pass.NEW
        self._writer: FrameFileWriter | None = None
        self._file: IO[bytes] | None = None
        self._offset = 0
        self._frame: tuple[int, Columns] | None = None
        self._row = 0

    def next(self) -> Any:
        match self._begun():
            case _Pass.WRITING:
                element = self._made(self._input.next)
                self._keep(to_columns([element]))
                return element
            case _Pass.READING:
                frame = self._filled()
                self._row += 1
                return frame.element(self._row - 1)
            case _Pass.MAKING:
                return self._input.next()
            case _:
                raise StopIteration

    def block(self, limit: int) -> Columns | None:
        match self._begun():
            case _Pass.WRITING:
                piece: Columns | None = self._made(self._input.block, limit)
                if piece is not None:
                    self._keep(piece)
                return piece
            case _Pass.READING:
                frame = self._filled()
                start, self._row = self._row, min(self._row + limit, frame.count)
                return cut(frame, start, self._row)
            case _Pass.MAKING:
                return self._input.block(limit)
            case _:
                raise StopIteration

    def _decide(self) -> None:
        if self._pass is _Pass.NEW:
            self._pass = _Pass.READING if self._final.exists() else _Pass.WRITING

    def _begun(self) -> _Pass:
        self._decide()
        if self._pass is _Pass.WRITING and self._writer is None:
            self._writer = FrameFileWriter(self._part())
        return self._pass

    def _part(self) -> Path:
        return Path(f"{self._final}.{uuid.uuid4().hex}.part")

    def _made(self, make: Any, *arguments: Any) -> Any:
        """What the input makes; at its end the cache is whole."""
        try:
            return make(*arguments)
        except StopIteration:
            assert self._writer is not None
            self._pass = _Pass.ENDED
            self._writer.publish(self._final)
            self._writer = None
            raise

    def _keep(self, columns: Columns) -> None:
        assert self._writer is not None
        try:
            self._writer.write(columns)
        except OSError:
            # As on a full disk: no cache, but the elements that follow.
            self._pass = _Pass.MAKING
            self._writer.abandon()
            self._writer = None
            raise

    def _filled(self) -> Columns:
        """A frame of which something has not been given."""
        while self._frame is None or self._row == self._frame[1].count:
            if self._frame is not None:
                self._offset += self._frame[0]
                self._row = 0
            self._frame = read_frame(self._opened(), self._final)
            if self._frame is None:
                self._pass = _Pass.ENDED
                self._close()
                raise StopIteration
            if not self._offset:
                self._check(self._frame[1])
        return self._frame[1]

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            try:
                self._file = self._final.open("rb")
            except FileNotFoundError as error:
                raise NotFoundError(message=f"the cache file {self._final} that this pass reads is gone") from error
            self._file.seek(self._offset)
        return self._file

    def _check(self, frame: Columns) -> None:
        """That the file belongs to this dataset, as far as it can be told without running functions."""
        if not self._cache.input.spec_is_given:
            return
        spec, found = self._cache.input.spec(), spec_of_element(frame.element(0))
        pairs = zip(nest.flatten(spec), nest.flatten(found), strict=False)
        if len(nest.flatten(spec)) != len(nest.flatten(found)) or any(a.dtype != b.dtype for a, b in pairs):
            raise InvalidArgumentError(
                message=f"the cache file {self._final} holds elements such as {found}, but this dataset has {spec}; "
                "give each dataset a file of its own"
            )

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        self._close()
        if self._writer is not None:
            self._writer.abandon()

    def save(self) -> Any:
        # What the pass will do must not depend on what another one does before the state is restored.
        self._decide()
        written = None
        if self._writer is not None:
            self._writer.flush()
            written = str(self._writer.path), self._writer.size
        return self._pass.value, written, self._offset, self._row, self._input.save()

    def load(self, state: Any) -> None:
        doing, written, self._offset, self._row, input = state
        self._pass = _Pass(doing)
        self._input.load(input)
        if self._pass is _Pass.WRITING and written is not None:
            self._continue(Path(written[0]), written[1])

    def _continue(self, part: Path, size: int) -> None:
        """Copies what the saved pass had written; where that is gone, this pass makes no cache."""
        # The pass that was saved may have come to its end since.
        source = next((path for path in (part, self._final) if path.exists()), None)
        if source is None:
            self._pass = _Pass.MAKING
        else:
            self._writer = FrameFileWriter.copied(self._part(), source, size)
