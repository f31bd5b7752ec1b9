"""Training with a parameter server: a linear model, trainers that work at their own pace, and what must be true.

Each trainer reads the weights, computes a gradient on its own server, and has the parameter server apply it.
Beside the weights the parameter server keeps how many updates of each trainer it has applied, and a sum of
codes, one of its own for each update. So every look at the variables tells whether an update is missing a
part, or was applied twice.

An update names its number. The parameter server claims the number first and takes the claim back where it
is not the next one of its trainer; from its first write on nobody comes between. So an update that is late,
because the trainer that asked for it has died and another life of it goes on, changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

import tfsvc as tf
from tfsvc.compat import v1
from tfsvc.compat.v1.graph import Graph
from tfsvc.errors import OpError
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.luck import Luck
from tfsvc_sim.cluster.cluster import Program, Rest, Steps

SLOPES: Final = np.array([[2.0], [-1.0]], np.float32)
"""What is to be learned."""
RATE: Final = np.float32(0.05)
ROWS: Final = 16
PS: Final = "/job:ps/task:0"
STATE: Final = ("weights", "applied", "codes")


def code(trainer: int, number: int) -> int:
    """A number that stands for one update; sums of different sets of them differ."""
    return (trainer * 1_000_003 + number) * 2_654_435_761 % (1 << 40)


def build(trainers: int, trainer: int) -> Graph:
    """The graph of one trainer; the names of what it is asked for are those below."""
    graph = Graph()
    with graph.as_default():
        with v1.device(PS):
            weights = v1.Variable(np.zeros_like(SLOPES), name="weights")
            applied = v1.Variable(np.zeros(trainers, np.int64), name="applied")
            codes = v1.Variable(np.int64(0), name="codes")
        x, y = v1.placeholder(tf.float32, [None, 2], "x"), v1.placeholder(tf.float32, [None, 1], "y")
        number, its_code = v1.placeholder(tf.int64, [], "number"), v1.placeholder(tf.int64, [], "code")
        with v1.device(f"/job:worker/task:{trainer}"):
            error = v1.subtract(v1.matmul(x, weights), y)
            v1.reduce_mean(v1.square(error), name="loss")
            gradient = v1.matmul(x, error, transpose_a=True)
        with v1.device(PS):
            mine = np.eye(trainers, dtype=np.int64)[trainer]
            change = v1.multiply(gradient, np.float32(2 / ROWS) * RATE)
            with v1.control_dependencies([change]):
                claimed = applied.assign_add(mine)
            is_next = v1.equal(v1.reduce_sum(v1.multiply(claimed, mine)), number)
            counts = v1.cast(is_next, tf.int64)
            v1.group(
                applied.assign_sub(v1.multiply(v1.subtract(np.int64(1), counts), mine)),
                weights.assign_sub(v1.multiply(change, v1.cast(is_next, tf.float32))),
                codes.assign_add(v1.multiply(its_code, counts)),
                name="update",
            )
            v1.group(*(v.initializer for v in (weights, applied, codes)), name="restore")
            v1.identity(weights.is_initialized(), name="ready")
        for variable in (weights, applied, codes):
            v1.identity(variable.value(), name=f"{variable.op.name}_now")
    return graph


@dataclass(slots=True)
class Storage:
    """Where checkpoints are kept; it outlives everything.

    Attributes:
      saved: the variables' values.
      saves: how many checkpoints were written.
    """

    saved: tuple[Any, ...] | None = None
    saves: int = 0


@dataclass(slots=True)
class Ledger:
    """What the trainers have seen.

    Attributes:
      losses: of each look at all the data, in order.
      problems: what was not as it should be.
      updates: how many updates trainers were told of.
      failures: how many steps failed on the way, by the name of the error.
    """

    losses: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    updates: int = 0
    failures: dict[str, int] = field(default_factory=dict)

    def look(self, trainer: int, state: list[Any]) -> None:
        """Checks a reading of all variables."""
        _, applied, codes = state
        expected = sum(code(t, n) for t, count in enumerate(applied) for n in range(1, int(count) + 1))
        if expected != int(codes):
            self.problems.append(f"trainer {trainer} saw a half-applied or repeated update: {applied.tolist()}")


@dataclass(frozen=True, slots=True)
class Plan:
    """How a trainer works.

    Attributes:
      trainers: how many there are; the first also initializes, and saves checkpoints.
      trainer: which one it is.
      updates: how many updates it makes.
      save_every: updates between two checkpoints.
      think_ns: how long it is busy between two updates.
    """

    trainers: int
    trainer: int
    updates: int = 40
    save_every: int = 8
    think_ns: int = 5 * MILLISECOND


def train(plan: Plan, graph: Graph, storage: Storage, ledger: Ledger, luck: Luck) -> Program:
    """A trainer's program: a session, and a new one whenever a server is lost."""
    while True:
        session = Steps(f"worker{plan.trainer}", graph, luck)
        try:
            yield from session.open()
            yield from _prepare(session, plan, storage)
            yield from _go_on(session, plan, storage, ledger, luck)
            return
        except OpError as error:
            kind = type(error).__name__
            ledger.failures[kind] = ledger.failures.get(kind, 0) + 1
            yield Rest(50 * MILLISECOND + luck.below(100 * MILLISECOND))


def _prepare(session: Steps, plan: Plan, storage: Storage) -> Any:
    """Waits until the variables have values; the first trainer gives them those of the last checkpoint."""
    while True:
        (ready,) = yield from session.run(["ready:0"])
        if ready:
            return
        if plan.trainer == 0:
            feeds = {} if storage.saved is None else _restoring(storage.saved)
            yield from session.run((), feeds, ["restore"])
            return
        yield Rest(20 * MILLISECOND)


def _restoring(saved: tuple[Any, ...]) -> dict[str, Any]:
    """Checkpointed values in the place of the initial ones."""
    initial = ("initial_value:0", "initial_value_1:0", "initial_value_2:0")
    return dict(zip(initial, saved, strict=True))


def _go_on(session: Steps, plan: Plan, storage: Storage, ledger: Ledger, luck: Luck) -> Any:
    """Makes the updates that are missing, and looks at the variables in between."""
    looks = [f"{name}_now:0" for name in STATE]
    while True:
        state = yield from session.run(looks)
        ledger.look(plan.trainer, state)
        done = int(state[1][plan.trainer])
        if plan.trainer == 0 and done % plan.save_every == 0:
            storage.saved = tuple(np.array(value) for value in state)
            storage.saves += 1
        if done >= plan.updates:
            return
        x, y = batch(luck)
        number = np.int64(done + 1)
        feeds = {"x:0": x, "y:0": y, "number:0": number, "code:0": np.int64(code(plan.trainer, int(number)))}
        (loss,) = yield from session.run(["loss:0"], feeds, ["update"])
        ledger.losses.append(float(loss))
        ledger.updates += 1
        yield Rest(plan.think_ns)


def batch(luck: Luck) -> tuple[Any, Any]:
    """Some rows of data."""
    x = np.array([[luck.unit() * 2 - 1, luck.unit() * 2 - 1] for _ in range(ROWS)], np.float32)
    return x, x @ SLOPES
