"""Functions of a simulated server: they do nothing but take time, and are counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.contract import Abandon, Execute, Executed, Pull, Pulled, Work
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages import CallResponse, RegisteredMethod
from tfsvc.protocol.rpc.settings import MethodSettings
from tfsvc_sim.kernel.engine import Engine

PLAIN: Final = "plain"
FAILING: Final = "failing"
BATCHED: Final = "batched"
LIMITED: Final = "limited"
STREAM: Final = "stream"

METHODS: Final = (
    MethodSettings(RegisteredMethod(PLAIN)),
    MethodSettings(RegisteredMethod(FAILING)),
    MethodSettings(RegisteredMethod(BATCHED), batch_max=3, wait_ns=20 * MILLISECOND),
    MethodSettings(RegisteredMethod(LIMITED), running_max=1, waiting_max=1),
    MethodSettings(RegisteredMethod(STREAM, streams=True)),
)

RUN_NS: Final = 10 * MILLISECOND
ITEM_NS: Final = MILLISECOND
ITEMS: Final = 40
"""How many items every stream has."""
FAILURE: Final = RpcError(Code.INVALID_ARGUMENT, "the function failed")


class Runs:
    """How often each call's function ran, in all lives of the server."""

    def __init__(self) -> None:
        self.count: dict[bytes, int] = defaultdict(int)


class Executor:
    """Runs functions of one life of a server.

    Args:
      runs: where they are counted.
      done: takes the outcome.
      factor: how many times slower than usual.
    """

    def __init__(self, engine: Engine, runs: Runs, done: Callable[[Executed | Pulled], None]) -> None:
        self.factor = 1
        self._engine = engine
        self._runs = runs
        self._done = done
        self._streams: dict[int, int] = {}

    def carry_out(self, command: Work) -> None:
        match command:
            case Execute(run, method, calls):
                for inputs in calls:
                    self._runs.count[bytes(inputs[0])] += 1
                failed = method == FAILING
                results = tuple(FAILURE if failed else CallResponse(inputs) for inputs in calls)
                self._later(Executed(run, results))
            case Pull(run, _, inputs):
                if inputs is not None:
                    self._runs.count[bytes(inputs[0])] += 1
                    self._streams[run] = 0
                place = self._streams.get(run, ITEMS)
                self._streams[run] = place + 1
                self._later(Pulled(run, CallResponse((b"%d" % place,)) if place < ITEMS else None), ITEM_NS)
            case Abandon(run):
                self._streams[run] = ITEMS

    def _later(self, event: Executed | Pulled, cost_ns: int = RUN_NS) -> None:
        self._engine.call_at(self._engine.now + cost_ns * self.factor, self._done, event)
