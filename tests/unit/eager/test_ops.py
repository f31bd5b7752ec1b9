"""Operations and variables, on NumPy arrays."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tfsvc as tf


def test_python_numbers_take_the_narrow_types_and_the_others_of_what_stands_beside_them():
    assert tf.constant(2).dtype == np.int32
    assert tf.constant(2.0).dtype == np.float32
    assert tf.constant([1, 2], tf.float64).dtype == np.float64
    assert tf.add(np.float64(1), 2).dtype == np.float64
    assert tf.multiply(3, np.int64(2)) == 6
    assert tf.constant("Gr\u00fc\u00dfe") == "Gr\u00fc\u00dfe".encode()
    assert tf.constant(1, shape=(2, 2)).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (tf.math.subtract(5, 3), 2),
        (tf.divide(1, 2), 0.5),
        (tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]), [[11]]),
        (tf.maximum([1, 5], [3, 2]), [3, 5]),
        (tf.less([1, 5], 3), [True, False]),
        (tf.reduce_sum([[1, 2], [3, 4]], axis=0), [4, 6]),
        (tf.reduce_mean([1, 2]), 1),
        (tf.square(-3), 9),
        (tf.math.abs(-3), 3),
    ],
)
def test_values(result, expected):
    assert np.asarray(result).tolist() == expected


def test_types_are_not_mixed():
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a int32 tensor but is a float32"):
        tf.add(tf.constant(1), tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Mul"):
        tf.multiply(tf.constant([1, 2]), tf.constant([1, 2, 3]))


def test_a_variable():
    v = tf.Variable([1, 2], dtype=tf.float32)
    assert v.assign_add([1, 1]).tolist() == [2, 3]
    assert (v * 2).tolist() == [4, 6]
    assert tf.add(v, 1.0).tolist() == [3, 4]
    assert v.assign_sub([2, 3]).tolist() == [0, 0]
    with pytest.raises(ValueError, match="shape"):
        v.assign([1, 2, 3])
    with pytest.raises(TypeError):
        v.assign("text")


def test_a_value_that_was_read_does_not_change():
    v = tf.Variable([1])
    old = v.read_value()
    v.assign_add([1])
    assert old.tolist() == [1]
    with pytest.raises(ValueError, match="read-only"):
        old[0] = 5


def test_no_addition_is_lost_among_threads():
    v = tf.Variable(0)
    threads = [threading.Thread(target=lambda: [v.assign_add(1) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy() == 800
