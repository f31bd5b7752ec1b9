"""Random pipelines of up to six operators are the same under TensorFlow; ``make like-tensorflow`` tries 20,000 more."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

pytest.importorskip("tensorflow")

from tests.interop.likeness import compare, crashes_tensorflow
from tests.interop.tally import Tally
from tests.pipelines.drawing import pipelines
from tests.pipelines.pipeline import Pipeline

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]

ONCE_DIFFERENT = (
    "tf.data.Dataset.range(6, 2, 3).batch(1).unbatch()",
    "tf.data.Dataset.from_tensors(np.zeros((0, 2), 'int64')).unbatch()",
    "tf.data.Dataset.from_generator(lambda: [0, 2, 0], output_types=tf.int32).unbatch()",
    "tf.data.Dataset.from_tensors({'b': [6], 'a': [False, True, True]}).unbatch()",
    "tf.data.Dataset.from_tensors(([[1, 2]], ([3, 4], [5]))).rebatch([2, 2])",
    "tf.data.Dataset.from_tensors([[1, 2], [3, 4]]).concatenate(tf.data.Dataset.from_tensors([[1], [2]])).rebatch(3)",
    "tf.data.Dataset.from_tensors(1).concatenate(tf.data.Dataset.from_tensors([2])).rebatch(1).map(lambda x: x)",
    "tf.data.Dataset.range(3).padded_batch(0, padded_shapes=[], padding_values=1.5)",
    "tf.data.Dataset.range(4).padded_batch(3, padding_values=np.array(7, 'int64'))",
    "tf.data.Dataset.range(4).shuffle(1).repeat(0).enumerate(-1)",
    "tf.data.Dataset.random(6, False).take(2).shuffle(100, 7, False).repeat(0)",
    "tf.data.Dataset.range(4).map(lambda x: f.unless(x == 2, x)).padded_batch(3, drop_remainder=True).cache()",
    "tf.data.Dataset.from_tensors([[6, 4, 2], [1, 4, 0], [4, 2, 4]]).rebatch(2).map(lambda x: x)"
    ".batch(4, drop_remainder=True)",
    "tf.data.Dataset.random(3, False).take(3).repeat(-1).batch(2).take(4).apply(lambda d: d.concatenate(d))",
    "tf.data.Dataset.range(5).map(lambda x: f.unless(x == 2, x)).shard(3, 0)",
    "tf.data.Dataset.range(4).padded_batch(1).batch(1).map(lambda x: f.flat(x)).batch(1)",
    "tf.data.Dataset.range(4).interleave(lambda x: tf.data.Dataset.range(x), cycle_length=1, num_parallel_calls=2)",
    "tf.data.Dataset.range(5).batch(1).bucket_by_sequence_length("
    "lambda x: f.size(x), [2], [2, 1], pad_to_bucket_boundary=True).map(lambda x: x)",
    "tf.data.Dataset.from_tensor_slices(np.array([], 'U3'))"
    ".bucket_by_sequence_length(lambda x: f.size(x), [2], [2, 1], pad_to_bucket_boundary=True)"
    ".bucket_by_sequence_length(lambda x: f.size(x), [2], [2, 1], pad_to_bucket_boundary=True)"
    ".map(lambda x: f.size(x))",
    "tf.data.Dataset.range(3).group_by_window(lambda x: x % 2, lambda k, g: g.enumerate(k), window_size=2)"
    ".window(3).map(lambda a, b: a.cardinality()).window(3).flat_map(lambda x: x)",
    "tf.data.Dataset.range(3).padded_batch(2, padded_shapes=[])"
    ".apply(lambda d: tf.data.Dataset.choose_from_datasets([d, d.take(1)], tf.data.Dataset.range(2)))"
    ".interleave(lambda x: tf.data.Dataset.range(3), cycle_length=2)",
    "tf.data.Dataset.range(5).map(lambda x: f.unless(x == 2, x))"
    ".apply(lambda d: tf.data.Dataset.zip((d, (tf.data.Dataset.range(2).repeat(), d.skip(3)))))",
    "tf.data.Dataset.range(6).batch(3).group_by_window(lambda x: x[0] % 2, lambda k, g: g.batch(2), window_size=2)"
    ".map(lambda x: x)",
    "tf.data.Dataset.from_tensors([1]).batch(2).window(1).flat_map(lambda x: x.batch(2)).map(lambda x: x)",
    "tf.data.Dataset.range(3, 7).flat_map(lambda x: tf.data.Dataset.range(x, 9).batch(2)).batch(1).map(lambda x: x)",
    "tf.data.Dataset.range(4).apply(lambda d: d.concatenate(d.batch(2)))"
    ".window(2).flat_map(lambda x: x.batch(2)).map(lambda x: x)",
    "tf.data.Dataset.from_tensors([[1, 2]]).concatenate(tf.data.Dataset.from_tensors([[[1], [2]]])).rebatch(2)",
    "tf.data.Dataset.from_tensors([[1, 2]]).concatenate(tf.data.Dataset.from_tensors([[1], [2]]))"
    ".map(lambda x: f.twice(x)).batch(2)",
    "tf.data.Dataset.range(4).repeat().take(7).batch(4).rebatch([1, 3])"
    ".bucket_by_sequence_length(lambda x: f.size(x), [1, 3], [2, 3, 2], pad_to_bucket_boundary=True)",
    "tf.data.Dataset.range(3).map(lambda x: f.unless(x == 1, x)).window(5, drop_remainder=True).flat_map(lambda x: x)",
    "tf.data.Dataset.from_tensors(Point(np.array(1, 'int64'), np.array('bc', 'U3')))"
    ".map(lambda x: f.fill(f.length(x.y), x.y)).map(lambda x: (f.flat(x), ('c', {'k': True})))"
    ".bucket_by_sequence_length(lambda a, b: f.size(a), [9], [3, 3], pad_to_bucket_boundary=True)",
    "tf.data.Dataset.range(5, output_type=tf.float64).batch(2).padded_batch(2, padded_shapes=[-1], padding_values=1.5)",
    "tf.data.Dataset.range(5).window(3).flat_map(lambda x: x.batch(3)).bucket_by_sequence_length("
    "lambda x: f.size(x), [2], [2, 1], padded_shapes=[None], padding_values='a', pad_to_bucket_boundary=True)",
    "tf.data.Dataset.from_generator(lambda: [[5], [3, 1, 4]], output_signature=tf.TensorSpec((None,), tf.float32))"
    ".bucket_by_sequence_length(lambda x: f.size(x), [1, 3], [2, 3, 2], padded_shapes=[None], padding_values=1.5, "
    "pad_to_bucket_boundary=True).apply(lambda d: tf.data.Dataset.from_tensors(d.batch(9).get_single_element()))",
    "tf.data.Dataset.from_tensor_slices(np.array([[], [], []], 'int32')).rebatch(1, drop_remainder=True)"
    ".map(lambda x: f.twice(x))",
    "tf.data.Dataset.range(0).map(lambda x: x).padded_batch(2, padding_values='a').map(lambda x: 1)",
    "tf.data.Dataset.from_tensor_slices([[[], []]]).bucket_by_sequence_length("
    "lambda x: f.size(x), [2], [2, 1], padded_shapes=[None, None], pad_to_bucket_boundary=True)",
    "tf.data.Dataset.from_tensor_slices([]).batch(3, drop_remainder=True).bucket_by_sequence_length("
    "lambda x: f.size(x), [2], [2, 1], padded_shapes=[None], padding_values=1.5, "
    "drop_remainder=True, pad_to_bucket_boundary=True)",
    "tf.data.Dataset.range(5).batch(1)"
    ".bucket_by_sequence_length(lambda x: f.size(x), [4], [2, 1], pad_to_bucket_boundary=True)"
    ".bucket_by_sequence_length(lambda x: f.size(x), [7], [2, 1], pad_to_bucket_boundary=True)",
    "tf.data.Dataset.from_tensor_slices([[1, 2]]).bucket_by_sequence_length("
    "lambda x: -1, [0, 2], [2, 1, 1], padded_shapes=[None], pad_to_bucket_boundary=True)",
    "tf.data.Dataset.from_tensor_slices([[1, 2]]).bucket_by_sequence_length("
    "lambda x: f.size(x), [2, 7], [2, 1, 1], padded_shapes=[], pad_to_bucket_boundary=True)",
    "tf.data.Dataset.from_tensor_slices([[1, 2, 3]]).filter(lambda x: x[0] > 1)"
    ".bucket_by_sequence_length(lambda x: f.size(x), [2], [2, 1], pad_to_bucket_boundary=True)",
    "tf.data.Dataset.range(3, 0).batch(1).map(lambda x: {'b': x, 'a': f.twice(x)}).unbatch()",
    "tf.data.Dataset.range(3, 0).padded_batch(1, padded_shapes=[]).map(lambda x: Point(f.flat(x), f.flat(x)))"
    ".take(3).map(lambda x: {'b': f.cast(x.x, 'int64'), 'a': f.twice(x.x)}).unbatch()",
    "tf.data.Dataset.from_tensors(([1, 2], [1, 2, 3])).rebatch(1, drop_remainder=True)",
    "tf.data.Dataset.from_tensors(([1, 2], [1, 2, 3])).rebatch([1, 2]).map(lambda x, y: f.size(x))",
    "tf.data.Dataset.range(1).map(lambda x: (f.flat(x), f.fill(x, x))).skip(1).rebatch([2, 2], drop_remainder=True)",
    "tf.data.Dataset.range(5).map(lambda x: f.fill(x // 4, x)).prefetch(1).batch(3).window(3).flat_map(lambda x: x)",
    "tf.data.Dataset.range(2).map(lambda x: f.fill(x, x)).padded_batch(3, padded_shapes=[0])"
    ".map(lambda x: x).window(2).flat_map(lambda x: x)",
    "tf.data.Dataset.range(4).batch(2).rebatch(1).map(lambda x: (x, f.twice(x))).skip(9).unbatch()",
    "tf.data.Dataset.from_generator(lambda: [], output_signature=tf.TensorSpec((None,), tf.int32))"
    ".map(lambda x: (x, f.twice(x))).unbatch()",
    "tf.data.Dataset.range(1).map(lambda x: (f.flat(x), f.fill(x, x))).skip(1).unbatch()",
)
"""Pipelines in which a difference was found, made small."""


@pytest.mark.parametrize("code", ONCE_DIFFERENT)
def test_what_was_once_different_is_not(code: str) -> None:
    comparison = compare(Pipeline(code))
    assert comparison.is_the_same, str(comparison)


@given(pipelines())
@settings(max_examples=300)
def test_random_pipelines_are_the_same(pipeline: Pipeline) -> None:
    assume(not crashes_tensorflow(pipeline))
    comparison = compare(pipeline)
    assert comparison.is_the_same, str(comparison)


@pytest.mark.parametrize("steps", [".batch(3).unbatch().unbatch()", ".batch(1).unbatch().unbatch()"])
def test_rows_without_numbers_are_kept_from_tensorflow_also_behind_a_failure(steps: str) -> None:
    fills = "tf.data.Dataset.from_tensor_slices([2, 0, 2, 0]).map(lambda b: f.fill(b, b))"
    assert crashes_tensorflow(Pipeline(fills + steps))


def test_a_difference_is_seen_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from tfsvc.data.dataset import Dataset

    monkeypatch.setattr(Dataset, "skip", Dataset.take)
    comparison = compare(Pipeline("tf.data.Dataset.range(5)", (".skip(1)",)))
    assert list(comparison.differences) == ["cardinality", "length", "epochs"]
    assert ".skip(1)" in str(comparison)
    assert "import tfsvc as tf" in str(comparison)


def test_what_only_one_refuses_to_build_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from tfsvc.data.dataset import Dataset

    monkeypatch.setattr(Dataset, "skip", lambda self, count: self.batch(0))
    assert compare(Pipeline("tf.data.Dataset.range(5)", (".skip(1)",))).differences == {
        "failure": ("InvalidArgumentError", None)
    }


def test_counts_survive_the_way_from_one_process_to_another() -> None:
    tally, total = Tally(), Tally()
    tally.count(compare(Pipeline("tf.data.Dataset.range(5)", (".batch(0)",))))
    total.add(Tally.from_json(tally.to_json()))
    assert total == tally
    assert total.errors == {"InvalidArgumentError, when built": 1}
    assert "map" in total.never_drawn
    assert "batch" not in total.never_drawn
