"""Functions, conditions, loops and checkpoints of TensorFlow's clients, on one task and on two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from tests.e2e.clusters import Task, new_cluster, serving  # noqa: E402

pytestmark = [pytest.mark.interop, pytest.mark.xdist_group("tensorflow sessions")]
v1 = tf.compat.v1
PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, Task]]:
    with serving(new_cluster(ps=1, worker=1)) as tasks:
        yield tasks


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(params=[None, PS], ids=["with the master", "elsewhere"])
def place(request: Any) -> Any:
    return tf.device(request.param)


def of(x: Any) -> Any:
    return tf.reduce_sum(x * x)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "call": lambda x: tf.function(of)(x) + 1,
    "call of calls": lambda x: tf.function(lambda y: tf.function(of)(y) + tf.function(of)(y + 1))(x),
    "several results": lambda x: tf.function(lambda y: (y, y + 1, tf.math.top_k(y, 2)))(x),
    "gradient of a call": lambda x: tf.gradients(tf.function(of)(x), x)[0],
    "cond": lambda x: tf.cond(x[0] > 0, lambda: x * 2, lambda: x - 1),
    "nested cond": lambda x: tf.cond(x[0] > 0, lambda: tf.cond(x[1] > 0, lambda: x, lambda: -x), lambda: x * 0),
    "cond of constants": lambda x: tf.cond(x[0] > 0, lambda: tf.constant(1.0), lambda: tf.constant(2.0)),
    "gradient of a cond": lambda x: tf.gradients(tf.cond(x[0] > 0, lambda: of(x), lambda: x[1]), x)[0],
    "while": lambda x: tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 2 + 1), [0, x]),
    "cond in a while": lambda x: tf.while_loop(
        lambda i, y: i < 4, lambda i, y: (i + 1, tf.cond(y[0] > 3, lambda: y - 3, lambda: y + 2)), [0, x]
    ),
    "map": lambda x: tf.function(lambda y: tf.stack([y, y + 1]))(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_values(cluster, place, name):
    x = v1.placeholder(tf.float32, [3])
    with place:
        y = FUNCTIONS[name](x)
    for given in ([1.0, 2.0, 3.0], [-1.0, 2.0, 3.0], [1.0, -2.0, 3.0]):
        with v1.Session(cluster["worker0"].target) as session:
            ours = session.run(y, {x: given})
        with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session, tf.device(None):
            theirs = None if place is None else _locally(name, given)
        for mine, other in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-6)


def _locally(name: str, given: list[float]) -> Any:
    """The values that TensorFlow's own runtime gives."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [3])
        y = FUNCTIONS[name](x)
        with v1.Session() as session:
            return session.run(y, {x: given})


def test_a_condition_changes_state_only_where_it_is_taken(cluster):
    taken = v1.placeholder(tf.bool, [])
    with tf.device(PS):
        v = v1.get_variable("counted", initializer=0.0, use_resource=True)
    with tf.device(WORKER):
        step = tf.cond(taken, lambda: v.assign_add(1.0), lambda: v.assign_add(10.0))
    with v1.Session(cluster["worker0"].target) as session:
        session.run(v.initializer)
        for choice in (True, True, False):
            session.run(step.op if hasattr(step, "op") else step, {taken: choice})
        assert session.run(v) == 12


def test_a_function_uses_variables_where_they_are(cluster):
    with tf.device(PS):
        v = v1.get_variable("weight", initializer=2.0, use_resource=True)

    @tf.function
    def scaled(x: Any) -> Any:
        v.assign_add(1.0)
        return x * v

    with tf.device(WORKER):
        y = scaled(tf.constant(5.0))
    with v1.Session(cluster["worker0"].target) as session:
        session.run(v.initializer)
        assert session.run(y) == 15
        assert session.run(y) == 20


def test_older_control_flow_is_switches_and_merges(cluster):
    v1.disable_control_flow_v2()
    try:
        x = v1.placeholder(tf.float32, [])
        y = v1.cond(x > 0, lambda: x * 2, lambda: x - 1)
        with v1.Session(cluster["worker0"].target) as session:
            assert session.run(y, {x: 3}) == 6
            assert session.run(y, {x: -3}) == -4
    finally:
        v1.enable_control_flow_v2()


def test_a_monitored_session_initializes_and_counts(cluster):
    with tf.device(PS):
        step = v1.train.get_or_create_global_step()
        w = v1.get_variable("monitored", initializer=1.0, use_resource=True)
    with tf.device(WORKER):
        loss = tf.square(w - 3.0)
    training = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    hooks = [v1.train.StopAtStepHook(num_steps=5)]
    with v1.train.MonitoredTrainingSession(cluster["worker0"].target, is_chief=True, hooks=hooks) as session:
        while not session.should_stop():
            session.run(training)
    with v1.Session(cluster["worker0"].target) as later:
        assert later.run(step) == 5
        assert later.run(loss) < 1
