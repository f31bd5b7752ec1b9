"""Operators: a session of TensorFlow's gets from our server what it gets from its own runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from tests.e2e.clusters import serving  # noqa: E402

pytestmark = pytest.mark.interop
v1 = tf.compat.v1

A = np.array([[1.5, -2.0, 0.0], [4.0, 0.25, -7.5]], np.float32)
B = np.array([[2.0, 3.0, -1.0], [0.5, 4.0, 2.5]], np.float32)
I = np.array([[7, -7, 3], [2, 9, -4]], np.int32)  # noqa: E741
J = np.array([[2, 2, -2], [5, 3, 3]], np.int32)


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with serving({"localhost": ["localhost:0"]}) as tasks:
        yield tasks["localhost0"].target


def both(target: str, build: Callable[[], Any], feed: dict[str, Any] | None = None) -> tuple[Any, Any]:
    """The values from our server, and from TensorFlow."""
    with tf.Graph().as_default():
        fetches = build()
        with v1.Session(target) as session:
            ours = session.run(fetches, feed)
        with v1.Session() as session:
            theirs = session.run(fetches, feed)
    return ours, theirs


def the_same(ours: Any, theirs: Any, exactly: bool = False) -> None:
    for mine, other in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        assert np.asarray(mine).dtype == np.asarray(other).dtype
        assert np.shape(mine) == np.shape(other)
        if np.asarray(mine).dtype.kind in "fc" and not exactly:
            np.testing.assert_allclose(mine, other, rtol=2e-6, atol=1e-6)
        else:
            np.testing.assert_array_equal(mine, other)


def variables(resource: bool) -> Any:
    """Every way to write a variable, one after the other."""
    v = v1.get_variable("v", initializer=A, use_resource=resource)
    steps = [
        lambda: v1.assign(v, B),
        lambda: v1.assign_add(v, A),
        lambda: v1.assign_sub(v, 2 * B),
        lambda: v1.scatter_add(v, [1, 1], A),
        lambda: v1.scatter_update(v, [0], B[1:]),
    ]
    out, before = [], [v.initializer]
    for step in steps:
        with tf.control_dependencies(before):
            changed = step() + 0  # an identity of a reference may show what is written later
        out.append(changed)
        before = [changed]
    return out


CASES: dict[str, Callable[[], Any]] = {
    "arithmetic": lambda: [
        A + tf.constant(B),
        tf.constant(A) - B,
        tf.constant(A) * B,
        tf.constant(A) / B,
        -tf.constant(A),
    ],
    "division": lambda: [tf.constant(I) // J, tf.math.mod(I, J), tf.truncatediv(I, J), tf.truncatemod(I, J)],
    "float division": lambda: [
        tf.constant(A) // B,
        tf.math.floormod(A, B),
        tf.math.divide_no_nan(A, A * 0),
        tf.constant(I) / J,
    ],
    "roots": lambda: [
        tf.sqrt(B),
        tf.math.rsqrt(abs(B)),
        tf.square(A),
        tf.exp(A),
        tf.math.log(abs(B)),
        tf.math.log1p(abs(A)),
    ],
    "roundings": lambda: [tf.floor(A), tf.math.ceil(A), tf.round(A), tf.math.rint(A), tf.sign(A), tf.abs(I)],
    "powers": lambda: [tf.pow(tf.abs(B), 1.5), tf.pow(I, 2), tf.math.squared_difference(A, B)],
    "squashed": lambda: [
        tf.sigmoid(A),
        tf.tanh(A),
        tf.nn.softplus(A),
        tf.nn.softsign(A),
        tf.nn.elu(A),
        tf.nn.leaky_relu(A),
    ],
    "trigonometry": lambda: [tf.sin(A), tf.cos(A), tf.tan(A), tf.atan(A), tf.math.erf(A)],
    "comparisons": lambda: [
        tf.constant(A) > B,
        tf.less_equal(A, B),
        tf.equal(I, J),
        tf.not_equal(I, J),
        tf.maximum(A, B),
    ],
    "logic": lambda: [
        tf.logical_and(A > 0, B > 0),
        tf.logical_or(A > 0, B > 0),
        tf.logical_not(A > 0),
        tf.reduce_any(A > 0),
    ],
    "choices": lambda: [
        tf.where(A > 0, A, B),
        tf.where(A > 0),
        v1.where(np.array([True, False]), A, B),
        tf.clip_by_value(A, -1, 1),
    ],
    "matrices": lambda: [
        tf.matmul(A, B, transpose_b=True),
        tf.matmul(A, B, transpose_a=True),
        tf.einsum("ij,kj->ik", A, B),
    ],
    "batches": lambda: tf.matmul(tf.stack([A, B]), tf.stack([B, A]), transpose_b=True),
    "reductions": lambda: [
        f(A, axis=a, keepdims=k)
        for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min, tf.reduce_prod)
        for a in (None, 0, [0, 1], -1)
        for k in (True, False)
    ],
    "integer reductions": lambda: [
        tf.reduce_sum(I),
        tf.reduce_mean(I),
        tf.reduce_max(I, 0),
        tf.argmax(A, 1),
        tf.argmin(A, 0, output_type=tf.int32),
    ],
    "cumulative": lambda: [tf.cumsum(A, 1), tf.cumsum(A, 1, exclusive=True, reverse=True), tf.math.cumprod(A, 0)],
    "shapes": lambda: [
        tf.shape(A),
        tf.shape(A, tf.int64),
        tf.size(A),
        tf.rank(A),
        tf.reshape(A, [3, -1]),
        tf.transpose(A),
        tf.expand_dims(A, 1),
        tf.squeeze(A[None], 0),
    ],
    "pieces": lambda: [
        tf.concat([A, B], 1),
        tf.stack([A, B], 1),
        tf.unstack(A),
        tf.split(A, 3, 1),
        tf.split(A, [1, -1], 1),
        tf.tile(A, [2, 1]),
        tf.pad(A, [[1, 0], [0, 2]]),
    ],
    "slices": lambda: [
        tf.constant(A)[1],
        tf.constant(A)[:, ::-1],
        tf.constant(A)[..., None, 1:],
        tf.constant(A)[-1, -2:],
        tf.slice(A, [0, 1], [-1, 2]),
    ],
    "gathered": lambda: [
        tf.gather(A, [1, 0, 1]),
        tf.gather(A, [2, 0], axis=1),
        tf.gather_nd(A, [[0, 1], [1, 2]]),
        tf.scatter_nd([[1], [1]], [2.0, 3.0], [3]),
    ],
    "filled": lambda: [
        tf.zeros([2, 0]),
        tf.ones_like(I),
        tf.fill([2], "x"),
        tf.range(1, 9, 3),
        tf.linspace(0.0, 1.0, 5),
        tf.one_hot([1, -1], 3),
        tf.eye(2),
    ],
    "casts": lambda: [
        tf.cast(A, tf.int32),
        tf.cast(I, tf.float64),
        tf.cast(A, tf.bool),
        tf.cast(A, tf.float16),
        tf.cast(A, tf.bfloat16),
    ],
    "softmax": lambda: [
        tf.nn.softmax(A),
        tf.nn.log_softmax(A),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=A),
        tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(B), logits=A),
        tf.nn.bias_add(A, B[0]),
        tf.nn.relu(A),
        tf.nn.relu6(A),
    ],
    "strings": lambda: [
        tf.strings.join(["a", ["b", "c"]], "-"),
        tf.strings.length(["", "abc"]),
        tf.constant(["a", "b" * 100]),
        tf.as_string([1, -2]),
        tf.strings.to_number(["1.5"]),
    ],
    "more strings": lambda: [
        tf.strings.length(["ä", "abc"], unit="UTF8_CHAR"),
        tf.strings.lower(["ÄB"], encoding="utf-8"),
        tf.strings.upper(["ab"]),
        tf.as_string([1.5, -2.0]),
        tf.as_string([True]),
    ],
    "extremes": lambda: [
        tf.math.top_k(tf.constant([3, 0, 3, 200], tf.uint8), 3),
        tf.math.unsorted_segment_max(A, [2, 2], 3),
        tf.math.unsorted_segment_min(I, [0, 2], 3),
        tf.reduce_max(tf.zeros([0, 2]), 0),
    ],
    "segments": lambda: [
        tf.math.unsorted_segment_sum(A, [1, 1], 3),
        tf.math.top_k(A, 2),
        tf.unique([3, 1, 3]),
        tf.dynamic_partition(I[0], [1, 0, 1], 2),
        tf.dynamic_stitch([[1], [0, 2]], [[5], [6, 7]]),
    ],
    "norms": lambda: [
        tf.nn.l2_loss(A),
        tf.norm(A),
        tf.nn.l2_normalize(A, 1),
        tf.nn.moments(tf.constant(A), [0]),
        tf.clip_by_global_norm([tf.constant(A)], 1.0),
    ],
    "many types": lambda: [
        tf.constant(np.array([1, 2], t)) + tf.constant(np.array([3, 4], t))
        for t in (np.uint8, np.int8, np.int16, np.int64, np.uint16, np.float64, np.float16, np.complex64)
    ],
    "resource variables": lambda: variables(True),
    "reference variables": lambda: variables(False),
    "splats": lambda: [tf.constant(7.0, shape=[50, 4]), tf.constant(3, shape=[100])],
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_values(target, name):
    ours, theirs = both(target, CASES[name])
    the_same(ours, theirs)


GRADIENTS: dict[str, Callable[[Any], Any]] = {
    "chain": lambda x: tf.reduce_sum(tf.sqrt(tf.abs(tf.tanh(x) * tf.sigmoid(x) - tf.exp(-x) / (x * x + 1)))),
    "matmul": lambda x: tf.reduce_mean(tf.square(tf.matmul(x, B, transpose_b=True))),
    "broadcast": lambda x: tf.reduce_sum(x * B[0] + tf.reduce_max(x, 1, keepdims=True) - tf.reduce_mean(x)),
    "softmax": lambda x: tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x)),
    "pieces": lambda x: tf.reduce_sum(tf.concat([x[:, 1:], x[:, :1] ** 2], 1)[0] * tf.gather(x, [1, 0, 1])[2]),
    "layers": lambda x: tf.reduce_sum(tf.nn.relu(tf.nn.bias_add(x, B[0])) + tf.nn.softplus(x) + tf.nn.elu(x)),
    "maximum": lambda x: tf.reduce_sum(tf.maximum(x, B) + tf.where(x > 0, x, 3 * x) + tf.math.log1p(tf.abs(x))),
    "stack": lambda x: tf.reduce_prod(tf.stack([x, x + 1], 0)) + tf.reduce_sum(tf.transpose(tf.tile(x, [2, 1]))),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_same_gradients(target, name):
    def build() -> Any:
        x = v1.placeholder_with_default(A, [None, 3])
        y = GRADIENTS[name](x)
        return [y, *tf.gradients(y, x)]

    the_same(*both(target, build))


def test_random_numbers_have_the_distribution_and_change_with_every_step(target):
    with tf.Graph().as_default():
        uniform, normal = tf.random.uniform([1000]), tf.random.normal([1000], 3.0, 2.0)
        truncated, whole = tf.random.truncated_normal([1000]), tf.random.uniform([1000], 0, 5, tf.int32)
        with v1.Session(target) as session:
            u, n, t, i = session.run([uniform, normal, truncated, whole])
            assert not np.array_equal(u, session.run(uniform))
    assert 0 <= u.min() < u.max() < 1
    assert abs(n.mean() - 3) < 0.5
    assert abs(n.std() - 2) < 0.3
    assert abs(t).max() <= 2
    assert set(i) == {0, 1, 2, 3, 4}


def test_an_operator_that_is_not_supported_is_named_once_a_run_needs_it(target):
    with tf.Graph().as_default():
        known = tf.constant(1.0) + 1
        unknown = tf.signal.fft(tf.constant([1j, 2]), name="spectrum")
        with v1.Session(target) as session:
            assert session.run(known) == 2
            with pytest.raises(tf.errors.UnimplementedError, match="'FFT' of node 'spectrum'"):
                session.run(unknown)
            assert session.run(known) == 2
