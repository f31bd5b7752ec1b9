"""Registered functions: runs them for a server, one call or a batch of them at a time."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.errors import Code, InvalidArgumentError, OpError, RpcError, from_exception
from tfsvc.execution.tensors import decode_arguments, encode_result
from tfsvc.protocol.contract import Execute, Executed, Pull, Pulled
from tfsvc.protocol.messages import CallResponse, Tensors
from tfsvc.protocol.rpc.settings import MethodSettings
from tfsvc.specs import TensorSpec

Result = CallResponse | RpcError


@dataclass(frozen=True)
class Method:
    """A function under its name.

    Attributes:
      function: takes positional arguments of ``input_specs``.
      input_specs: a nest of specs for each of them.
      described: whether each result carries its structure, since the specs of results are not known.
      settings: how it may run.
    """

    function: Callable[..., Any]
    input_specs: tuple[Any, ...]
    described: bool
    settings: MethodSettings

    def arguments(self, inputs: Tensors) -> tuple[Any, ...]:
        flat: list[TensorSpec] = nest.flatten(self.input_specs)
        found: tuple[Any, ...] = decode_arguments(self.input_specs, flat, inputs)
        return found


class Methods:
    """All methods of a server; each command may run on a thread of its own.

    Args:
      methods: by any order; names must differ.
    """

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods = {method.settings.name: method for method in methods}
        self._streams: dict[int, Iterator[Any]] = {}

    @property
    def settings(self) -> tuple[MethodSettings, ...]:
        return tuple(method.settings for method in self._methods.values())

    def execute(self, command: Execute) -> Executed:
        """Runs a function. What it raises is the result of its calls."""
        method = self._methods[command.method]
        if method.settings.batch_max > 1:
            return Executed(command.run, tuple(_run_batch(method, command.calls)))
        return Executed(command.run, tuple(_run(method, inputs) for inputs in command.calls))

    def pull(self, command: Pull) -> Pulled:
        """Runs a generator on to its next item."""
        run, method = command.run, self._methods[command.method]
        try:
            if command.inputs is not None:
                self._streams[run] = iter(method.function(*method.arguments(command.inputs)))
            stream = self._streams.get(run)
            return Pulled(run, None if stream is None else encode_result(next(stream), describe=True))
        except StopIteration:
            self.abandon(run)
            return Pulled(run, None)
        except BaseException as error:
            self.abandon(run)
            return Pulled(run, _told(error))

    def abandon(self, run: int) -> None:
        """Closes a generator; one that is running ends after its next item."""
        stream = self._streams.pop(run, None)
        close = getattr(stream, "close", None)
        if close is not None:
            try:
                close()
            except (ValueError, RuntimeError):
                # It runs on another thread, or goes on after GeneratorExit.
                return


def _run(method: Method, inputs: Tensors) -> Result:
    try:
        return encode_result(method.function(*method.arguments(inputs)), method.described)
    except BaseException as error:
        return _told(error)


def _run_batch(method: Method, calls: tuple[Tensors, ...]) -> list[Result]:
    """Calls whose arguments are alike in shape run at once; where that fails, each runs alone."""
    results: dict[int, Result] = {}
    alike: dict[tuple[Any, ...], list[tuple[int, list[Any]]]] = {}
    for i, inputs in enumerate(calls):
        try:
            leaves = nest.flatten(method.arguments(inputs))
        except OpError as error:
            results[i] = _told(error)
        else:
            alike.setdefault(tuple(map(np.shape, leaves)), []).append((i, leaves))
    for group in alike.values():
        for (i, _), result in zip(group, _run_group(method, [leaves for _, leaves in group]), strict=True):
            results[i] = result
    return [results[i] for i in range(len(calls))]


def _run_group(method: Method, calls: list[list[Any]]) -> list[Result]:
    try:
        stacked = [_stack(leaves) for leaves in zip(*calls, strict=True)]
        result = method.function(*nest.pack_sequence_as(method.input_specs, stacked))
        return _split(method, result, len(calls))
    except BaseException as error:
        if len(calls) == 1:
            return [_told(error)]
    return [_run_group(method, [leaves])[0] for leaves in calls]


def _stack(leaves: tuple[Any, ...]) -> Any:
    if isinstance(leaves[0], bytes) or leaves[0].dtype == object:
        stacked = np.empty((len(leaves), *np.shape(leaves[0])), object)
        for i, leaf in enumerate(leaves):
            stacked[i] = leaf
        return stacked
    return np.stack(leaves)


def _split(method: Method, result: Any, count: int) -> list[Result]:
    """Each call's row of a batch's result."""
    leaves = nest.flatten(result)
    rows = [leaf for leaf in leaves if leaf is not None]
    if any(np.ndim(row) == 0 or len(row) != count for row in rows):
        raise InvalidArgumentError(
            message=f"{method.settings.name} is batched: for {count} calls each tensor that it gives must have {count} "
            f"rows, but their shapes are {[np.shape(row) for row in rows]}."
        )
    return [
        encode_result(
            nest.pack_sequence_as(result, [None if leaf is None else leaf[i] for leaf in leaves]), method.described
        )
        for i in range(count)
    ]


def _told(error: BaseException) -> RpcError:
    """What the caller is told; an error that is not TensorFlow's comes with where it was raised."""
    if isinstance(error, OpError):
        return from_exception(error) if error.error_code else RpcError(Code.UNKNOWN, error.message)
    place = error.__traceback__.tb_next if error.__traceback__ is not None else None
    return from_exception(error, "".join(traceback.format_exception(type(error), error, place)))
