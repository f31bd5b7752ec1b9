"""The pool: processes of this process that come and go with the work, each held by a thread.

A process is started afresh rather than forked, since a fork may hang where gRPC or others have threads. It is
alone in knowing one end of a pair of sockets: when either side is gone, the other notices at once, and a process
whose parent was killed ends by itself.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections import Counter, deque
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Any, Final
from weakref import WeakSet

from tfsvc.data.pickler import dumps
from tfsvc.data.processes.channel import Channel
from tfsvc.data.processes.work import Piece, Results
from tfsvc.errors import UnavailableError

IDLE_S: Final = 10.0
"""A process without work for this long ends."""
AHEAD: Final = 2
"""Tasks that a process is given before it has answered the first, as long as they are short."""
FUNCTIONS_MAX: Final = 16
"""Functions that a process keeps."""
END_S: Final = 1.0
_MAIN: Final = "from tfsvc.data.processes.child import main; main()"


class LostError(Exception):
    """A process ended before it answered.

    Attributes:
      code: its exit code, negative for a signal.
      suspect: whether it was at this task when it ended, rather than at an earlier one.
    """

    def __init__(self, code: int, suspect: bool) -> None:
        super().__init__(code, suspect)
        self.code = code
        self.suspect = suspect


@dataclass(frozen=True)
class Packed:
    """A function as it is shipped."""

    key: bytes
    body: bytes = field(repr=False)

    @staticmethod
    def of(function: Any) -> Packed:
        body = dumps(function)
        return Packed(sha256(body).digest(), body)


class Share:
    """What one pipeline may have of the pool: ``processes`` at a time."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._busy: Counter[int] = Counter()

    def admits(self, member: int) -> bool:
        """Whether a process may take a further task."""
        return member in self._busy or len(self._busy) < self.processes

    def take(self, member: int) -> None:
        self._busy[member] += 1

    def release(self, member: int) -> None:
        self._busy[member] -= 1
        if not self._busy[member]:
            del self._busy[member]


@dataclass(frozen=True, eq=False)
class _Task:
    share: Share
    function: Packed
    pieces: list[Piece]
    short: bool
    result: Future[Results] = field(default_factory=Future)


