"""The world: a whole cluster as one deterministic function of a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.caller import Caller
from tfsvc.protocol.client.machine import Client
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import MILLISECOND, SECOND, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.reading import Delivery, Said
from tfsvc.protocol.steering import Guided, Steering
from tfsvc.protocol.updates import Update
from tfsvc.protocol.worker.machine import Worker
from tfsvc_sim.faults.fault import Fault
from tfsvc_sim.faults.fault import text as fault_text
from tfsvc_sim.faults.naming import resolve
from tfsvc_sim.judging.ledger import Ledger, Taking
from tfsvc_sim.kernel.disk import Aftermath, Disk, Trouble
from tfsvc_sim.kernel.engine import Engine, SimPyEngine
from tfsvc_sim.kernel.garbage import rarely_collected
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.kernel.network import Installed, Network, Translate
from tfsvc_sim.kernel.rules import Partition
from tfsvc_sim.nodes.application import Application, Habits, Together
from tfsvc_sim.nodes.ground import Ground
from tfsvc_sim.nodes.node import GateMaker, Node, Surroundings
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.tempo import DISPATCHER, Tempo

COMPACT_AFTER_MAX = 64
"""So many records at the most come before the dispatcher's journal is compacted again."""
ORIGINS = 1_000_000
"""How far apart the ids of two states of the dispatcher begin."""
STEP_NS = 50 * MILLISECOND
"""How often a run looks whether it is over."""


def worker_address(number: int) -> str:
    """How the workers of a world are called, in the order in which they were added."""
    return f"worker{number}"


T = TypeVar("T")


def both(one: Callable[[T], None] | None, other: Callable[[T], None]) -> Callable[[T], None]:
    """Calls one, if there is one, then the other."""
    if one is None:
        return other

    def call(argument: T) -> None:
        one(argument)
        other(argument)

    return call


def another_journal() -> Sequence[Update]:
    """What the dispatcher of another cluster would have written."""
    other = World(0, engine=HeapEngine())
    other._origin = ORIGINS // 2
    disk = other.add_dispatcher().disk
    assert disk is not None
    other.register("another", m.DatasetDef())
    return tuple(disk.records)


@dataclass(frozen=True, slots=True)
class Consumer:
    """A reader's part in an ordered job, or in one whose readers share something else; see ``ReadRequest``."""

    order: m.OrderDef = m.OrderDef()
    index: int = 0
    count: int | None = None
    places: tuple[m.LanePlace, ...] | None = None
    together: Together | None = None
    coordinated: bool = False
    trainer_id: str = ""


