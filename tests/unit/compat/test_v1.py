"""Graphs and sessions of our own, on a server within the process."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfsvc as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with v1.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph: Any) -> Iterator[Any]:
    with v1.Session() as session:
        yield session


A = np.array([[1.5, -2.0], [0.25, 4.0]], np.float32)


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda x: x + 1.0, A + 1),
        (lambda x: 2.0 - x, 2 - A),
        (lambda x: x * x / 2.0, A * A / 2),
        (lambda x: x // 1.0, A // 1),
        (lambda x: x % 2.0, A % 2),
        (lambda x: abs(-x) ** 2.0, A**2),
        (lambda x: x @ x, A @ A),
        (lambda x: np.float32(3) * x, 3 * A),
        (lambda x: (x > 0.0) & ~(x >= 4.0), (A > 0) & ~(A >= 4)),
        (lambda x: v1.where(x < 0.0, x, v1.zeros_like(x)), np.where(A < 0, A, 0)),
        (lambda x: v1.reduce_sum(x, axis=1, keepdims=True), A.sum(1, keepdims=True)),
        (lambda x: v1.reduce_mean(x), A.mean()),
        (lambda x: v1.argmax(x, axis=1), A.argmax(1)),
        (lambda x: v1.cast(x, tf.int64), A.astype(np.int64)),
        (lambda x: v1.reshape(x, [-1]), A.reshape(-1)),
        (lambda x: v1.transpose(x), A.T),
        (lambda x: v1.concat([x, x], 0), np.concatenate([A, A])),
        (lambda x: v1.stack([x, x], axis=1), np.stack([A, A], 1)),
        (lambda x: v1.unstack(x, 2)[1], A[1]),
        (lambda x: v1.gather(x, [1, 0]), A[[1, 0]]),
        (lambda x: v1.slice(x, [0, 1], [-1, 1]), A[:, 1:]),
        (lambda x: v1.expand_dims(v1.squeeze(v1.expand_dims(x, 0)), -1), A[..., None]),
        (lambda x: v1.tile(x, [1, 2]), np.tile(A, (1, 2))),
        (lambda x: v1.one_hot([1, 0], 3), np.eye(3, dtype=np.float32)[[1, 0]]),
        (lambda x: v1.shape(x), np.array([2, 2], np.int32)),
        (lambda x: v1.range(1, 7, 2), np.array([1, 3, 5], np.int32)),
        (lambda x: v1.nn.relu(x), np.maximum(A, 0)),
        (lambda x: v1.add_n([x, x, x]), 3 * A),
    ],
)
def test_operators(session, build, value):
    got = session.run(build(v1.constant(A)))
    assert got.dtype == value.dtype
    np.testing.assert_allclose(got, value, rtol=1e-6)


def test_constants_have_tensorflows_types(session):
    kinds = [v1.constant(v).dtype.name for v in (1, 1.0, True, "a", np.float64(1), [np.int64(1)], [1, 2.5])]
    assert kinds == ["int32", "float32", "bool", "string", "float64", "int64", "float32"]
    assert session.run(v1.constant(7, shape=[2, 2])).tolist() == [[7, 7], [7, 7]]
    assert session.run(v1.constant(["a", b"\xff\x00"])).tolist() == [b"a", b"\xff\x00"]
    with pytest.raises(TypeError, match="Cannot convert"):
        v1.constant(1.5, tf.int32)


def test_types_do_not_mix():
    with pytest.raises(TypeError, match="not of data type int32"):
        v1.constant(1) + v1.constant(1.0)
    with pytest.raises(TypeError, match="no value before a session runs it"):
        bool(v1.constant(True))


def test_nests_of_fetches_come_back_as_they_were(session):
    Pair = namedtuple("Pair", "a b")
    c, idle = v1.constant(2), v1.no_op()
    got = session.run(Pair([c, (idle,)], {"x": c, "y": "Const:0"}))
    assert got == Pair([2, (None,)], {"x": 2, "y": 2})
    assert isinstance(got.a[0], np.int32)
    assert session.run([]) == []


def test_feeds_are_converted_and_checked(session):
    p = v1.placeholder(tf.float32, [None, 2], name="p")
    doubled = p * 2.0
    assert session.run(doubled, {p: [[1, 2]]}).tolist() == [[2, 4]]
    assert session.run(doubled, {"p:0": [[1, 2]]}).tolist() == [[2, 4]]
    assert session.run(p, {p: [[1, 2]]}).tolist() == [[1, 2]], "what is fed can be fetched"
    assert session.run(doubled + 1.0, {doubled: [[5, 5]]}).tolist() == [[6, 6]]
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(2,\)"):
        session.run(doubled, {p: [1, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'p'"):
        session.run(doubled)
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
        session.run(doubled, {doubled.op: 1})


@pytest.mark.parametrize(
    ("fetch", "error"), [(5, TypeError), (None, TypeError), ("none:0", ValueError), ("none", ValueError)]
)
def test_what_cannot_be_fetched(session, fetch, error):
    with pytest.raises(error, match="fetch"):
        session.run(fetch)


def test_tensors_of_another_graph_are_refused(session):
    with v1.Graph().as_default():
        other = v1.constant(1)
    with pytest.raises(ValueError, match="not an element of this graph"):
        session.run(other)
    with pytest.raises(ValueError, match="must be from the same graph"):
        v1.constant(1) + other


def test_variables(session):
    v = v1.Variable(A, name="v")
    with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
        session.run(v)
    session.run(v1.global_variables_initializer())
    np.testing.assert_array_equal(session.run(v), A)
    np.testing.assert_array_equal(session.run(v.assign_add(A)), 2 * A)
    np.testing.assert_array_equal(session.run(v1.assign_sub(v, A)), A)
    np.testing.assert_array_equal(session.run(v + 1.0), A + 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        session.run(v.assign_add([1.0]))
    v.load(3 * A, session)
    np.testing.assert_array_equal(v.eval(session), 3 * A)
    assert session.run(v.is_initialized())
    with pytest.raises(ValueError, match="already exists"):
        v1.get_variable("v", [1])
    with pytest.raises(ValueError, match="fully defined"):
        v1.get_variable("w", [None])


def test_running_adds_nothing_to_the_graph(graph, session):
    v = v1.Variable(1, name="v")
    session.run(v.initializer)
    count = len(graph.operations)
    for _ in range(3):
        session.run([v, {"v": v}])
        v.load(2, session)
    assert len(graph.operations) == count


def test_control_dependencies_order_effects(session):
    v = v1.Variable(1, name="v")
    session.run(v.initializer)
    with v1.control_dependencies([v.assign(5)]):
        after = v.value() * 2
    assert session.run(after) == 10


def test_names_scopes_and_devices(graph):
    with v1.name_scope("layer"), v1.device("/job:ps"), v1.device("/task:1/cpu:0"):
        a, b = v1.constant(1, name="c"), v1.constant(1, name="c")
    assert (a.name, b.name) == ("layer/c:0", "layer/c_1:0")
    assert a.device == "/job:ps/task:1/device:CPU:0"
    assert graph.get_tensor_by_name("layer/c:0") is a
    with pytest.raises(KeyError, match="not in the graph"):
        graph.get_operation_by_name("x")
    with pytest.raises(ValueError, match="Malformed device"), v1.device("somewhere"):
        pass


def test_a_session_that_is_closed_runs_nothing(graph):
    session = v1.Session()
    c = v1.constant(1)
    assert session.run(c) == 1
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(c)


def test_default_sessions(session):
    c = v1.constant(4)
    assert c.eval() == 4
    assert v1.get_default_session() is session
    assert session.make_callable(c)() == 4
    with v1.Graph().as_default(), pytest.raises(ValueError, match="not an element"):
        v1.constant(1).eval()


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("grpc://nonsense", tf.errors.InvalidArgumentError),
        ("grpc://", tf.errors.InvalidArgumentError),
        ("foo://x", tf.errors.NotFoundError),
        ("localhost:1", tf.errors.NotFoundError),
    ],
)
def test_targets_that_are_none(target, error):
    with pytest.raises(error):
        v1.Session(target)


def test_arguments_of_other_types():
    with pytest.raises(TypeError, match="graph"):
        v1.Session("", graph=5)
    with pytest.raises(TypeError, match="ConfigProto"):
        v1.Session("", config=5)
    with v1.Session() as session, pytest.raises(TypeError, match="RunOptions"):
        session.run(v1.constant(1), options=5)


def test_queues(session):
    queue = v1.FIFOQueue(3, [tf.int32, tf.string])
    session.run(queue.enqueue([1, "a"]))
    session.run(queue.enqueue_many([[2, 3], ["b", "c"]]))
    assert session.run(queue.size()) == 3
    numbers, texts = session.run(queue.dequeue_many(2))
    assert (numbers.tolist(), texts.tolist()) == ([1, 2], [b"a", b"b"])
    session.run(queue.close())
    assert session.run(queue.dequeue()) == [3, b"c"]
    with pytest.raises(tf.errors.OutOfRangeError, match="closed"):
        session.run(queue.dequeue())
    with pytest.raises(ValueError, match="2 components"):
        queue.enqueue([1])


def test_reset_clears_a_container():
    with tf.distribute.Server.create_local_server() as server:
        with v1.container("box"):
            boxed = v1.Variable(1, name="boxed")
        kept = v1.Variable(2, name="kept")
        session = v1.Session(server.target)
        session.run([boxed.initializer, kept.initializer])
        v1.Session.reset(server.target, ["box"])
        with pytest.raises(tf.errors.AbortedError):
            session.run(kept)
        session.close()
        with v1.Session(server.target) as later:
            assert later.run(kept) == 2
            with pytest.raises(tf.errors.FailedPreconditionError):
                later.run(boxed)
