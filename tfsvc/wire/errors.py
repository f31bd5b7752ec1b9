"""Bytes that do not mean what they claim: one error for all decoders of this package.

Laws of this module
1. A decoder either returns a value or raises :class:`WireError` (or another ``OpError`` it chose).
2. Nothing is allocated on the word of the bytes alone: sizes are checked against what is there.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from google.protobuf.message import DecodeError, EncodeError, Message

from tfsvc.errors import DataLossError, OpError

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Message)

_OF_BAD_BYTES = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    RecursionError,
    struct.error,
    DecodeError,
    EncodeError,
)


class WireError(DataLossError):
    """Malformed bytes. The message says what was being decoded, what is wrong and what to check."""

    def __init__(self, what: str, why: object) -> None:
        super().__init__(None, None, f"cannot decode {what}: {why}. Check that the peer speaks the same format.")
        self._told = (what, str(why))

    def __reduce__(self) -> Any:
        return WireError, self._told


def decodes(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Makes whatever goes wrong inside a decoder of ``what`` a :class:`WireError`; an ``OpError`` passes."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def decoder(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except OpError:
                raise
            except _OF_BAD_BYTES as error:
                raise WireError(what, error) from error

        return decoder

    return wrap


def parse(kind: type[M], data: bytes | memoryview) -> M:
    """The message of type ``kind`` in ``data``.

    Raises:
      WireError: if the bytes are not such a message.
    """
    try:
        return kind.FromString(bytes(data))
    except (DecodeError, ValueError) as error:
        raise WireError(f"a {kind.DESCRIPTOR.name}", error) from error


def serialize(message: Message) -> bytes:
    """The bytes of a message, the same for equal messages (maps are written in key order)."""
    return message.SerializeToString(deterministic=True)