class World(Ground):
    """A cluster, its network and its applications.

    Args:
      seed: of everything that is left to luck.
      tempo: the settings of the machines.
      keep: whether the trace stays readable.
      engine: whose time; SimPy's when not given.
      gate: what guards each machine's words.
      translate: what the wire does to a packet.

    In its methods ``address`` is the name of a node: ``dispatcher``, ``worker0``, ``reader2``. What is said to happen
    without an end lasts until the opposite is called.
    """

    def __init__(
        self,
        seed: int,
        tempo: Tempo | None = None,
        keep: bool = False,
        engine: Engine | None = None,
        gate: GateMaker = Gate,
        translate: Translate | None = None,
    ) -> None:
        self.tempo = tempo or Tempo()
        self._luck = Luck(seed, "world")
        engine = engine or SimPyEngine(seed)
        super().__init__(engine, Network(engine, self._luck.stream("network"), self.tempo.latency, translate), keep)
        self.ledger = Ledger()
        self.workers: list[str] = []
        self.applications: dict[str, Application] = {}
        self.onlookers: list[Callable[[], None]] = []
        """Called every ``STEP_NS`` of a run."""
        self._origin = 0
        self.surroundings = Surroundings(self.engine, self.network, self.trace, self._luck, gate)

    @property
    def readers(self) -> Sequence[str]:
        """The names of its readers."""
        return tuple(self.applications)

    @property
    def dispatcher(self) -> str:
        """The name of its dispatcher."""
        return DISPATCHER

    # --- who is there ---

    def add_dispatcher(
        self,
        worker_addresses: Sequence[str] = (),
        compacts: bool = True,
    ) -> Node:
        """A dispatcher with an empty journal.

        Args:
          worker_addresses: its workers in their order, which it must know for static sharding.
          compacts: whether its journal is compacted as it grows, rather than keeping every record.
        """
        settings = replace(self.tempo.dispatcher, worker_addresses=tuple(worker_addresses))
        after = 1 + self._luck.stream("compaction").below(COMPACT_AFTER_MAX)
        disk = Disk(self.engine, self._luck.stream("disk"), self.tempo.sync_ns, compacts, after)
        node = Node(
            self.surroundings,
            DISPATCHER,
            lambda life, luck, records: Dispatcher(
                settings, DISPATCHER, life, luck, records, self._origin, self.steering()
            ),
            disk=disk,
        )
        return self.add(node)

    def steering(self) -> Steering:
        """How a life of the dispatcher is steered."""
        return Guided()

    def add_worker(self, speed: Speed | None = None, start: bool = True) -> Node:
        """One more worker, of the usual ``speed`` when none is given; unless ``start``, it waits for ``restart``."""
        address = worker_address(len(self.workers))
        self.workers.append(address)
        servers = (m.DataTransferServerInfo("tfsvc", address),)
        settings = replace(self.tempo.worker, address=address, transfer_servers=servers)
        node = Node(
            self.surroundings,
            address,
            lambda life, luck, _: Worker(settings, life, luck),
            speed=speed or Speed(),
            finished=lambda *_: self.at(0, lambda: self.crash(address)),
        )
        return self.add(node, start)

    def register(self, name: str, definition: m.DatasetDef) -> str:
        """Registers the dataset of ``definition`` under ``name``, and runs until the dispatcher has it."""
        self._ask(m.GetOrRegisterDatasetRequest(definition, dataset_id=name))
        return name

    def save(self, definition: m.DatasetDef, path: str, element_spec: bytes) -> None:
        """Has a dataset written to ``path``, a directory of the real world, and runs until that has begun.

        Args:
          definition: of the dataset.
          path: the directory.
          element_spec: of its elements, encoded.
        """
        metadata = m.DistributedSnapshotMetadata(element_spec)
        self._ask(m.SnapshotRequest(definition, path, metadata, nonce=path))

    def describe(self) -> m.Description:
        """What the dispatcher tells operators of the cluster, asked over the network; runs until it is there."""
        answer = self._ask(m.DescribeServiceRequest())
        assert isinstance(answer, m.DescribeServiceResponse)
        return answer.description

    def _ask(self, request: m.Request) -> m.Response:
        answers: list[Delivery | RpcError | None] = []
        node = Node(
            self.surroundings,
            f"registrar{len(self.nodes)}",
            lambda life, luck, _: Caller(node.address, life, luck, DISPATCHER, request, SECOND, 60 * SECOND),
            finished=lambda _, answer: answers.append(answer),
        )
        self.add(node)
        while not answers:
            self.engine.run(self.now + MILLISECOND)
        (said,) = answers
        assert isinstance(said, Said), said
        node.crash(silent=True)
        return said.response

    def add_reader(
        self,
        dataset_id: str,
        policy: m.ShardingPolicy = m.ShardingPolicy.DYNAMIC,
        job: str | None = None,
        habits: Habits | None = None,
        start: bool = True,
        role: Consumer | None = None,
        delivery: m.Delivery = m.Delivery.EXACTLY_ONCE,
    ) -> Application:
        """One more reader; readers that name the same job share its elements.

        Args:
          dataset_id: what :meth:`register` gave.
          policy: how the job is sharded.
          job: its name; a job of its own when not given.
          habits: of the application; the usual ones when not given.
          start: whether it begins at once; else it waits for :meth:`join`.
          role: its part in an ordered job.
          delivery: what becomes of a lost worker's elements.
        """
        address = f"reader{len(self.applications)}"
        role = role or Consumer()
        application = Application(self.engine, self.ledger, job or address, habits or Habits(), role.together)
        request = ReadRequest(
            dataset_id,
            policy,
            job,
            order=role.order,
            consumer_index=role.index,
            num_consumers=role.count,
            places=role.places,
            delivery=delivery,
            coordinated=role.coordinated,
            trainer_id=role.trainer_id,
        )
        settings = self.tempo.client
        node = Node(
            self.surroundings,
            address,
            lambda life, luck, _: Client(request, settings, address, life, luck),
            finished=application.finished,
        )
        application.node = node
        self.applications[address] = application
        self.add(node, start=False)
        if start:
            self.join(address)
        return application

    def join(self, reader: str) -> None:
        """A reader begins to read; nothing happens to one that was killed before."""
        if reader not in self.killed:
            self.nodes[reader].start()
            self.applications[reader].start()

    def add(self, node: Node, start: bool = True) -> Node:
        """One more node of any kind, which runs at once if it is to ``start``."""
        self.nodes[node.address] = node
        if start:
            node.start()
        return node

    # --- what happens to them ---

    def partition(self, one: str, other: str, oneway: bool = False) -> Installed:
        """Cuts two nodes off from each other until it is removed; ``oneway``: only what ``one`` sends is lost."""
        return self.network.rule(Partition(frozenset({one}), frozenset({other}), oneway))

    def resolve(self, name: str) -> str:
        """The address of a node, counted around those that there are."""
        return resolve(name, self.workers, self.readers, DISPATCHER)

    def crash(self, address: str, silent: bool = False, aftermath: Aftermath = Aftermath.TORN) -> None:
        """A node dies; nothing happens to one that is dead.

        Args:
          address: which.
          silent: whether nobody is told, as when a host loses power.
          aftermath: what becomes of its disk.
        """
        if not self.nodes[address].alive:
            return
        super().crash(address, silent, aftermath)
        if aftermath is Aftermath.WIPED:
            self.wipe(address)
        elif aftermath is Aftermath.SWAPPED:
            self._disk(address).swap(another_journal())

    def wipe(self, address: str) -> None:
        """A dead node loses what its disk held: its next life begins with a new state."""
        assert not self.nodes[address].alive, f"{address} lives"
        self._disk(address).wipe()
        self._origin += ORIGINS

    def trouble(self, address: str, trouble: Trouble | None) -> None:
        """The ``trouble`` with a node's disk from now on; ``None`` mends it."""
        self._disk(address).trouble = trouble

    def slow_disk(self, address: str, factor: int) -> None:
        """Syncs take ``factor`` times as long as usual."""
        self._disk(address).slowness = factor

    def rot(self, address: str, rotten: bool) -> None:
        """A bit of a node's journal changes if it is to be ``rotten``; else it is restored from a copy."""
        disk = self._disk(address)
        if rotten:
            disk.rot()
        else:
            disk.restore()

    def _disk(self, address: str) -> Disk:
        disk = self.nodes[address].disk
        if disk is None:
            raise ValueError(f"{address} has no disk; only the dispatcher has one")
        return disk

    def slow_down(self, address: str, factor: int) -> None:
        """A worker's pipelines take ``factor`` times as long as usual."""
        self.nodes[address].slow(factor)

    # --- who looks on ---

    def struck(self, fault: Fault) -> None:
        """A fault begins; it tells the trace."""
        self.struck_at.append((self.now, fault))
        self.trace.event(self.now, "fault", fault_text(fault), 0)

    def watch_records(self, watcher: Callable[[Update], None]) -> None:
        """Has ``watcher`` look at every record that the dispatcher writes, before it is synced."""
        disk = self._disk(DISPATCHER)
        disk.noted = both(disk.noted, watcher)

    def watch_takings(self, watcher: Callable[[Taking], None]) -> None:
        """Has ``watcher`` look at every element that is taken."""
        self.ledger.noted = both(self.ledger.noted, watcher)

    # --- running ---

    def run(self, for_ns: int) -> None:
        """Runs for ``for_ns`` of the world's time."""
        with rarely_collected():
            self.engine.run(self.now + for_ns)

    def run_until(self, done: Callable[[], bool], for_ns: int) -> bool:
        """Runs until ``done``, looked at in steps, for ``for_ns`` at the most; whether it was done in time."""
        limit = self.now + for_ns
        with rarely_collected():
            while not done():
                if self.now >= limit:
                    return False
                self.engine.run(min(limit, self.now + STEP_NS))
                for look in self.onlookers:
                    look()
        return True

    @property
    def faults_over(self) -> Instant:
        """When the last of the faults that have begun, and that end, is over."""
        ends = [at + fault.for_ms * MILLISECOND for at, fault in self.struck_at if fault.for_ms is not None]
        return max(ends, default=0)

    def all_left(self) -> bool:
        """Whether every application has had its end, or is gone."""
        return all(a.done or address in self.killed for address, a in self.applications.items())
