"""The driver of the real world: real threads, the monotonic clock, and one machine.

A machine is touched by whichever thread brings an event: it takes the turn and handles what has come,
or leaves its event to the thread whose turn it is. So an event costs no thread switch, nobody waits for
a lock, and two machines may call each other from within their turns. Application threads never take
the turn, since Ctrl-C could end them half-way through it; the timer thread takes it for them.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import assert_never

from tfsvc.errors import Code, FailedPreconditionError, RpcError
from tfsvc.flight.births import Birth, recovered
from tfsvc.protocol.contract import (
    Abandon,
    Answered,
    Append,
    Asked,
    Call,
    Cancelled,
    Command,
    Compute,
    Discard,
    Event,
    Execute,
    Exit,
    Failed,
    Finish,
    Invoked,
    Machine,
    Note,
    Posed,
    Produce,
    Pull,
    Reply,
    Snapshot,
    Stopped,
    Store,
    Synced,
    Wanted,
    Wipe,
    Woke,
)
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import NEVER, Address, CallId, Instant
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.reading import Delivery, Taken
from tfsvc_transports import timers
from tfsvc_transports.executor import Executor
from tfsvc_transports.files import Files
from tfsvc_transports.journal import Journal, MemoryJournal
from tfsvc_transports.notes import Notes
from tfsvc_transports.pool import Computers, Producers
from tfsvc_transports.recorder import Recorder
from tfsvc_transports.telemetry.watching import Watcher, Watchers
from tfsvc_transports.transport import Answer, Cancel, Transport

LOG = logging.getLogger("tfsvc")

Result = Delivery | RpcError | None


class Pending:
    """A result that an application thread waits for.

    Attributes:
      token: names it towards the machine.
    """

    def __init__(self, token: int) -> None:
        self.token = token
        self._results: SimpleQueue[Result] = SimpleQueue()
        self._there = False
        self._then: list[Callable[[], None]] = []

    def set(self, result: Result) -> None:
        self._results.put(result)
        self._there = True
        for then in tuple(self._then):
            then()

    def notify(self, then: Callable[[], None]) -> None:
        """Calls ``then`` once the result is there, or was; once more if it came in this very moment."""
        self._then.append(then)
        if self._there:
            then()

    def wait(self, timeout_s: float | None = None) -> Result:
        """The result; Ctrl-C interrupts the wait, which may be begun again.

        Raises:
          queue.Empty: if there was none for ``timeout_s``.
        """
        return self._results.get(timeout=timeout_s)


class Driver:
    """Runs one machine until it is stopped or crashes.

    Args:
      name: of the node, for the log.
      transport: the node's own; the driver closes it.
      producers: runs pipelines; only workers need it.
      computers: runs pieces of graphs; only cluster servers need it.
      journal: keeps updates; one that forgets by default.
      executor: runs registered functions; only RPC servers need it.
      files: writes the files of snapshots; only dispatchers need it.
      recorder: records what the machine is told and says.
      watchers: see the same as it happens.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        producers: Producers | None = None,
        journal: Journal | None = None,
        executor: Executor | None = None,
        files: Files | None = None,
        computers: Computers | None = None,
        recorder: Recorder | None = None,
        watchers: Sequence[Watcher] = (),
    ) -> None:
        self._transport = transport
        self._producers = producers
        self._executor = executor
        self._files = files
        self._computers = computers
        self._recorder = recorder
        self._watchers = Watchers(watchers)
        self._attached: list[Callable[[], None]] = []
        self._journal: Journal = MemoryJournal() if journal is None else journal
        self._notes = Notes(name)
        self._name = name
        self._process = os.getpid()
        self._machine: Machine | None = None
        self.taken: Callable[[], tuple[Taken, ...]] = tuple
        """What a reader's application has consumed by now; asked on any thread, whenever the machine wakes."""
        self.failure: RpcError | None = None
        """Why it ended by itself, if it did."""
        self._over = False
        self._ended = threading.Event()
        self._reason = RpcError(Code.CANCELLED, f"{name} was closed")
        self._inbox: deque[Event] = deque()
        self._turn = threading.Lock()
        self._armed: Instant = NEVER
        self._numbers = itertools.count(1)
        self._asked: dict[CallId, Answer] = {}
        self._pending: dict[int, Pending] = {}

    def listen(self, host: str, port: int) -> int:
        """Lets peers ask this node and returns the port, a free one for 0.

        What they ask before ``start`` waits for the machine.
        """
        return self._transport.serve(host, port, self._take_call)

    def begin(self, birth: Birth) -> None:
        """Drives the machine of a life from now on, on the record if there is a recorder."""
        self._notes.identify(birth)
        if self._recorder is not None:
            self._recorder.begin(birth)
        self.start(Gate(birth.role(), recovered(birth)))

    def start(self, machine: Machine) -> None:
        """Drives ``machine`` from now on."""
        self._journal.open(lambda upto: self.post(Synced(upto)), self._break)
        self._machine = machine
        self._inbox.append(Woke())
        timers.soon(self._drain)

    def post(self, event: Event) -> None:
        """Hands in an event; called by threads of the node, never by the application's."""
        self._inbox.append(event)
        self._drain()

    def request(self, make: Callable[[int], Wanted | Posed | Invoked | Stopped]) -> Pending:
        """Hands in an application's event, made for a token of its own; returns where its result will be.

        Raises:
          FailedPreconditionError: in a process that was forked from the driver's.
        """
        self.check_process()
        token = next(self._numbers)
        pending = self.expect(token)
        self._inbox.append(make(token))
        timers.soon(self._drain)
        return pending

    def check_process(self) -> None:
        """Refuses to be used by a forked child, where it would wait for ever.

        Raises:
          FailedPreconditionError: in a process that was forked from the driver's.
        """
        if os.getpid() != self._process:
            raise FailedPreconditionError(
                message=f"{self._name} belongs to process {self._process}, from which this one was forked. Threads and "
                "connections do not survive a fork: make a new one in this process, or start it by 'spawn'."
            )

    def expect(self, token: int) -> Pending:
        """Where the result for ``token`` will be, for a machine that finishes without being asked."""
        pending = self._pending[token] = Pending(token)
        if self._over:
            self._abandon()
        return pending

    def view(self) -> Snapshot:
        """A picture of the machine's state between two events."""
        assert self._machine is not None, "not started"
        with self._turn:
            snapshot = self._machine.view()
        timers.soon(self._drain)
        return snapshot

    def inquire(self, request: Request, timeout_s: float) -> Response | RpcError:
        """What the machine answers to a question of this process; it may wait for the disk, but for no network.

        Called by threads of the node, never by the application's.
        """
        answers: SimpleQueue[Response | RpcError] = SimpleQueue()
        cancel = self._take_call(Address("its own process"), request, answers.put)
        try:
            return answers.get(timeout=0 if self._over else timeout_s)
        except Empty:
            cancel()
            return RpcError(Code.DEADLINE_EXCEEDED, f"{self._name} did not answer within {timeout_s:g} s")

    def attach(self, close: Callable[[], None]) -> None:
        """Has ``close`` called when the node ends, which may be now."""
        self._attached.append(close)
        if self._over:
            close()

    def end(self, make: Callable[[int], Stopped], timeout_s: float, wait: bool = True) -> bool:
        """Lets the machine end in good order, for ``timeout_s`` at the most, and lets go of everything.

        Args:
          make: the last event, for its token.
          wait: whether to return only then. Without, it is safe in a finalizer.

        Returns:
          Whether it did end in good order; true where it is not waited for.
        """
        if self._over:
            return True
        ended = self.request(make)
        if not wait:
            ended.notify(lambda: timers.soon(self.crash))
            timers.at(time.monotonic_ns() + int(timeout_s * 1e9), self.crash)
            return True
        try:
            return not isinstance(ended.wait(timeout_s), RpcError)
        except Empty:
            LOG.warning("%s did not end within %g s", self._name, timeout_s)
            return False
        finally:
            self.crash()

    def crash(self) -> None:
        """Ends the node at once: it says nothing more, and its peers see it gone. Safe to repeat."""
        self._over = True
        self._transport.close()
        for pool in (self._producers, self._computers, self._executor, self._files):
            if pool is not None:
                pool.close()
        self._journal.close()
        if self._recorder is not None:
            self._recorder.close()
        self._inbox.clear()
        self._asked.clear()
        self._abandon()
        for close in tuple(self._attached):
            close()
        self._ended.set()

    def join(self, timeout_s: float | None = None) -> bool:
        """Waits until the node has ended; false after ``timeout_s``."""
        return self._ended.wait(timeout_s)

    def _break(self, error: RpcError) -> None:
        """The node cannot go on: whoever waits for it is told why."""
        self.failure = error
        self._reason = error.prefixed(f"{self._name} has failed")
        self.crash()

    def _abandon(self) -> None:
        while self._pending:
            self._pending.popitem()[1].set(self._reason)

    def _take_call(self, peer: Address, request: Request, answer: Answer) -> Cancel:
        call = CallId(peer, 0, next(self._numbers))
        self._asked[call] = answer
        self.post(Asked(call, peer, request))
        return partial(self._cancel, call)

    def _cancel(self, call: CallId) -> None:
        if self._asked.pop(call, None) is not None:
            self._inbox.append(Cancelled(call))
            timers.soon(self._drain)

    def _drain(self) -> None:
        """Handles what has come, unless another thread is at it, which then handles this too."""
        machine = self._machine
        while machine is not None and self._inbox and not self._over and self._turn.acquire(blocking=False):
            try:
                while self._inbox and not self._over:
                    for command in self._handle(machine, self._inbox.popleft()):
                        self._carry_out(command)
                if not self._over:
                    self._arm(machine)
            except Exception:
                LOG.critical("%s has an error", self._name, exc_info=True)
                self._over = True
                # This thread may be the server's, which could not wait for its own end.
                error = RpcError(Code.INTERNAL, "an error of its own, which the log shows")
                timers.soon(partial(self._break, error))
            finally:
                self._turn.release()

    def _handle(self, machine: Machine, event: Event) -> Sequence[Command]:
        now = time.monotonic_ns()
        if self._recorder is None:
            commands = machine.handle(event, now)
        else:
            self._recorder.event(now, event)
            commands = machine.handle(event, now)
            self._recorder.commands(machine, commands)
        self._watchers.saw(now, event, commands)
        return commands

    def _arm(self, machine: Machine) -> None:
        deadline = machine.deadline()
        if deadline < self._armed:
            self._armed = deadline
            timers.at(deadline, partial(self._ring, deadline))

    def _ring(self, deadline: Instant) -> None:
        # An earlier deadline has taken the place of this one, and a turn always ends with arming anew.
        if deadline == self._armed:
            self._armed = NEVER
            self.post(Woke(self.taken()))

    def _carry_out(self, command: Command) -> None:
        if self._over:
            return
        match command:
            case Call(call, peer, request, timeout_ns):
                self._transport.call(peer, request, timeout_ns, partial(self._answered, call))
            case Reply(call, answer):
                asker = self._asked.pop(call, None)
                if asker is not None:
                    asker(answer)
            case Append(number, update):
                self._journal.append(number, update)
            case Produce():
                assert self._producers is not None, f"{self._name} runs no pipelines"
                self._producers.produce(command, self.post)
            case Store():
                assert self._files is not None, f"{self._name} writes no files"
                self._files.store(command, self.post)
            case Compute():
                assert self._computers is not None, f"{self._name} runs no graphs"
                self._computers.compute(command, self.post)
            case Wipe():
                assert self._computers is not None, f"{self._name} runs no graphs"
                self._computers.wipe(command)
            case Discard(number):
                pool = self._producers or self._computers
                assert pool is not None, f"{self._name} runs neither pipelines nor graphs"
                pool.discard(number)
            case Execute() | Pull() | Abandon():
                assert self._executor is not None, f"{self._name} runs no functions"
                self._executor.carry_out(command, self.post)
            case Finish(token, result):
                pending = self._pending.pop(token, None)
                if pending is not None:
                    pending.set(result)
            case Note():
                self._notes.tell(command)
            case Exit(error):
                timers.soon(self.crash if error is None else partial(self._break, error))
            case _:
                assert_never(command)

    def _answered(self, call: CallId, answer: Response | RpcError) -> None:
        self.post(Failed(call, answer) if isinstance(answer, RpcError) else Answered(call, answer))
