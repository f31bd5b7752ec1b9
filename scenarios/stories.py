"""Stories: what a seed makes of a promise, as a function from the seed to what was wrong.

``swarm`` plays a random cluster, ``shares`` one with static sharding; ``resume`` cuts an ordered job and goes on
elsewhere from its token; ``remainder`` lets consumers step together that must get the same number of elements. In
``late`` answers come to workers that have begun another life, or run another attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tfsvc.protocol.ids import MILLISECOND, SECOND, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import LanePlace, OrderDef, Remainder, ShardingPolicy
from tfsvc_sim import PASS, Fate, Fault, Packet, Scenario, Workload, World, play
from tfsvc_sim.faults import apply
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.judging.fencing import Fencing
from tfsvc_sim.judging.oracles import same_sequence
from tfsvc_sim.judging.sequence import elements, sequence
from tfsvc_sim.nodes.application import Application, Habits, Together
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.tempo import DISPATCHER, Tempo
from tfsvc_sim.nodes.world import Consumer
from tfsvc_sim.playing.play import BOOT_NS, MakeWorld
from tfsvc_sim.playing.swarm import draw
from tfsvc_sim.playing.workloads import KINDS, kinds_for

Story = Callable[[int, MakeWorld], Sequence[str]]

LIFE_NS = 60 * SECOND
HARMLESS = tuple(kind for kind in FaultKind if kind not in (FaultKind.KILL_READER, FaultKind.OLD_READER))
"""Faults that every reader survives, and that let it say where an ordered job is to go on."""


def swarm(seed: int, make: MakeWorld) -> Sequence[str]:
    """A random cluster, workload and faults."""
    return play(draw(seed), make).problems


def shares(seed: int, make: MakeWorld) -> Sequence[str]:
    """The same, statically sharded."""
    return play(shared_out(seed), make).problems


def shared_out(seed: int) -> Scenario:
    """What the swarm draws, with a static policy."""
    scenario = draw(seed)
    policies = [policy for policy in KINDS[scenario.workload.kind].policies if policy.static]
    policy = policies[Luck(seed, "shares").below(len(policies))]
    return replace(scenario, policy=policy, lanes=0)


@dataclass(frozen=True, slots=True)
class LateAnswers:
    """One answer in eight of the dispatcher comes up to two seconds late."""

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        if packet.asks or packet.source != DISPATCHER or luck.below(8):
            return PASS
        return Fate((luck.below(2 * SECOND),))


def late(seed: int, make: MakeWorld) -> Sequence[str]:
    """A random cluster whose workers die and come back at once, while answers to their last life are on their way.

    An answer that late may also find that its lane runs elsewhere by now.
    """
    fencing = Fencing()

    def world(number: int, tempo: Tempo) -> World:
        made = make(number, tempo)
        made.rule(fencing)
        made.rule(LateAnswers())
        return made

    luck = Luck(seed, "late")
    crashes = tuple(usual(luck.below(12), FaultKind.CRASH, luck.below(4)) for _ in range(4))
    scenario = draw(seed)
    problems = play(
        replace(scenario, faults=bounded((*scenario.faults, *crashes), len(scenario.workers))), world
    ).problems
    return [*problems, *fencing.problems]


def resume(seed: int, make: MakeWorld) -> Sequence[str]:
    """An ordered job whose reader goes on after some elements, first in the same cluster, then in another."""
    luck = Luck(seed, "resume")
    load, order = _load(luck), OrderDef(3 + luck.below(3), 1 + luck.below(4), seed)
    left = [element.values for element in elements(load.definition(), order)]
    places: tuple[LanePlace, ...] = ()
    problems: list[str] = []
    world, dataset_id = _cluster(luck, load, make)
    for reading in range(3):
        if reading == 1 and luck.below(2):
            # The job goes on farther than the token, which then rewinds it.
            _read(world, dataset_id, order, None, 1 + luck.below(9), luck)
        if reading == 2:
            world, dataset_id = _cluster(luck, load, make)
        leave_after = None if reading == 2 else 1 + luck.below(20)
        reader = _read(world, dataset_id, order, places, leave_after, luck)
        got = _taken(world, reader)
        problems += same_sequence("the reader", left, got, complete=reader.ended_at is not None)
        if not reader.done or reader.error is not None:
            problems.append(f"the reader waits for ever, or fails: {reader.error}")
        left = left[len(got) :]
        places = tuple({**{place.index: place for place in places}, **reader.places}.values())
    return problems


def remainder(seed: int, make: MakeWorld) -> Sequence[str]:
    """Consumers that step together, and must take as many steps each."""
    luck = Luck(seed, "remainder")
    rest = (Remainder.DROP, Remainder.PAD, Remainder.WRAP)[luck.below(3)]
    load, order, count = _load(luck), OrderDef(4 + luck.below(3), 1 + luck.below(4), seed, rest), 2 + luck.below(3)
    world, dataset_id = _cluster(luck, load, make)
    together = Together()
    for index in range(count):
        role = Consumer(order, index, count, together=together)
        world.add_reader(dataset_id, job="job", habits=Habits(think_ns=MILLISECOND), role=role)
    apply(bounded(_faults(luck), len(world.workers)), world)
    if not world.run_until(world.all_left, LIFE_NS):
        return ["consumers wait for each other for ever"]
    wanted = sequence(load.definition(), order, count)
    steps = (min if rest is Remainder.DROP else max)(map(len, wanted))
    problems = [f"a consumer took {m.steps} steps of {steps}" for m in together.members if m.steps != steps]
    for member, want in zip(together.members, wanted, strict=True):
        problems += same_sequence("a consumer", want[:steps], _taken(world, member), complete=True)
    return problems


def _load(luck: Luck) -> Workload:
    kinds = kinds_for(ShardingPolicy.DYNAMIC)
    return Workload(kinds[luck.below(len(kinds))], luck.below(65))


def _faults(luck: Luck) -> tuple[Fault, ...]:
    return tuple(
        usual(luck.below(8), HARMLESS[luck.below(len(HARMLESS))], luck.below(4), 1 + luck.below(12))
        for _ in range(luck.below(4))
    )


def _cluster(luck: Luck, load: Workload, make: MakeWorld) -> tuple[World, str]:
    world = make(luck.below(1 << 31), Tempo())
    world.add_dispatcher()
    for _ in range(1 + luck.below(3)):
        world.add_worker(Speed(checkpoint_every=(1, 4, 256)[luck.below(3)]))
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    return world, dataset_id


def _read(
    world: World,
    dataset_id: str,
    order: OrderDef,
    places: tuple[LanePlace, ...] | None,
    leave_after: int | None,
    luck: Luck,
) -> Application:
    """One reader of the job, until it leaves."""
    reader = world.add_reader(
        dataset_id, job="job", habits=Habits(leave_after=leave_after), role=Consumer(order, places=places)
    )
    apply(bounded(_faults(luck), len(world.workers)), world)
    world.run_until(lambda: reader.done, LIFE_NS)
    return reader


def _taken(world: World, reader: Application) -> list[tuple[int, ...]]:
    assert reader.node is not None
    return [taking.values for taking in world.ledger.takings if taking.reader == reader.node.address]
