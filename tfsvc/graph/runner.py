"""The runner: all pieces of a task, and the state that they share."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import Final

from tfsvc.errors import Code, RpcError, from_exception
from tfsvc.graph.attributes import Entropy
from tfsvc.graph.execution import Execution
from tfsvc.graph.program import Instruction, compile_graph
from tfsvc.graph.resources import Resources
from tfsvc.protocol.computing import Computation, Failure, Finished, Program
from tfsvc.protocol.contract import Compute, Wipe

COMPILED_MAX: Final = 256
"""How many compiled pieces are kept."""


class GraphRunner:
    """Carries out ``Compute`` commands; those of one piece come one at a time, others side by side.

    Args:
      entropy: makes seeds for operators that have none; drawn from the system when not given.
    """

    def __init__(self, entropy: Entropy | None = None) -> None:
        self._entropy = entropy or partial(secrets.randbits, 128)
        self._shared = Resources()
        self._own: dict[str, Resources] = {}
        self._executions: dict[int, Execution] = {}
        self._compiled: OrderedDict[tuple[str, bytes], Sequence[Instruction]] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, command: Compute) -> Computation:
        """One run of a piece. Never raises: a piece that cannot start or go on is a ``Failure``."""
        try:
            execution = self._executions.get(command.piece)
            if execution is None:
                if command.program is None:
                    return Computation((), Failure(RpcError(Code.CANCELLED, "the step was cancelled")))
                execution = self._executions[command.piece] = self._start(command.program)
            computation = execution.run(command.values)
        except Exception as error:
            computation = Computation((), Failure(from_exception(error, "the piece could not be run")))
        if isinstance(computation.status, Finished | Failure):
            self.discard(command.piece)
        return computation

    def discard(self, piece: int) -> None:
        self._executions.pop(piece, None)

    def wipe(self, command: Wipe) -> None:
        """Drops state; a session's own goes with it, or when its container is wiped for all."""
        if command.scope is not None:
            self._own.pop(command.scope, None)
            return
        for state in (self._shared, *self._own.values()):
            state.wipe(command.containers)

    def _start(self, program: Program) -> Execution:
        with self._lock:
            state = self._own.setdefault(program.scope, Resources()) if program.scope else self._shared
            key = program.session, program.graph
            compiled = self._compiled.get(key)
            if compiled is not None:
                self._compiled.move_to_end(key)
        if compiled is None:
            compiled = compile_graph(program.graph, program.container, self._entropy)
            with self._lock:
                self._compiled[key] = compiled
                if len(self._compiled) > COMPILED_MAX:
                    self._compiled.popitem(last=False)
        return Execution(compiled, state)
