"""A session of TensorFlow's on our servers: parameter servers, state, errors, faults."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from tests.e2e.clusters import Cluster, Task, new_cluster, serving  # noqa: E402

pytestmark = [pytest.mark.interop, pytest.mark.xdist_group("tensorflow sessions")]
v1 = tf.compat.v1
X = np.array([[1, 2], [3, 1], [0, 1], [2, 2]], np.float32)
Y = X @ np.array([[2], [-1]], np.float32) + np.float32(0.5)
PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture(scope="module")
def cluster() -> Iterator[dict[str, Task]]:
    with serving(new_cluster(ps=1, worker=1)) as tasks:
        yield tasks


@pytest.fixture(scope="module")
def tensorflows() -> dict[str, str]:
    """The targets of a cluster of TensorFlow's own servers in this process."""
    addresses: Cluster = new_cluster(ps=1, worker=1)
    return {f"{job}0": tf.distribute.Server(addresses, job, 0).target for job in addresses}


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
    "adam": lambda: v1.train.AdamOptimizer(0.1),
    "momentum": lambda: v1.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.5),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.01, momentum=0.5),
}


def train(target: str, optimizer: str, resource: bool) -> Any:
    """A linear model with its variables on the parameter server and its sums on the worker, for 60 steps."""
    with tf.Graph().as_default():
        with tf.device(PS):
            zeros = v1.zeros_initializer()
            w = v1.get_variable("w", [2, 1], initializer=zeros, use_resource=resource)
            b = v1.get_variable("b", [1], initializer=zeros, use_resource=resource)
            step = v1.train.get_or_create_global_step()
        with tf.device(WORKER):
            x, y = v1.placeholder(tf.float32, [None, 2]), v1.placeholder(tf.float32, [None, 1])
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        training = OPTIMIZERS[optimizer]().minimize(loss, global_step=step)
        with v1.Session(target) as session:
            session.run(v1.global_variables_initializer())
            losses = [session.run([loss, training], {x: X, y: Y})[0] for _ in range(60)]
            return [losses, *session.run([w, b, step])]


