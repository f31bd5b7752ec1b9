"""Every operator of graphs gives what TensorFlow's kernel gives: the type, the shape and the values, or its error."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from tests.interop.array_cases import ARRAYS, FLOW, STRINGS  # noqa: E402
from tests.interop.kernel_cases import ELEMENTWISE, LAYERS, REDUCTIONS, Case, Draw  # noqa: E402
from tfsvc.errors import OpError, to_exception  # noqa: E402
from tfsvc.graph.execution import Execution  # noqa: E402
from tfsvc.graph.planner import GraphPlanner  # noqa: E402
from tfsvc.graph.program import compile_graph  # noqa: E402
from tfsvc.graph.resources import Resources  # noqa: E402
from tfsvc.protocol.cluster.names import Task  # noqa: E402
from tfsvc.protocol.cluster.planning import Places, Signature  # noqa: E402
from tfsvc.protocol.computing import Failure, Finished, Value  # noqa: E402
from tfsvc.wire import tfsvc_pb2 as pb  # noqa: E402
from tfsvc.wire.errors import parse, serialize  # noqa: E402
from tfsvc.wire.tensors import from_proto, to_proto  # noqa: E402

pytestmark = pytest.mark.interop
v1 = tf.compat.v1

CASES: dict[str, list[Case]] = {**ELEMENTWISE, **REDUCTIONS, **LAYERS, **ARRAYS, **STRINGS, **FLOW}
DRAWS = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 6
"""How often each case is drawn for each data type."""
TASK = Task("localhost", 0)

TOLERANCE = {"float64": 1e-13, "float32": 1e-6, "complex64": 1e-6, "float16": 1e-3, "bfloat16": 1e-2}


class Ours:
    """A graph of TensorFlow's on one task of ours, without a server."""

    def __init__(self, graph: Any, fetches: Sequence[str], feeds: Sequence[str], targets: Sequence[str] = ()) -> None:
        planner = GraphPlanner()
        known = planner.extend(None, graph.as_graph_def().SerializeToString())
        signature = Signature(tuple(feeds), tuple(fetches), tuple(targets))
        (self._piece,) = planner.plan(known, signature, Places(TASK, {TASK: 1}))
        self._program = compile_graph(self._piece.graph, "localhost", lambda: 1)

    def run(self, feeds: Sequence[Any], state: Resources | None = None) -> list[Any]:
        """The fetched arrays.

        Raises:
          OpError: if a node fails.
        """
        names = {port.name: port.key for port in self._piece.feeds}
        values = [Value(key, serialize(to_proto(feeds[int(name[1:-2])]))) for name, key in names.items()]
        outcome = Execution(self._program, state or Resources()).run(values)
        if isinstance(outcome.status, Failure):
            raise to_exception(outcome.status.error)
        assert isinstance(outcome.status, Finished), outcome.status
        sent = {value.key: from_proto(parse(pb.TensorProto, value.tensor)) for value in outcome.sent}
        return [sent[port.key] for port in self._piece.fetches]


def build(op: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """An operator on placeholders ``p0``, ``p1``, …; these and its results."""
    if op == "Const":
        return [], [tf.constant(attrs["value"])]
    given: list[Any] = []

    def hold(value: Any) -> Any:
        given.append(v1.placeholder(tf.as_dtype(np.asarray(value).dtype), name=f"p{len(given)}"))
        return given[-1]

    held = [[hold(each) for each in value] if isinstance(value, list) else hold(value) for value in inputs]
    function = getattr(tf.raw_ops, op)
    results = function(**dict(zip(parameters(function), held, strict=False)), **attrs)
    return given, list(results) if isinstance(results, list | tuple) else [results]


def parameters(function: Any) -> list[str]:
    """The names of an operator's inputs, and of its attributes behind them."""
    return list(inspect.signature(function).parameters)


def flat(inputs: Sequence[Any]) -> list[Any]:
    return [each for value in inputs for each in (value if isinstance(value, list) else [value])]


def told(values: Sequence[Any]) -> str:
    return ", ".join(f"{np.asarray(v).dtype}{list(np.shape(v))} {np.asarray(v).tolist()}"[:120] for v in values)


def brief(error: Any) -> str:
    """The line of an error that matters."""
    if not hasattr(error, "message"):
        return told(error)
    lines = [line for line in error.message.splitlines() if line.strip() and "{{node" not in line]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"


def unlike(mine: Any, theirs: Any, loose: float) -> str:
    """In what way two results differ, if they do."""
    mine, theirs = np.asarray(mine), np.array(theirs, object) if isinstance(theirs, bytes) else np.asarray(theirs)
    if theirs.dtype == object or mine.dtype == object:
        return (
            ""
            if mine.shape == theirs.shape and mine.tolist() == theirs.tolist()
            else f"{told([mine])} for {told([theirs])}"
        )
    if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
        return f"{mine.dtype}{list(mine.shape)} for {theirs.dtype}{list(theirs.shape)}"
    tolerance = TOLERANCE.get(theirs.dtype.name)
    if tolerance is None:
        return "" if np.array_equal(mine, theirs) else f"{told([mine])} for {told([theirs])}"
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
    one, other = mine.astype(wide), theirs.astype(wide)
    close = np.allclose(one, other, rtol=tolerance * loose, atol=tolerance * loose, equal_nan=True)
    return "" if close else f"{told([mine])} for {told([theirs])}"


def differences(op: str, case: Case, dtype: str) -> tuple[int, list[str]]:
    """How many draws both sides could be asked for, and where they differed."""
    asked, found = 0, []
    first = case.draw(Draw(0, dtype))
    with tf.Graph().as_default() as graph:
        try:
            given, results = build(op, first, case.attrs)
        except TypeError as error:
            if "not in list of allowed values" in str(error):
                return 0, []
            raise
        names = [result.name for result in results]
        ours: Any = None
        with v1.Session() as session:
            for seed in range(DRAWS):
                inputs = flat(case.draw(Draw(seed, dtype)))
                theirs: Any
                try:
                    theirs = session.run(results, dict(zip(given, inputs, strict=True)))
                except tf.errors.OpError as error:
                    if "No OpKernel" in error.message or "not supported" in error.message:
                        return asked, found
                    theirs = error
                asked += 1
                ours = ours or Ours(graph, names, [placeholder.name for placeholder in given])
                try:
                    mine = ours.run(inputs)
                except OpError as error:
                    if not isinstance(theirs, tf.errors.OpError) or error.error_code != theirs.error_code:
                        found.append(f"{told(inputs)}: {brief(error)} for {brief(theirs)}")
                    continue
                if isinstance(theirs, tf.errors.OpError):
                    found.append(f"{told(inputs)}: {told(mine)} for {brief(theirs)}")
                    continue
                for one, other in zip(mine, theirs, strict=True):
                    how = unlike(one, other, case.loose)
                    if how:
                        found.append(f"{told(inputs)}: {how}")
    return asked, found


@pytest.mark.parametrize("op", sorted(CASES))
def test_an_operator_gives_what_tensorflow_gives(op):
    total, problems = 0, []
    for case in CASES[op]:
        for dtype in case.dtypes:
            asked, found = differences(op, case, dtype)
            total += asked
            problems += [f"{dtype} {case.attrs or ''} {each}" for each in found]
    assert total, "TensorFlow could not be asked"
    assert not problems, "\n".join(problems[:6])
