"""A simulated RPC server and its clients, as a stage for faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol.contract import Executed, Invoked, Pulled
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import CallResponse
from tfsvc.protocol.reading import Delivery, EndOfData, Said
from tfsvc.protocol.rpc.client import RpcClient
from tfsvc.protocol.rpc.server import RpcServer
from tfsvc.protocol.rpc.settings import RpcServerSettings
from tfsvc.protocol.rpc.wishes import Cancellation, Invocation, Listing, NextItem
from tfsvc.protocol.updates import Update
from tfsvc_sim.faults import Fault, apply
from tfsvc_sim.faults.menu import SLOT_MS
from tfsvc_sim.faults.naming import resolve
from tfsvc_sim.judging.ledger import Ledger, Taking
from tfsvc_sim.kernel.disk import Trouble
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.kernel.network import Network, Translate
from tfsvc_sim.nodes.ground import Ground
from tfsvc_sim.nodes.node import Node, Surroundings
from tfsvc_sim.rpc.executor import METHODS, STREAM, Executor, Runs

SERVER: Final = "server"
NOBODY: Final = "nobody"
"""In the place of a dispatcher."""
SLOT_NS: Final = SLOT_MS * MILLISECOND
PATIENCE_NS: Final = 90 * SECOND
"""How long after the last fault every call must have ended."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """One call.

    Attributes:
      slot: when it is made.
      method: of which of the simulated functions.
      retry: whether it may be made again.
      timeout_ms: how long its application waits; 0 for as long as it takes.
      cancel_ms: after how long its application gives it up; 0 for never.
    """

    slot: int
    method: str
    retry: bool = True
    timeout_ms: int = 0
    cancel_ms: int = 0


@dataclass(frozen=True, slots=True)
class RpcScenario:
    """A run: what each client calls, and what goes wrong.

    Attributes:
      clients: the calls of each.
      answers_max: how many answers the server keeps of a session.
    """

    clients: tuple[tuple[CallPlan, ...], ...]
    faults: tuple[Fault, ...] = ()
    answers_max: int = 4096
    seed: int = 0


@dataclass
class Called:
    """A call, and what became of it.

    Attributes:
      key: its argument, which no other call has.
      result: its outcome, when it is over; of a stream, its last word.
      items: of a stream, what was received.
      stream: of a stream, the token that opened it.
    """

    key: bytes
    client: str
    plan: CallPlan
    result: Delivery | RpcError | None = None
    items: list[bytes] = field(default_factory=list)
    stream: int = 0


class RpcWorld(Ground):
    """A server, its clients, and what they call.

    Args:
      engine: whose time.
      translate: what the wire does to a packet.
      keep: whether the trace stays readable.
      look: puts somebody beside the world who looks on from its beginning.
    """

    def __init__(
        self,
        scenario: RpcScenario,
        engine: Engine,
        translate: Translate | None = None,
        keep: bool = False,
        look: Callable[[RpcWorld], object] | None = None,
    ) -> None:
        luck = Luck(scenario.seed, "rpc")
        super().__init__(engine, Network(engine, luck.stream("network"), translate=translate), keep)
        self.forgetful = scenario.answers_max < max(map(len, scenario.clients), default=0)
        """Whether the server may forget a call that is still waited for."""
        self.ledger = Ledger()
        """Nobody takes elements here."""
        self.runs = Runs()
        self.calls: list[Called] = []
        self.restarted = False
        """Whether the server has had a second life."""
        if look is not None:
            look(self)
        around = Surroundings(engine, self.network, self.trace, luck)
        settings = RpcServerSettings(
            answers_max=scenario.answers_max, hold_ns=300 * MILLISECOND, ahead_items=8, idle_ns=30 * SECOND
        )
        self._tokens: dict[tuple[str, int], Called] = {}
        self._listings: dict[tuple[str, int], list[Called]] = {}
        self._last_token = 0
        self.nodes[SERVER] = Node(
            around,
            SERVER,
            lambda _, luck, __: RpcServer(METHODS, settings, luck),
            finished=lambda *_: self.at(0, lambda: self.crash(SERVER)),
            execute=self._executor,
        )
        self.nodes[SERVER].start()
        for i, plans in enumerate(scenario.clients):
            self._add_client(f"client{i}", plans, around)
        self._end = apply(scenario.faults, self)

    def _executor(self, done: Callable[[Executed | Pulled], None]) -> Executor:
        self._running = Executor(self.engine, self.runs, done)
        return self._running

    def _add_client(self, name: str, plans: tuple[CallPlan, ...], around: Surroundings) -> None:
        node = self.nodes[name] = Node(
            around,
            name,
            lambda life, luck, _: RpcClient(SERVER, name, life, luck),
            finished=lambda token, result: self.at(0, partial(self._finished, name, token, result)),
        )
        node.start()
        called = [Called(b"%s/%d" % (name.encode(), i), name, plan) for i, plan in enumerate(plans)]
        self.calls += called
        listing = self._token()
        self._listings[name, listing] = called
        node.handle(Invoked(listing, Listing()), "lists the methods")

    def _token(self) -> int:
        self._last_token += 1
        return self._last_token

    def _call(self, called: Called) -> None:
        plan = called.plan
        wish = Invocation(
            plan.method, (called.key,), plan.timeout_ms * MILLISECOND, plan.retry, streams=plan.method == STREAM
        )
        token = self._want(called, wish)
        if plan.cancel_ms:
            self.at(plan.cancel_ms * MILLISECOND, partial(self._cancel, called, token))

    def _want(self, called: Called, wish: Invocation | NextItem) -> int:
        token = self._token()
        node = self.nodes[called.client]
        if node.alive:
            self._tokens[called.client, token] = called
            node.handle(Invoked(token, wish), f"wants {wish}")
        return token

    def _cancel(self, called: Called, token: int) -> None:
        node = self.nodes[called.client]
        if node.alive:
            node.handle(Invoked(self._token(), Cancellation(token)), f"cancels {token}")

    def _finished(self, client: str, token: int, result: Delivery | RpcError | None) -> None:
        for planned in self._listings.pop((client, token), ()):
            when = max(self.engine.now, planned.plan.slot * SLOT_NS)
            self.engine.call_at(when, self._call, planned)
        called = self._tokens.pop((client, token), None)
        if called is None:
            return
        if called.plan.method != STREAM or isinstance(result, RpcError | EndOfData):
            called.result = result
            return
        assert isinstance(result, Said), result
        assert isinstance(result.response, CallResponse), result
        called.items.extend(map(bytes, result.response.output_tensors))
        called.stream = called.stream or token
        self._want(called, NextItem(called.stream))

    # --- the stage that faults need ---

    @property
    def workers(self) -> Sequence[str]:
        return (SERVER,)

    @property
    def readers(self) -> Sequence[str]:
        return tuple(name for name in self.nodes if name != SERVER)

    def resolve(self, name: str) -> str:
        """The server is the worker, and clients are the readers."""
        return resolve(name, self.workers, self.readers, NOBODY)

    def struck(self, fault: Fault) -> None:
        """A fault begins."""
        self.struck_at.append((self.engine.now, fault))

    def restart(self, address: str) -> None:
        self.restarted = self.restarted or not (self.nodes[address].alive or address in self.killed)
        super().restart(address)

    def trouble(self, address: str, trouble: Trouble | None) -> None:
        """Nothing here has a disk."""

    def slow_disk(self, address: str, factor: int) -> None:
        """Nothing here has a disk."""

    def rot(self, address: str, rotten: bool) -> None:
        """Nothing here has a disk."""

    def watch_records(self, watcher: Callable[[Update], None]) -> None:
        """Nothing here keeps records."""

    def watch_takings(self, watcher: Callable[[Taking], None]) -> None:
        """Nothing here is taken."""

    def slow_down(self, address: str, factor: int) -> None:
        self._running.factor = factor

    # --- running ---

    def run(self) -> None:
        """Runs until every call has ended, or should have."""
        limit = self._end + PATIENCE_NS
        while self.engine.now < limit and any(self.awaited(called) for called in self.calls):
            self.engine.run(self.engine.now + SLOT_NS)
        # What is still on its way may run a function once more.
        self.engine.run(self.engine.now + 30 * SECOND)

    def awaited(self, called: Called) -> bool:
        """Whether somebody waits for the call to end."""
        return called.result is None and called.client not in self.killed