@pytest.mark.parametrize("resource", [True, False], ids=["resource", "reference"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_parameter_server_trains_to_the_same_values(cluster, tensorflows, optimizer, resource):
    ours = train(cluster["worker0"].target, optimizer, resource)
    theirs = train(tensorflows["worker0"], optimizer, resource)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-4, atol=1e-6)
    assert ours[0][-1] < ours[0][0] / 5


def test_a_small_network_learns(cluster):
    rng = np.random.default_rng(1)
    features = rng.normal(size=(64, 4)).astype(np.float32)
    labels = (features.sum(1) > 0).astype(np.int64)
    x, y = v1.placeholder(tf.float32, [None, 4]), v1.placeholder(tf.int64, [None])
    with tf.device(PS):
        w1 = v1.get_variable("w1", [4, 16], initializer=v1.truncated_normal_initializer(stddev=0.3, seed=1))
        w2 = v1.get_variable("w2", [16, 2], initializer=v1.glorot_uniform_initializer(seed=2))
    logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    training = v1.train.AdamOptimizer(0.05).minimize(loss)
    with v1.Session(cluster["worker0"].target) as session:
        session.run(v1.global_variables_initializer())
        for _ in range(60):
            session.run(training, {x: features, y: labels})
        assert session.run(right, {x: features, y: labels}) > 0.95


def test_variables_outlive_sessions_and_are_seen_through_every_master(cluster):
    with tf.device(PS):
        v = v1.get_variable("shared", initializer=3.0, use_resource=True)
    add = v.assign_add(2.0)
    with v1.Session(cluster["worker0"].target) as session:
        session.run(v.initializer)
        assert session.run(add) == 5
    with v1.Session(cluster["ps0"].target) as session:
        assert session.run(v) == 5


def test_isolated_sessions_have_variables_of_their_own(cluster):
    v = v1.get_variable("isolated", initializer=1.0, use_resource=True)
    config = v1.ConfigProto(isolate_session_state=True)
    with v1.Session(cluster["worker0"].target, config=config) as one, v1.Session(cluster["worker0"].target) as other:
        one.run(v.initializer)
        assert one.run(v) == 1
        with pytest.raises(tf.errors.FailedPreconditionError, match="isolated"):
            other.run(v)


def test_devices_are_those_of_all_tasks_or_of_the_filtered_ones(cluster):
    names = [f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker")]
    with v1.Session(cluster["worker0"].target) as session:
        devices = session.list_devices()
        assert sorted(d.name for d in devices) == names
        assert {d.device_type for d in devices} == {"CPU"}
    config = v1.ConfigProto(device_filters=["/job:worker"])
    with v1.Session(cluster["worker0"].target, config=config) as session:
        assert [d.name for d in session.list_devices()] == names[1:]


def test_a_graph_may_grow_between_steps(cluster):
    a = tf.constant(2.0)
    with v1.Session(cluster["worker0"].target) as session:
        assert session.run(a) == 2
        with tf.device(PS):
            b = a * 3
        assert session.run([a, b, b]) == [2, 6, 6]


def test_fetches_feeds_and_callables(cluster):
    p = v1.placeholder(tf.float32, [None], name="p")
    s = v1.placeholder(tf.string, name="s")
    doubled = p * 2
    with v1.Session(cluster["worker0"].target) as session:
        got = session.run({"a": (doubled, [s]), "b": p}, {p: [1, 2], s: [b"x", b"\x00y" * 50]})
        np.testing.assert_array_equal(got["a"][0], [2, 4])
        assert list(got["a"][1][0]) == [b"x", b"\x00y" * 50]
        assert session.run(doubled + 1, {doubled: [7]}) == [8], "any tensor can be fed"
        double = session.make_callable(doubled, [p])
        np.testing.assert_array_equal(double([4]), [8])
        metadata = v1.RunMetadata()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        np.testing.assert_array_equal(session.run(doubled, {p: [1]}, options, metadata), [2])


def test_large_tensors_go_both_ways(cluster):
    big = np.arange(6_000_000, dtype=np.float32)
    with tf.device(PS):
        p = v1.placeholder(tf.float32, [None])
        doubled = p * 2
    with v1.Session(cluster["worker0"].target) as session:
        np.testing.assert_array_equal(session.run(doubled, {p: big}), big * 2)
        np.testing.assert_array_equal(session.run(tf.constant(big) + 1), big + 1)


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (
            lambda: v1.placeholder(tf.float32, name="q") + 1,
            "InvalidArgumentError",
            "You must feed a value for placeholder",
        ),
        (lambda: tf.constant(1) // v1.placeholder_with_default(0, []), "InvalidArgumentError", "division by zero"),
        (lambda: tf.matmul(*(v1.placeholder_with_default(X, None),) * 2), "InvalidArgumentError", "size-incompatible"),
        (lambda: v1.get_variable("never", initializer=1.0, use_resource=True), "FailedPreconditionError", "never"),
        (
            lambda: v1.get_variable("none", initializer=1.0, use_resource=False),
            "FailedPreconditionError",
            "uninitialized value none",
        ),
        (lambda: tf.reshape(v1.placeholder_with_default(X, None), [3]), "InvalidArgumentError", "8 values"),
        (lambda: tf.gather(X, v1.placeholder_with_default([9], [1])), "InvalidArgumentError", "not in"),
    ],
)
def test_errors_of_a_step_keep_their_code_and_name_the_node(cluster, build, error, text):
    with tf.device(PS):
        failing = build()
    with (
        v1.Session(cluster["worker0"].target) as session,
        pytest.raises(getattr(tf.errors, error), match=text) as caught,
    ):
        session.run(failing)
    assert "From /job:ps/replica:0/task:0" in caught.value.message
    assert "{{node" in caught.value.message


def test_a_device_that_is_not_there_fails_every_step_unless_placement_is_soft(cluster):
    good = tf.constant(1.0)
    with tf.device("/job:ps/task:7"):
        tf.constant(2.0, name="misplaced")
    with (
        v1.Session(cluster["worker0"].target) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="misplaced}} was explicitly assigned to"),
    ):
        session.run(good)
    with tf.Graph().as_default(), tf.device("/gpu:3"):
        anywhere = tf.constant(4.0)
        with v1.Session(cluster["worker0"].target, config=v1.ConfigProto(allow_soft_placement=True)) as session:
            assert session.run(anywhere) == 4


