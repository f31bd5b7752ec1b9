"""A node: drives one machine in the simulated world, exactly as the contract asks of a driver.

A crash drops the machine; what was on its way to the dead life is ignored by the next one. A paused
node hears nothing and does nothing until it goes on, and then finds everything that came meanwhile.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, assert_never

from tfsvc.errors import Code, OpError, Outcome, RpcError
from tfsvc.execution.filing import store
from tfsvc.protocol.computing import Computation
from tfsvc.protocol.contract import (
    Abandon,
    Answered,
    Append,
    Asked,
    Call,
    Cancelled,
    Command,
    Compute,
    Computed,
    Discard,
    Event,
    Execute,
    Executed,
    Exit,
    Failed,
    Finish,
    Machine,
    Note,
    Produce,
    Produced,
    Pull,
    Pulled,
    Reply,
    Role,
    Store,
    Synced,
    Wipe,
    Woke,
    Work,
)
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import MILLISECOND, NEVER, Address, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import CANCELLABLE, Response
from tfsvc.protocol.production import Production
from tfsvc.protocol.reading import Delivery
from tfsvc.protocol.updates import Update
from tfsvc_sim.judging.witness import Witness
from tfsvc_sim.kernel.clock import Clock
from tfsvc_sim.kernel.disk import Aftermath, Disk
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.kernel.network import RESET, Network
from tfsvc_sim.kernel.rules import Packet
from tfsvc_sim.kernel.trace import Trace
from tfsvc_sim.nodes.pool import GraphPool, GraphSpeed, Pool, Speed
from tfsvc_sim.nodes.telling import tell, tell_computation, tell_production

TIMED_OUT: Final = RpcError(Code.DEADLINE_EXCEEDED, "no answer in time", Outcome.UNKNOWN)
STORE_NS: Final = MILLISECOND
"""How long a file takes."""
CLOCK_NS_MAX: Final = 1 << 31
"""Clocks of different lives and nodes start up to this far apart."""
WAKES_MAX: Final = 1000
"""A machine that wants to be woken this often at one instant is caught in a loop."""

Boot = Callable[[int, Luck, Sequence[Update]], Role]
"""Makes a role for a life: its incarnation, its luck, and what the journal kept."""
ExecutorDone = Callable[[Executed | Pulled], None]
MakeExecutor = Callable[[ExecutorDone], "Executor"]
GateMaker = Callable[[Role, int], Machine]
Finished = Callable[[int, Delivery | RpcError | None], None]


class Executor(Protocol):
    """Runs the registered functions of one life of a server."""

    def carry_out(self, command: Work) -> None: ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all nodes of a world share."""

    engine: Engine
    network: Network
    trace: Trace
    luck: Luck
    gate: GateMaker = Gate