class Pool:
    """Tasks in the order they came, for as many processes as any of those who share it may have."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._tasks: deque[_Task] = deque()
        self._changed = threading.Condition()
        self._idle = 0
        self._count = 0
        self._names = count()
        self._members: WeakSet[_Member] = WeakSet()
        self._closed = False

    @property
    def processes(self) -> tuple[int, ...]:
        """The process ids."""
        return tuple(sorted(member.pid for member in self._members))

    def submit(self, share: Share, function: Packed, pieces: list[Piece], short: bool) -> Future[Results]:
        """Calls ``function`` for all elements of ``pieces``.

        Args:
          share: of who asks.
          function: what to call.
          pieces: the elements.
          short: whether it is over soon, so that it may wait in a process that is busy.

        Returns:
          The results; ``LostError`` where the process ended, ``UnavailableError`` where none can be started. Nothing
          ever, once the pool is closed: who still waits then is a thread that ends with the interpreter.
        """
        task = _Task(share, function, pieces, short)
        with self._changed:
            if self._closed:
                return task.result
            self._tasks.append(task)
            if len(self._tasks) > self._idle and self._count < share.processes:
                self._grow()
            self._changed.notify_all()
        return task.result

    def close(self) -> None:
        """Ends the processes, whatever they are at."""
        with self._changed:
            self._closed = True
            self._tasks.clear()
            self._changed.notify_all()
        for member in tuple(self._members):
            member.end()

    def forget(self) -> None:
        """For a forked child: the processes are its parent's, and must see the parent's end."""
        for member in tuple(self._members):
            member.channel.close()

    def _grow(self) -> None:
        self._count += 1
        threading.Thread(target=self._serve, args=(next(self._names),), name="tfsvc-process", daemon=True).start()

    def _serve(self, name: int) -> None:
        """Holds one process after the other until there is no work for it."""
        while (task := self._next(name, None)) is not None:
            try:
                member = _Member()
            except Exception as error:
                self._release(name, task)
                task.result.set_exception(UnavailableError(message=f"no process can be started: {error}"))
                continue
            self._members.add(member)
            self._use(name, member, task)
            self._members.discard(member)
        with self._changed:
            self._count -= 1
            # Work that came while this one made up its mind.
            if self._tasks and not self._closed:
                self._grow()

    def _use(self, name: int, member: _Member, task: _Task | None) -> None:
        """Gives work to a process until there is none, or it is gone."""
        asked: deque[_Task] = deque()
        try:
            while True:
                while task is not None:
                    asked.append(task)
                    self._ask(name, member, asked)
                    task = self._next(name, 0) if len(asked) < AHEAD and all(t.short for t in asked) else None
                if asked:
                    # Nothing here may keep results that others are done with.
                    asked[0].result.set_result(member.channel.receive())
                    self._release(name, asked.popleft())
                task = self._next(name, None if not asked else 0)
                if task is None and not asked:
                    return
        except (OSError, EOFError):
            code = member.end()
            for place, lost in enumerate(asked):
                self._release(name, lost)
                lost.result.set_exception(LostError(code, place == 0))
        finally:
            member.end()

    def _ask(self, name: int, member: _Member, asked: deque[_Task]) -> None:
        """Hands over the last task, unless its elements cannot leave this process."""
        try:
            member.ask(asked[-1])
        except OSError:
            raise
        except Exception as error:
            refused = asked.pop()
            self._release(name, refused)
            refused.result.set_exception(error)

    def _release(self, name: int, task: _Task) -> None:
        with self._changed:
            task.share.release(name)
            if self._tasks:
                self._changed.notify_all()

    def _next(self, name: int, wait_s: float | None) -> _Task | None:
        """The next task that a process may take; ``None`` waits for as long as it may idle."""
        with self._changed:
            while True:
                task = next((task for task in self._tasks if task.share.admits(name)), None)
                if task is not None:
                    self._tasks.remove(task)
                    if task.result.set_running_or_notify_cancel():
                        task.share.take(name)
                        return task
                    continue
                if wait_s == 0 or self._closed:
                    return None
                self._idle += 1
                notified = self._changed.wait(self._idle_s)
                self._idle -= 1
                if not notified:
                    return None


class _Member:
    """One process, and which functions it has."""

    def __init__(self) -> None:
        ours, its = socket.socketpair()
        path = os.pathsep.join(entry for entry in sys.path if entry)
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _MAIN, str(its.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=(its.fileno(),),
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
            )
        self.channel = Channel(ours)
        self._known: list[bytes] = []
        try:
            self.channel.receive()
        except (EOFError, OSError) as error:
            raise ChildProcessError(f"it ended with code {self.end()} before it was ready") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, task: _Task) -> None:
        key = task.function.key
        body = None if key in self._known else task.function.body
        known = [*(other for other in self._known if other != key), key][-FUNCTIONS_MAX:]
        self.channel.send((key, body, known, task.pieces))
        self._known = known

    def end(self) -> int:
        """Ends the process; its exit code."""
        self.channel.close()
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(END_S)
        self._process.kill()
        return self._process.wait()


_pool: Pool | None = None
_making = threading.Lock()


def shared() -> Pool:
    """The pool of this process."""
    global _pool
    with _making:
        if _pool is None:
            _pool = Pool()
        return _pool


@atexit.register
def _close() -> None:
    if _pool is not None:
        _pool.close()


def _forget() -> None:
    global _pool, _making
    _making = threading.Lock()
    pool, _pool = _pool, None
    if pool is not None:
        pool.forget()


os.register_at_fork(after_in_child=_forget)