def test_reset_clears_containers_on_all_tasks_and_closes_sessions(cluster):
    target = cluster["worker0"].target
    with tf.device(PS):
        with tf.Graph().as_default():
            pass
        with v1.get_default_graph().container("box"):
            boxed = v1.get_variable("boxed", initializer=1.0, use_resource=True)
        kept = v1.get_variable("kept", initializer=2.0, use_resource=True)
    session = v1.Session(target)
    session.run([boxed.initializer, kept.initializer])
    v1.Session.reset(target, ["box"])
    with pytest.raises(tf.errors.AbortedError, match="is not found"):
        session.run(kept)
    with v1.Session(target) as later:
        assert later.run(kept) == 2
        with pytest.raises(tf.errors.FailedPreconditionError, match="boxed"):
            later.run(boxed)
    v1.Session.reset(target)
    with v1.Session(target) as later, pytest.raises(tf.errors.FailedPreconditionError, match="kept"):
        later.run(kept)


def test_queues_let_steps_of_two_sessions_wait_for_each_other(cluster):
    with tf.device(PS):
        queue = v1.FIFOQueue(2, [tf.int32], shared_name="work")
    put, take = queue.enqueue(v1.placeholder_with_default(5, [])), queue.dequeue()
    size = queue.size()
    with v1.Session(cluster["worker0"].target) as one, v1.Session(cluster["ps0"].target) as other:
        got: list[Any] = []
        waiting = threading.Thread(target=lambda: got.append(one.run(take)))
        waiting.start()
        time.sleep(0.3)
        assert not got
        other.run(put)
        waiting.join(10)
        assert got == [5]
        with pytest.raises(tf.errors.DeadlineExceededError):
            one.run(take, options=v1.RunOptions(timeout_in_ms=300))
        # The deadline passes at client and master at once: a later step of the same master is behind the end.
        time.sleep(0.3)
        assert one.run(size) == 0
        other.run(put)
        assert one.run(size) == 1, "the step that was given up took nothing"
        other.run(queue.close())
        assert one.run(take) == 5
        with pytest.raises(tf.errors.OutOfRangeError, match="closed"):
            one.run(take)


def test_closing_a_session_cancels_its_step(cluster):
    take = v1.FIFOQueue(2, [tf.int32], shared_name="empty").dequeue()
    session = v1.Session(cluster["worker0"].target)
    errors: list[Any] = []

    def wait() -> None:
        try:
            session.run(take)
        except tf.errors.OpError as error:
            errors.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.5)
    session.close()
    waiting.join(10)
    assert isinstance(errors[0], tf.errors.CancelledError)
    assert "Session::Close" in errors[0].message


def asynchronous_training(worker: int) -> Any:
    """A network whose variables are spread over two parameter servers, as TensorFlow's own device setter does it."""
    with tf.Graph().as_default() as graph:
        setter = v1.train.replica_device_setter(ps_tasks=2, worker_device=f"/job:worker/task:{worker}")
        with v1.device(setter):
            x, y = v1.placeholder(tf.float32, [None, 2], "x"), v1.placeholder(tf.float32, [None, 1], "y")
            w1 = v1.get_variable("w1", [2, 8], initializer=v1.glorot_uniform_initializer(seed=1))
            w2 = v1.get_variable("w2", [8, 1], initializer=v1.glorot_uniform_initializer(seed=2))
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2) - y))
            step = v1.train.get_or_create_global_step()
            optimizer = v1.train.AdamOptimizer(0.02)
            gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
            clipped, _ = tf.clip_by_global_norm(gradients, 5.0)
            training = optimizer.apply_gradients(zip(clipped, variables, strict=True), global_step=step)
        return graph, loss, training, step, v1.global_variables_initializer()


def test_two_workers_train_on_two_parameter_servers_at_once():
    with serving(new_cluster(ps=2, worker=2)) as tasks:
        ready = threading.Event()
        losses: dict[int, list[float]] = {}

        def work(worker: int) -> None:
            graph, loss, training, step, init = asynchronous_training(worker)
            with v1.Session(tasks[f"worker{worker}"].target, graph=graph) as session:
                if worker == 0:
                    session.run(init)
                    ready.set()
                assert ready.wait(30)
                losses[worker] = [session.run([loss, training], {"x:0": X, "y:0": Y})[0] for _ in range(40)]
                steps.append(int(session.run(step)))

        steps: list[int] = []
        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert max(steps) == 80, "every step of both is counted"
    assert all(seen[-1] < seen[0] / 2 for seen in losses.values())
