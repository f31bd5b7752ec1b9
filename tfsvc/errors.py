"""Errors: as values between machines, as exceptions for users.

Laws of this module
1. Machines pass :class:`RpcError` values; only the public API raises an :class:`OpError`.
2. The codes are gRPC's, which are also TensorFlow's.
3. Every failed call is one of three things: it *surely* did not run, it ended with an error, or it *may* have run.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, ClassVar


class Code(IntEnum):
    """Status codes with the numbers of gRPC and ``tf.errors``."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


RETRIABLE = frozenset({Code.ABORTED, Code.CANCELLED, Code.UNAVAILABLE})
"""The codes TensorFlow's clients and workers retry; every other code is final for them."""


DISTRUST = frozenset({Code.UNAUTHENTICATED, Code.PERMISSION_DENIED})
"""The codes of a peer that does not let its caller in, and of a caller that does not trust its peer."""


class Outcome(Enum):
    """What is known about a call that was not answered normally."""

    UNREACHED = "unreached"
    """The peer was never reached: the call did not run."""

    FAILED = "failed"
    """The peer answered with an error: the call had no further effect."""

    UNKNOWN = "unknown"
    """No answer came: the call may or may not have run."""


@dataclass(frozen=True, slots=True)
class RpcError:
    """A failure as a value.

    Attributes:
      code: which kind it is.
      message: for people.
      outcome: what is known of the call's effect.
    """

    code: Code
    message: str
    outcome: Outcome = Outcome.FAILED

    @property
    def retriable(self) -> bool:
        """Whether asking again can help; the rule of TensorFlow's own retry loop."""
        return self.code in RETRIABLE or self.outcome is Outcome.UNKNOWN

    def prefixed(self, what: str) -> RpcError:
        """The same error with ``what`` failed in front of its message."""
        return RpcError(self.code, f"{what}: {self.message}", self.outcome)


class OpError(Exception):
    """Base of all errors that the public API raises; the signature is ``tf.errors.OpError``'s.

    Args:
      node_def: kept for compatibility, usually ``None``.
      op: kept for compatibility, usually ``None``.
      message: what went wrong, and the way out.
      error_code: a :class:`Code`; the subclasses fix it.
    """

    code: ClassVar[Code] = Code.UNKNOWN

    def __init__(self, node_def: Any = None, op: Any = None, message: str = "", error_code: int | None = None) -> None:
        super().__init__(node_def, op, message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = self.code if error_code is None else Code(error_code)

    @property
    def message(self) -> str:
        """What went wrong, and the way out."""
        return self._message

    @property
    def error_code(self) -> int:
        """The number of its :class:`Code`."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The node of a graph in which it happened, if the one who raised it said so."""
        return self._node_def

    @property
    def op(self) -> Any:
        """The operation in which it happened, if the one who raised it said so."""
        return self._op

    def __str__(self) -> str:
        return str(self._message)


class CancelledError(OpError):
    """The call was given up by its caller."""

    code = Code.CANCELLED


class UnknownError(OpError):
    """Something that has no class of its own, such as an exception of a user's function."""

    code = Code.UNKNOWN


class InvalidArgumentError(OpError):
    """An argument, or an element, that cannot be right whatever the state is."""

    code = Code.INVALID_ARGUMENT


class DeadlineExceededError(OpError):
    """The time that the call had is over; it may have had its effect."""

    code = Code.DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """There is no such thing, as a file, a dataset or a job."""

    code = Code.NOT_FOUND


class AlreadyExistsError(OpError):
    """There is such a thing already, and it is not made again."""

    code = Code.ALREADY_EXISTS


class PermissionDeniedError(OpError):
    """The caller is known, and may not do that."""

    code = Code.PERMISSION_DENIED


class UnauthenticatedError(OpError):
    """The caller has not shown who it is."""

    code = Code.UNAUTHENTICATED


class ResourceExhaustedError(OpError):
    """There is no room: in memory, in a queue, in a message."""

    code = Code.RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """It cannot be done in this state, and asking again does not help before the state changes."""

    code = Code.FAILED_PRECONDITION


class AbortedError(OpError):
    """It was broken off, and may be begun anew."""

    code = Code.ABORTED


class OutOfRangeError(OpError):
    """There is nothing more: the end of a dataset or of a queue."""

    code = Code.OUT_OF_RANGE


class UnimplementedError(OpError):
    """It does not exist here; the message names the way out."""

    code = Code.UNIMPLEMENTED


class InternalError(OpError):
    """An invariant of this library is broken: a bug."""

    code = Code.INTERNAL


class UnavailableError(OpError):
    """The peer cannot be reached now; asking again later may help."""

    code = Code.UNAVAILABLE


class DataLossError(OpError):
    """Stored or sent bytes are damaged or gone."""

    code = Code.DATA_LOSS


_BY_CODE: dict[Code, type[OpError]] = {
    cls.code: cls
    for cls in (
        CancelledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        UnauthenticatedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
    )
}


def to_exception(error: RpcError) -> OpError:
    """The exception a user sees for ``error``."""
    return _BY_CODE.get(error.code, UnknownError)(None, None, error.message)


def from_exception(error: BaseException, context: str = "") -> RpcError:
    """The value for an exception that user code raised; unknown kinds become ``UNKNOWN``.

    ``ValueError`` and ``TypeError`` become ``INVALID_ARGUMENT``, ``NotImplementedError``
    ``UNIMPLEMENTED``, ``FileNotFoundError`` ``NOT_FOUND``, ``MemoryError`` ``RESOURCE_EXHAUSTED``,
    ``StopIteration`` ``OUT_OF_RANGE``.

    Args:
      error: what was raised.
      context: what goes behind its text, such as a traceback.
    """
    code = next((c for kind, c in _FROM_PYTHON if isinstance(error, kind)), Code.UNKNOWN)
    if isinstance(error, OpError):
        code, text = Code(error.error_code), error.message
    else:
        text = f"{type(error).__name__}: {_text_of(error)}"
    return RpcError(code, sendable(f"{text}\n{context}" if context else text))


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failure:
        return f"(its text cannot be had: {type(failure).__name__})"


def sendable(text: str) -> str:
    """``text`` with escapes for what UTF-8 cannot express, such as the undecodable bytes of a file's name."""
    return text.encode(errors="backslashreplace").decode()


_FROM_PYTHON: tuple[tuple[type[BaseException], Code], ...] = (
    (FileNotFoundError, Code.NOT_FOUND),
    (PermissionError, Code.PERMISSION_DENIED),
    (NotImplementedError, Code.UNIMPLEMENTED),
    (MemoryError, Code.RESOURCE_EXHAUSTED),
    (StopIteration, Code.OUT_OF_RANGE),
    (ValueError, Code.INVALID_ARGUMENT),
    (TypeError, Code.INVALID_ARGUMENT),
)
