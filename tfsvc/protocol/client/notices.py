"""What people are told of a reader: what would otherwise be a silent wait, a silent end or a silent repetition."""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.protocol.calls import QUIET_NS
from tfsvc.protocol.contract import Note
from tfsvc.protocol.ids import SECOND, Instant
from tfsvc.protocol.settings import ClientSettings


class Notices:
    """Notes for the log, each when there is a reason.

    Args:
      job_name: the name of the reader's job, ``None`` for a job of its own.
      repetition: which pass over the job it reads.
    """

    def __init__(self, settings: ClientSettings, job_name: str | None, repetition: int) -> None:
        self._settings = settings
        self._job_name = job_name
        self._repetition = repetition
        self._silent_since: Instant | None = None
        self._alone_since: Instant | None = None
        self._missed = 0
        self._other_dataset = ""

    def heard(self) -> None:
        """The dispatcher has answered."""
        self._silent_since = None

    def silent(self, error: RpcError, now: Instant) -> tuple[list[Note], RpcError | None]:
        """The dispatcher does not answer. Gives the error once it has been silent for too long."""
        since = self._silent_since = now if self._silent_since is None else self._silent_since
        silent_ns, address = now - since, self._settings.dispatcher
        if silent_ns >= self._settings.dispatcher_timeout_ns:
            return [], error.prefixed(f"The dispatcher at {address} did not answer for {silent_ns // SECOND} s")
        text = f"the dispatcher at {address} does not answer; still trying: {error.message}"
        return [Note("warning", text)] if silent_ns >= QUIET_NS else [], None

    def alone(self, alone: bool, now: Instant) -> list[Note]:
        """Whether the application waits and there is no worker."""
        if not alone:
            self._alone_since = None
            return []
        self._alone_since = now if self._alone_since is None else self._alone_since
        text = f"no worker of the dispatcher at {self._settings.dispatcher} can run the dataset; waiting for one"
        return [Note("warning", text)] if now - self._alone_since >= QUIET_NS else []

    def missed(self, missed: int) -> list[Note]:
        """How many elements have left the trainers' cache unread in all."""
        more, self._missed = missed - self._missed, missed
        text = f"{more} elements had left the trainers' cache before they were read"
        return [Note("warning", text)] if more > 0 else []

    def other_dataset(self, warning: str) -> list[Note]:
        """The dispatcher says that the job was made for another dataset."""
        self._other_dataset = warning
        return [Note("warning", warning)] if warning else []

    def too_late(self) -> list[Note]:
        """Others have read the pass before the reader could."""
        text = (
            f"others, or an earlier run, have read pass {self._repetition} of job {self._job_name!r} to its end; "
            "nothing is left of it. Give each run a job_name of its own"
        )
        if self._other_dataset:
            return [Note("error", f"{text}. Beside that, {self._other_dataset}")]
        return [Note("warning", text)] if self._job_name is not None else []

    def repeated(self, count: int) -> list[Note]:
        """How many elements came again."""
        text = f"{count} elements came again, since work had moved, and were passed over"
        return [Note("info", text)] if count else []

    def unheard(self, count: int) -> list[Note]:
        """How many elements were taken of which the dispatcher could not be told."""
        text = (
            f"the dispatcher at {self._settings.dispatcher} could not be told what was taken last; other readers "
            f"of job {self._job_name!r} may get up to {count} elements again"
        )
        return [Note("warning", text)] if count else []