class Node:
    """One node of the world, through all its lives.

    Args:
      boot: makes the role of each life.
      disk: keeps updates; without one, the role must have none.
      speed: of the pipelines or pieces of graphs it runs; without one, the role must run none.
      finished: takes what the role hands to the application.
      execute: makes what runs registered functions in a life; without one, the role must run none.
    """

    def __init__(
        self,
        world: Surroundings,
        address: str,
        boot: Boot,
        disk: Disk | None = None,
        speed: Speed | GraphSpeed | None = None,
        finished: Finished | None = None,
        execute: MakeExecutor | None = None,
    ) -> None:
        self.address = address
        self.alive = False
        self.paused = False
        self.incarnation = 0
        self.pool: Pool | GraphPool | None = None
        self.slowness = 1
        """How many times as long as usual its pipelines or graphs take."""
        self.drift_ppm = 0
        """How much faster than the world's its clock goes, in millionths."""
        self.disk = disk
        self._world = world
        self._engine = world.engine
        self._trace = world.trace
        self._send = world.network.send
        self._boot = boot
        self._speed = speed
        self._finished = finished
        self._execute = execute
        self.executor: Executor | None = None
        self._luck = world.luck.stream(f"node/{address}")
        self._frozen: deque[tuple[int, Callable[..., None], tuple[object, ...]]] = deque()
        if disk is not None:
            disk.synced = self._synced
            disk.broke = self._broke

    def start(self) -> None:
        """A new life, folded from what the disk kept; there is none while the disk cannot be read."""
        assert not self.alive
        self.incarnation += 1
        self._where = f"{self.address}.{self.incarnation}"
        try:
            records = self.disk.recover() if self.disk is not None else ()
        except OpError as error:
            self._tell(f"cannot start: {error.message}")
            return
        self.alive = True
        durable = self.disk.durable if self.disk is not None else 0
        role = self._boot(self.incarnation, self._luck.stream(f"life/{self.incarnation}"), records)
        self.role = role
        # Where nothing is kept, there is nothing to be durable before a word.
        self._witness = None if self.disk is None else Witness(role, durable)
        self._machine = self._world.gate(self._witness or role, durable)
        self.clock = Clock(self._engine.now, self._engine.now + self._luck.below(CLOCK_NS_MAX), self.drift_ppm)
        self._open: dict[CallId, Address | None] = {}
        self._expiries: list[tuple[Instant, CallId]] = []
        self._asked: dict[CallId, None] = {}
        self._stores: deque[Store] = deque()
        self._armed: Instant = NEVER
        self._woken_at: Instant = -1
        self._wakes = 0
        life = self.incarnation
        match self._speed:
            case Speed():
                self.pool = self._speed.pool(
                    self._engine, lambda producer, p: self._when_awake(life, self._produced, producer, p)
                )
            case GraphSpeed():
                luck = self._luck.stream(f"graphs/{life}")
                self.pool = GraphPool(
                    self._engine, self._speed, luck, lambda piece, c: self._when_awake(life, self._computed, piece, c)
                )
            case None:
                pass
        self.slow(self.slowness)
        if self._execute is not None:
            self.executor = self._execute(lambda event: self._when_awake(life, self._executed, event))
        self._world.network.listen(Address(self.address), self._receive)
        self._tell("starts")
        self._arm()

    def slow(self, factor: int) -> None:
        """Its pipelines or graphs take ``factor`` times as long from now on, in all lives.

        Raises:
          ValueError: if it runs none.
        """
        if self._speed is None and factor != 1:
            raise ValueError(f"{self.address} runs no pipelines, so it cannot be slow; workers do")
        self.slowness = factor
        if self.pool is not None:
            self.pool.factor = factor

    def adjust(self, drift_ppm: int | None = None, ahead_ns: int = 0) -> None:
        """Its clock goes at another rate from now on, in all lives, or leaps ahead."""
        if drift_ppm is not None:
            self.drift_ppm = drift_ppm
        if self.alive:
            self.clock.drift(self._engine.now, self.drift_ppm)
            self.clock.jump(self._engine.now, ahead_ns)
            self._armed = NEVER
            self._arm()

    def crash(self, silent: bool = False, aftermath: Aftermath = Aftermath.TORN) -> None:
        """The machine is gone; callers are told by a reset, or left waiting where ``silent``."""
        assert self.alive
        self._tell("loses power" if silent else "crashes")
        self.alive = self.paused = False
        self._frozen.clear()
        self._world.network.deafen(self.address)
        if not silent:
            for call in self._asked:
                self._answer(call, RESET)
            for call, peer in self._open.items():
                self._cancel(call, peer)
        if self.disk is not None:
            self.disk.crash(aftermath)

    def pause(self) -> None:
        self.paused = True
        self._tell("is paused")

    def resume(self) -> None:
        """Goes on, with everything that came meanwhile."""
        self.paused = False
        self._tell("goes on")
        while self._frozen and not self.paused:
            life, do, args = self._frozen.popleft()
            self._when_awake(life, do, *args)

    def handle(self, event: Event, what: str, cause: int = 0) -> None:
        """Hands an event to the machine, and carries out its commands."""
        trace = self._trace
        now = self._engine.now
        number = trace.now_at = trace.event(now, self._where, what, cause)
        commands = self._machine.handle(event, self.clock.reads(now))
        if trace.observer is not None:
            trace.observer.handled(self, event, commands, number, what)
        for command in commands:
            self._do(command)
        self._arm()

    def _do(self, command: Command) -> None:
        if self._witness is not None and self.disk is not None and not isinstance(command, Append):
            self._witness.hears(command, self.disk.durable)
        # What is said most often comes first, and is taken apart by hand: in a pattern that costs more than all else.
        match command:
            case Call():
                call = command.call
                self._open[call] = command.peer if type(command.request) in CANCELLABLE else None
                heapq.heappush(self._expiries, (self.clock.reads(self._engine.now) + command.timeout_ns, call))
                self._send(Packet(self.address, command.peer, call, command.request, True, self._trace.now_at))
            case Reply():
                self._asked.pop(command.call, None)
                self._answer(command.call, command.answer)
            case Append():
                assert self.disk is not None, f"{self.address} has no disk"
                self.disk.append(command.number, command.update)
            case Produce():
                assert isinstance(self.pool, Pool), f"{self.address} runs no pipelines"
                self.pool.produce(command)
            case Finish():
                if self._finished is not None:
                    self._finished(command.token, command.result)
            case Store():
                self._stores.append(command)
                if len(self._stores) == 1:
                    self._store_next()
            case Compute():
                self._graphs().compute(command)
            case Wipe():
                self._graphs().wipe(command)
            case Discard(number):
                assert self.pool is not None, f"{self.address} runs neither pipelines nor graphs"
                self.pool.discard(number)
            case Execute() | Pull() | Abandon():
                assert self.executor is not None, f"{self.address} runs no functions"
                self.executor.carry_out(command)
            case Note(level, text):
                self._tell(f"{level}: {text}", self._trace.now_at)
            case Exit():
                self._engine.call_at(self._engine.now, self._exit, self.incarnation)
            case _:
                assert_never(command)

    def _exit(self, life: int) -> None:
        if self.alive and self.incarnation == life:
            self.crash()

    def _answer(self, call: CallId, answer: Response | RpcError) -> None:
        self._send(Packet(self.address, call.node, call, answer, False, self._trace.now_at))

    def _cancel(self, call: CallId, peer: Address | None) -> None:
        """Tells whom it asked, if that matters, that it waits no longer."""
        if peer is not None:
            self._send(Packet(self.address, peer, call, None, True, self._trace.now_at))

    def _receive(self, packet: Packet) -> None:
        if self.paused:
            self._frozen.append((self.incarnation, self._received, (packet,)))
        else:
            self._received(packet)

    def _received(self, packet: Packet) -> None:
        body, call = packet.body, packet.call
        event: Event
        if body is None:
            if call in self._asked:
                del self._asked[call]
                self.handle(Cancelled(call), f"< {packet.source} waits no longer", packet.cause)
            return
        if packet.asks:
            self._asked[call] = None
            event = Asked(call, Address(packet.source), body)  # type: ignore[arg-type]
        elif call not in self._open:
            return
        else:
            del self._open[call]
            event = Failed(call, body) if isinstance(body, RpcError) else Answered(call, body)  # type: ignore[arg-type]
        self.handle(event, f"< {packet.source} {tell(body)}", packet.cause)

    def _graphs(self) -> GraphPool:
        assert isinstance(self.pool, GraphPool), f"{self.address} runs no graphs"
        return self.pool

    def _computed(self, piece: int, computation: Computation) -> None:
        self.handle(Computed(piece, computation), f"piece {piece}: {tell_computation(computation)}")

    def _produced(self, producer: int, production: Production) -> None:
        self.handle(Produced(producer, production), f"pipeline {producer}: {tell_production(production)}")

    def _store_next(self) -> None:
        self._engine.call_at(self._engine.now + STORE_NS, self._when_awake, self.incarnation, self._store)

    def _store(self) -> None:
        # The files are real; how long they take is not.
        command = self._stores.popleft()
        done = store(command)
        if self._stores:
            self._store_next()
        how = "done" if done.error is None else f"not done: {done.error.message}"
        self.handle(done, f"{type(command.deed).__name__} {how}")

    def _executed(self, event: Executed | Pulled) -> None:
        self.handle(event, f"run {event.run} ended")

    def _synced(self, upto: int) -> None:
        self._when_awake(self.incarnation, self._hear_synced, upto)

    def _hear_synced(self, upto: int) -> None:
        self.handle(Synced(upto), f"synced {upto}")

    def _broke(self, error: RpcError) -> None:
        """A journal that cannot be written ends the node at once, even a paused one: it could not answer any more."""
        if self.alive:
            self._tell(f"fails: {error.message}")
            self.crash()

    def _when_awake(self, life: int, do: Callable[..., None], *args: object) -> None:
        if not self.alive or life != self.incarnation:
            return
        if self.paused:
            self._frozen.append((life, do, args))
        else:
            do(*args)

    def _arm(self) -> None:
        """Keeps the one timer at the machine's deadline or the next call that runs out of time."""
        expiries = self._expiries
        while expiries and expiries[0][1] not in self._open:
            heapq.heappop(expiries)
        shows = self.role.deadline()
        if expiries and expiries[0][0] < shows:
            shows = expiries[0][0]
        want = self.clock.when(shows)
        if want < self._armed:
            self._armed = max(want, self._engine.now)
            self._engine.call_at(self._armed, self._ring, self.incarnation, self._armed)

    def _ring(self, life: int, at: Instant) -> None:
        self._when_awake(life, self._rang, at)

    def _rang(self, at: Instant) -> None:
        if at != self._armed:
            return
        self._armed = NEVER
        now = self.clock.reads(self._engine.now)
        while self._expiries and self._expiries[0][0] <= now:
            _, call = heapq.heappop(self._expiries)
            if call in self._open:
                self._cancel(call, self._open.pop(call))
                self.handle(Failed(call, TIMED_OUT), f"call {call.seq} timed out")
        early = self.role.deadline() > self.clock.reads(self._engine.now)
        if early and self._luck.bits() & 7:
            self._arm()
            return
        self._wakes = self._wakes + 1 if now == self._woken_at else 1
        self._woken_at = now
        assert self._wakes < WAKES_MAX, f"{self._where} wants to be woken again and again"
        self.handle(Woke(), "woke early" if early else "woke")

    def _tell(self, what: str, cause: int = 0) -> None:
        trace = self._trace
        number = trace.event(self._engine.now, self._where, what, cause)
        if trace.observer is not None:
            trace.observer.told(self, what, number)
