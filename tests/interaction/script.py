"""Interaction scripts: commands to a small world, each followed by what then happened.

A script is a text file. Lines up to ``----`` are commands, the lines behind it, up to an empty line, their outcome.

    world dataset=KIND-SIZE [seed=N] [workers=N] [readers=N] [think_ms=N] [leave_after=N]
    watch WORD ...                 events with one of these words in them are told from now on
    run MS                         lets time pass
    finish                         runs to the end and asks the oracles
    crash|restart|pause|resume NODE
    cut ONE OTHER [oneway]         cuts two nodes off; oneway: only what ONE sends is lost
    heal                           lifts all cuts
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim.judging.oracles import each_once, in_order
from tfsvc_sim.kernel.network import Installed
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.workloads import Workload

RULE = "----"


@dataclass(frozen=True, slots=True)
class Block:
    """Commands (comments among them) and their outcome."""

    commands: tuple[str, ...]
    outcome: tuple[str, ...]


def parse(text: str) -> list[Block]:
    """The blocks of a script."""
    blocks = []
    for part in text.strip().split("\n\n"):
        lines = part.splitlines()
        cut = lines.index(RULE) if RULE in lines else len(lines)
        blocks.append(Block(tuple(lines[:cut]), tuple(lines[cut + 1 :])))
    return blocks


def render(blocks: list[Block]) -> str:
    """The text of a script."""
    parts = ("\n".join((*block.commands, *((RULE, *block.outcome) if block.outcome else ()))) for block in blocks)
    return "\n\n".join(parts) + "\n"


class Interpreter:
    """Carries out the commands of one script."""

    def __init__(self) -> None:
        self._world = World(0)
        self._load = Workload("range", 0)
        self._watched: tuple[str, ...] = ()
        self._told = 0
        self._cuts: list[Installed] = []

    def run(self, block: Block) -> Block:
        """The same commands with what really happens."""
        outcome: list[str] = []
        for line in block.commands:
            if not line.startswith("#"):
                outcome += self._command(*line.split())
        return Block(block.commands, tuple(outcome))

    def _command(self, verb: str, *args: str) -> list[str]:
        match verb, args:
            case "world", _:
                self._build(dict(arg.split("=") for arg in args))
            case "watch", _:
                self._watched = args
            case "run", (ms,):
                self._world.run(int(ms) * MILLISECOND)
            case "finish", ():
                return [*self._events(), self._finish()]
            case (("crash" | "restart" | "pause" | "resume"), (node,)):
                getattr(self._world, verb)(node)
            case "cut", (one, other, *oneway):
                self._cuts.append(self._world.partition(one, other, bool(oneway)))
            case "heal", ():
                for cut in self._cuts:
                    cut.remove()
            case _:
                raise ValueError(f"no such command: {verb} {' '.join(args)}")
        return list(self._events())

    def _build(self, options: dict[str, str]) -> None:
        numbers = {key: int(value) for key, value in options.items() if key != "dataset"}
        kind, size = options["dataset"].split("-")
        self._load = Workload(kind, int(size))
        self._world = World(numbers.get("seed", 0), keep=True)
        self._world.add_dispatcher()
        for _ in range(numbers.get("workers", 1)):
            self._world.add_worker()
        dataset_id = self._world.register(self._load.name, self._load.definition())
        for i in range(numbers.get("readers", 1)):
            leave_after = numbers.get("leave_after") if i == 0 else None
            habits = Habits(numbers.get("think_ms", 2) * MILLISECOND, leave_after)
            self._world.add_reader(dataset_id, job="job", habits=habits)
        self._told = len(self._world.trace.entries)

    def _events(self) -> Iterator[str]:
        entries = self._world.trace.entries[self._told :]
        self._told += len(entries)
        for entry in entries:
            if any(word in f"{entry.where} {entry.what}" for word in self._watched):
                yield f"{entry.at / MILLISECOND:8.1f}  {entry.where:<12}  {entry.what}"

    def _finish(self) -> str:
        in_time = self._world.run_until(self._world.all_left, 60 * SECOND)
        takings = self._world.ledger.takings
        problems = each_once(self._load.values(), self._load.errors, takings) + in_order(takings, self._load.ascending)
        if not in_time:
            problems.append("somebody still waits")
        told = list(self._events())
        verdict = "; ".join(problems) or f"clean: {len(takings)} elements"
        return "\n".join([*told, verdict])
