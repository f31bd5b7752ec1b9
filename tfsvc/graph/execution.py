"""Execution: runs a piece as far as its values go, again and again until all of its nodes have run.

Of the nodes that could run, those that compute come first, then those that read variables, then those that
write. So what a piece reads in one go belongs together, and so does what it writes: from its first write on,
a run holds the state's lock to its end, and a failure takes back what it has written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tfsvc.errors import Code, InvalidArgumentError, OpError, RpcError, from_exception
from tfsvc.graph.program import Instruction, Kind, Role
from tfsvc.graph.resources import Resources
from tfsvc.graph.values import DEAD, Handle, StalledError
from tfsvc.protocol.computing import Computation, Failure, Finished, Value, Waiting
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import serialize
from tfsvc.wire.tensors import from_bytes, to_bytes

_DEAD_RESULTS: Final = (DEAD,) * 64


class NodeError(Exception):
    """A node failed."""

    def __init__(self, instruction: Instruction, error: BaseException) -> None:
        super().__init__(instruction.name)
        self.instruction = instruction
        self.error = error

    def told(self) -> RpcError:
        """The error with the node's name, as TensorFlow's clients read it."""
        error = from_exception(self.error)
        if isinstance(self.error, IndexError):  # no kernel indexes with anything but its inputs
            error = replace(error, code=Code.INVALID_ARGUMENT)
        text = error.message if isinstance(self.error, OpError) else error.message.partition(": ")[2] or error.message
        return RpcError(error.code, f"{text}\n\t [[{{{{node {self.instruction.name}}}}}]]")


class Execution:
    """One piece at work.

    Args:
      program: its instructions.
      state: of the task or session that it runs for.
      arguments: where it is the body of a function.
    """

    def __init__(self, program: Sequence[Instruction], state: Resources, arguments: Sequence[Any] = ()) -> None:
        self._arguments = arguments
        self._program = program
        self._state = state
        self._waits = [instruction.waits for instruction in program]
        self._results: list[Any] = [None] * len(program)
        self._ready: tuple[deque[int], deque[int], deque[int]] = (deque(), deque(), deque())
        self._missing = len(program)
        self._receivers = {i.key: number for number, i in enumerate(program) if i.role is Role.RECV}
        self._waiting: dict[str, None] = {}
        self._stalled: list[int] = []
        self._arrived: dict[str, Value] = {}
        self._sent: list[Value] = []
        for number, count in enumerate(self._waits):
            if not count:
                self._ready[program[number].kind].append(number)

    def result(self, name: str, index: int) -> Any:
        """A result of a node that has run."""
        number = next(n for n, instruction in enumerate(self._program) if instruction.name == name)
        return self._results[number][index]

    def run(self, values: Sequence[Value], nested: bool = False) -> Computation:
        """Goes on with values that have come; ``Failure`` ends it.

        Args:
          nested: whether another execution, which is at work on the same state, keeps or undoes the writes.
        """
        state = self._state
        self._sent = []
        held = False
        for value in values:
            self._arrived[value.key] = value
            if value.key in self._waiting:
                del self._waiting[value.key]
                self._ready[Kind.PURE].append(self._receivers[value.key])
        stalled, self._stalled = self._stalled, []
        self._ready[Kind.WRITE].extend(stalled)
        pure, reads, written = self._ready
        try:
            with np.errstate(all="ignore"):
                while True:
                    if pure:
                        self._step(pure.popleft())
                    elif reads:
                        with state.lock:
                            while reads:
                                self._step(reads.popleft())
                    elif written:
                        if not held:
                            state.lock.acquire()
                            held = True
                        self._step(written.popleft())
                    else:
                        break
        except NodeError as failure:
            if held and not nested:
                state.undo()
            return Computation((), Failure(failure.told()))
        finally:
            stirred = held and state.stirred and not nested
            if held and not nested:
                state.stirred = False
                state.keep()
            if held:
                state.lock.release()
        status = Waiting(tuple(self._waiting), bool(self._stalled)) if self._missing else Finished()
        return Computation(tuple(self._sent), status, stirred)

    def _step(self, number: int) -> None:
        instruction = self._program[number]
        results = self._results
        try:
            inputs = [results[giver][index] for giver, index in instruction.inputs]
        except IndexError:
            raise NodeError(instruction, InvalidArgumentError(message=_no_output(instruction, self._program))) from None
        dead = any(value is DEAD for value in inputs) or any(results[n] is _DEAD_RESULTS for n in instruction.controls)
        try:
            match instruction.role:
                case Role.RECV:
                    arrived = self._arrived.pop(instruction.key, None)
                    if arrived is None:
                        self._waiting[instruction.key] = None
                        return
                    result: Any = DEAD if arrived.dead else from_bytes(arrived.tensor)
                    dead = arrived.dead
                case Role.ARGUMENT:
                    result = (self._arguments[instruction.argument],)
                case Role.SEND:
                    self._sent.append(self._value(instruction, inputs, dead))
                    result, dead = (), False
                case Role.MERGE:
                    result = instruction.run(*inputs)
                    dead = result[0] is DEAD
                case _ if dead:
                    result = ()
                case Role.STATE:
                    result = instruction.run(self._state, *self._dereferenced(instruction, inputs))
                case _:
                    result = instruction.run(*self._dereferenced(instruction, inputs))
        except StalledError:
            self._stalled.append(number)
            return
        except Exception as error:
            raise NodeError(instruction, error) from error
        results[number] = _DEAD_RESULTS if dead else result if type(result) is tuple else (result,)
        self._missing -= 1
        for later in instruction.after:
            self._waits[later] -= 1
            if not self._waits[later]:
                self._ready[self._program[later].kind].append(later)

    def _dereferenced(self, instruction: Instruction, inputs: list[Any]) -> list[Any]:
        for index in instruction.dereferenced:
            if isinstance(inputs[index], Handle):
                inputs[index] = self._state.read(inputs[index])
        return inputs

    def _value(self, instruction: Instruction, inputs: list[Any], dead: bool) -> Value:
        if dead or not inputs:
            return Value(instruction.key, _NOTHING, dead)
        (value,) = self._dereferenced(instruction, inputs)
        return Value(instruction.key, encode_tensor(value), dead)


def encode_tensor(value: Any) -> bytes:
    """A serialized ``TensorProto``."""
    if isinstance(value, Handle):
        proto = pb.TensorProto(dtype=pb.DT_RESOURCE)
        proto.resource_handle_val.add(container=value.container, name=value.name)
        return serialize(proto)
    return to_bytes(value)


_NOTHING: Final = encode_tensor(np.zeros(0, np.float32))


def _no_output(instruction: Instruction, program: Sequence[Instruction]) -> str:
    wanted = ", ".join(f"{program[giver].name}:{index}" for giver, index in instruction.inputs)
    return f"an input of this node does not exist; it takes {wanted}"
