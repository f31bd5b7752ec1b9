"""``tf.function`` and what is learned of a function without running it."""

from __future__ import annotations

import numpy as np
import pytest

import tfsvc as tf
from tfsvc.eager.functions import UNKNOWN

INT = tf.TensorSpec([], tf.int32)
VECTOR = tf.TensorSpec([None], tf.float32)


def outputs(function, *signature):
    return tf.function(function, input_signature=signature).get_concrete_function().structured_outputs


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x, VECTOR),
        (lambda x: tf.add(x, 1.5), VECTOR),
        (lambda x: x * 2, VECTOR),
        (lambda x: tf.reduce_sum(x), tf.TensorSpec([], tf.float32)),
        (lambda x: np.stack([x, x]), tf.TensorSpec([2, None], tf.float32)),
        (lambda x: np.matmul(np.ones((4, 1), np.float32), x[np.newaxis]), tf.TensorSpec([4, None], tf.float32)),
        (lambda x: x[0], tf.TensorSpec([], tf.float32)),
        (lambda x: x.astype(np.int64).reshape(-1, 1), tf.TensorSpec([None, 1], tf.int64)),
        (lambda x: tf.cast(x, tf.float64), tf.TensorSpec([None], tf.float64)),
        (lambda x: {"a": x, "b": (tf.constant(1), [x > 0])}, None),
        (lambda x: x.T, VECTOR),
        (lambda x: None, "none"),
        (lambda x: float(x[0]), UNKNOWN),
        (lambda x: x if x[0] > 0 else -x, UNKNOWN),
        (lambda x: x.tolist(), UNKNOWN),
        (lambda x: x.no_such_thing, UNKNOWN),
    ],
)
def test_the_specs_of_results_are_learned(function, expected):
    found = outputs(function, VECTOR)
    if expected is None:
        expected = {"a": VECTOR, "b": (INT, [tf.TensorSpec([None], tf.bool)])}
    assert found == (None if expected == "none" else expected) or found is expected


def test_a_shape_of_unknown_rank_stays_unknown():
    assert outputs(lambda x: x + x, tf.TensorSpec(None, tf.int32)) == tf.TensorSpec(None, tf.int32)


def test_learning_changes_no_variable():
    v = tf.Variable(1)

    @tf.function(input_signature=[INT])
    def add(x):
        v.assign_add(x)
        return v.assign(5)

    assert add.get_concrete_function().structured_outputs == INT
    assert v.numpy() == 1
    assert add(3) == 5


def test_output_specs_as_the_document_makes_them():
    function = tf.function(lambda a, b: tf.math.multiply(a, b), input_signature=[INT, INT])
    specs = tf.nest.map_structure(tf.type_spec_from_value, function.get_concrete_function().structured_outputs)
    assert specs == INT


def test_arguments_become_tensors_of_the_signature():
    signature = [tf.TensorSpec([2], tf.float32), {"k": tf.TensorSpec([], tf.int64)}]
    function = tf.function(lambda x, d: (x, d["k"]), input_signature=signature)
    found = function([1, 2], {"k": 3})
    assert found[0].dtype == np.float32
    assert found[1].dtype == np.int64
    assert function.input_signature[0].name == "x"
    assert function.input_signature[1]["k"].name == "d_k"


@pytest.mark.parametrize("args", [(), (1, 2), ([1.5, 2.5, 3.5],), (np.zeros(2, np.int32),)])
def test_arguments_that_do_not_fit(args):
    function = tf.function(lambda x: x, input_signature=[tf.TensorSpec([2], tf.float32)])
    with pytest.raises(TypeError, match="Binding inputs"):
        function(*args)


def test_methods_keep_their_object():
    class Counter:
        def __init__(self):
            self.total = tf.Variable(0)

        @tf.function(input_signature=[INT])
        def add(self, x):
            return self.total.assign_add(x)

    one, two = Counter(), Counter()
    assert (one.add(2), one.add(x=2), two.add(1)) == (2, 4, 1)
    assert one.add.get_concrete_function()(3) == 7
    assert one.add.input_signature[0].name == "x"


def test_a_function_without_a_signature_takes_what_comes():
    function = tf.function(lambda x: tf.add(x, x))
    assert function(2) == 4
    assert function(np.ones(2)).tolist() == [2, 2]
    with pytest.raises(ValueError, match="input signature"):
        function.get_concrete_function()
    assert function.get_concrete_function(VECTOR).structured_outputs == VECTOR


def test_a_signature_that_is_too_long():
    with pytest.raises(TypeError, match="2 entries"):
        tf.function(lambda x: x, input_signature=[INT, INT])
