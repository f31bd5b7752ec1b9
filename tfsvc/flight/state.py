"""A machine in the middle of its life, as bytes: what a recording goes on from when its beginning is given up."""

from __future__ import annotations

import io
import pickle
from typing import Any

import cloudpickle

from tfsvc.flight.codec import WITHHELD, Codec, Withheld
from tfsvc.protocol.contract import Machine


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Withholds what the recording withholds."""

    def __init__(self, file: io.BytesIO, codec: Codec) -> None:
        super().__init__(file)
        self._codec = codec

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind is memoryview:
            # Only what belongs to users comes in views, which cannot be pickled.
            body = self._codec.withhold(value)
            return body.__reduce__() if isinstance(body, Withheld) else (bytes, (body,))
        hidden = self._codec.hidden(kind) if kind.__name__ in WITHHELD else ()
        if hidden:
            parts = ((name, getattr(value, name)) for name in kind.__slots__)
            return kind, tuple(self._codec.withhold(part) if name in hidden else part for name, part in parts)
        return super().reducer_override(value)


def freeze(machine: Machine, codec: Codec) -> bytes:
    """The machine and all it holds.

    Raises:
      Exception: of any kind, if it holds something that cannot be pickled.
    """
    file = io.BytesIO()
    _Pickler(file, codec).dump(machine)
    return file.getvalue()


def thaw(state: bytes) -> Machine:
    """The machine again. What is in ``state`` may run any code, so it must come from somebody trusted."""
    machine: Machine = pickle.loads(state)
    return machine
