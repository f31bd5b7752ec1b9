"""Operators that read and write variables leave in them what TensorFlow's leave there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from tests.interop.kernel_cases import Draw  # noqa: E402
from tests.interop.test_kernels_like_tensorflow import Ours, parameters, unlike  # noqa: E402
from tfsvc.errors import OpError  # noqa: E402
from tfsvc.graph.resources import Resources  # noqa: E402

pytestmark = pytest.mark.interop
v1 = tf.compat.v1
raw = tf.raw_ops
STEPS = 3


@dataclass(frozen=True)
class Update:
    """An operator that changes variables.

    Attributes:
      variables: how many; the first is of the model, the others are slots, which hold positive numbers.
      values: what else it takes.
      attrs: of the operator.
      refs: whether there is one for reference variables, too.
      dtypes: what it is tried with.
      loose: by how much more than rounding results may differ.
    """

    variables: int
    values: Callable[[Draw], Sequence[Any]]
    attrs: tuple[tuple[str, Any], ...] = ()
    refs: bool = True
    dtypes: tuple[str, ...] = ("float32", "float64")
    loose: float = 16


ROWS = (4, 3)


def grad(d: Draw) -> Any:
    return d.array(ROWS)


def part(d: Draw) -> Any:
    return d.array((3, 3))


def rows(d: Draw) -> Any:
    """Some of them there twice, and now and then one that is not there."""
    return d.below(4, (3,)) + np.int32(d.rng.random() < 0.05)


def number(d: Draw, low: float = 0.05, high: float = 0.95) -> Any:
    return np.asarray(d.rng.uniform(low, high)).astype(d.dtype)


def numbers(count: int) -> Callable[[Draw], list[Any]]:
    return lambda d: [number(d) for _ in range(count)]


def dense(before: int, after: int = 0) -> Callable[[Draw], list[Any]]:
    return lambda d: [*numbers(before)(d), grad(d), *numbers(after)(d)]


def sparse(before: int, after: int = 0) -> Callable[[Draw], list[Any]]:
    return lambda d: [*numbers(before)(d), part(d), rows(d), *numbers(after)(d)]


def ftrl(*first: Callable[[Draw], Any]) -> Callable[[Draw], list[Any]]:
    return lambda d: [
        *(f(d) for f in first),
        number(d),
        number(d, 0, 0.3),
        number(d, 0, 0.3),
        np.asarray(-0.5, d.dtype),
    ]


NESTEROV = (("use_nesterov", True),)
UPDATES: dict[str, list[Update]] = {
    "ApplyGradientDescent": [Update(1, dense(1), dtypes=("float32", "float64", "float16"))],
    "ApplyMomentum": [Update(2, dense(1, 1), attrs) for attrs in ((), NESTEROV)],
    "ApplyKerasMomentum": [Update(2, dense(1, 1), attrs, refs=False) for attrs in ((), NESTEROV)],
    "ApplyAdagrad": [Update(2, dense(1)), Update(2, dense(1), (("update_slots", False),))],
    "ApplyAdagradV2": [Update(2, dense(2))],
    "ApplyAdam": [Update(3, dense(6), attrs, loose=64) for attrs in ((), NESTEROV)],
    "ApplyRMSProp": [Update(3, dense(4))],
    "ApplyCenteredRMSProp": [Update(4, lambda d: [*numbers(3)(d), np.asarray(200, d.dtype), grad(d)])],
    "ApplyAdadelta": [Update(3, dense(3))],
    "ApplyFtrl": [Update(3, ftrl(grad), loose=64)],
    "SparseApplyMomentum": [Update(2, sparse(1, 1), attrs) for attrs in ((), NESTEROV)],
    "SparseApplyKerasMomentum": [Update(2, sparse(1, 1), refs=False)],
    "SparseApplyAdagrad": [Update(2, sparse(1)), Update(2, sparse(1), (("update_slots", False),))],
    "SparseApplyAdagradV2": [Update(2, sparse(2))],
    "SparseApplyRMSProp": [Update(3, sparse(4))],
    "SparseApplyCenteredRMSProp": [Update(4, lambda d: [*numbers(3)(d), np.asarray(200, d.dtype), part(d), rows(d)])],
    "SparseApplyAdadelta": [Update(3, sparse(3))],
    "SparseApplyFtrl": [Update(3, ftrl(part, rows), loose=64)],
    **{
        f"Scatter{how}": [Update(1, lambda d: [rows(d), part(d)], dtypes=("float32", "int32"))]
        for how in ("Add", "Sub", "Update")
    },
    **{
        f"Assign{how}": [Update(1, lambda d: [grad(d)], dtypes=("float32", "float16", "int64"))]
        for how in ("", "Add", "Sub")
    },
}


def named(update: str, resource: bool) -> str:
    if not resource:
        return update
    return f"{update}VariableOp" if update.startswith("Assign") else f"Resource{update}"


def outcomes(name: str, update: Update, resource: bool, seed: int, dtype: str) -> tuple[Any, Any]:
    """The variables after some steps on each side; an error's code where a step failed."""
    d = Draw(seed, dtype)
    start = [d.array(ROWS), *(d.array(ROWS, positive=True) for _ in range(update.variables - 1))]
    with tf.Graph().as_default() as graph:
        if resource:
            held = [raw.VarHandleOp(dtype=dtype, shape=ROWS, shared_name=f"v{i}") for i in range(update.variables)]
            init = [raw.AssignVariableOp(resource=h, value=value) for h, value in zip(held, start, strict=True)]
            reads = [raw.ReadVariableOp(resource=h, dtype=dtype) for h in held]
        else:
            held = [raw.VariableV2(dtype=dtype, shape=ROWS, shared_name=f"v{i}") for i in range(update.variables)]
            init = [raw.Assign(ref=h, value=value).op for h, value in zip(held, start, strict=True)]
            reads = [raw.Identity(input=h) for h in held]
        taken = [
            v1.placeholder(dtype if np.asarray(v).dtype != np.int32 else "int32", name=f"p{i}")
            for i, v in enumerate(update.values(d))
        ]
        function = getattr(raw, named(name, resource))
        changed = function(**dict(zip(parameters(function), [*held, *taken], strict=False)), **dict(update.attrs))
        target = changed if isinstance(changed, tf.Operation) else changed.op
        feeds = [[np.asarray(v) for v in update.values(d)] for _ in range(STEPS)]
        theirs: Any
        with v1.Session() as session:
            session.run(init)
            try:
                for given in feeds:
                    session.run(target, dict(zip(taken, given, strict=True)))
                theirs = session.run(reads)
            except tf.errors.OpError as error:
                theirs = error.error_code
        state = Resources()
        Ours(graph, (), (), [each.name for each in init]).run([], state)
        step = Ours(graph, (), [each.name for each in taken], [target.name])
        try:
            for given in feeds:
                step.run(given, state)
            mine: Any = Ours(graph, [each.name for each in reads], ()).run([], state)
        except OpError as error:
            mine = error.error_code
        return mine, theirs


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_leaves_what_tensorflow_leaves(name):
    for update in UPDATES[name]:
        for resource in (True, False) if update.refs else (True,):
            for dtype in update.dtypes:
                for seed in range(3):
                    mine, theirs = outcomes(name, update, resource, seed, dtype)
                    where = f"{named(name, resource)} {update.attrs} {dtype} seed {seed}"
                    if isinstance(mine, int) or isinstance(theirs, int):
                        assert mine == theirs, where
                        continue
                    for one, other in zip(mine, theirs, strict=True):
                        assert not unlike(one, other, update.loose), f"{where}: {unlike(one, other, update.loose)}"
