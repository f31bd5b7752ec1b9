"""What is wrong with a dataset is found when it is built where TensorFlow finds it, and raises the same class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfsvc

pytestmark = pytest.mark.interop

CASES: dict[str, Callable[[Any], Any]] = {
    "concat dtype": lambda tf: tf.data.Dataset.range(3).concatenate(tf.data.Dataset.from_tensors(1.5)),
    "concat structure": lambda tf: tf.data.Dataset.range(3).concatenate(tf.data.Dataset.from_tensors((1, 2))),
    "concat ranks ok": lambda tf: tf.data.Dataset.from_tensors([1]).concatenate(tf.data.Dataset.from_tensors(1)),
    "concat non-dataset": lambda tf: tf.data.Dataset.range(3).concatenate([1]),
    "zip non-dataset": lambda tf: tf.data.Dataset.zip(tf.data.Dataset.range(3), 5),
    "zip list": lambda tf: tf.data.Dataset.zip([tf.data.Dataset.range(3)]),
    "zip none": lambda tf: tf.data.Dataset.zip(),
    "batch 0": lambda tf: tf.data.Dataset.range(3).batch(0),
    "batch float": lambda tf: tf.data.Dataset.range(3).batch(1.5),
    "batch str": lambda tf: tf.data.Dataset.range(3).batch("a"),
    "batch of windows": lambda tf: tf.data.Dataset.range(3).window(2).batch(2),
    "padded rank": lambda tf: tf.data.Dataset.from_tensors([1, 2]).padded_batch(2, padded_shapes=[2, 2]),
    "padded smaller": lambda tf: tf.data.Dataset.from_tensors([1, 2]).padded_batch(2, padded_shapes=[1]),
    "padded structure": lambda tf: tf.data.Dataset.from_tensors(([1, 2], [3])).padded_batch(2, padded_shapes=([2],)),
    "padded values dtype": lambda tf: tf.data.Dataset.from_tensors([1, 2]).padded_batch(2, padding_values="a"),
    "padded values dtype2": lambda tf: tf.data.Dataset.from_tensors([1.0, 2]).padded_batch(
        2, padding_values=np.int32(1)
    ),
    "padded values rank": lambda tf: tf.data.Dataset.from_tensors([1, 2]).padded_batch(2, padding_values=[1]),
    "padded values structure": lambda tf: tf.data.Dataset.from_tensors(([1, 2], [3])).padded_batch(
        2, padding_values=(1, 2, 3)
    ),
    "padded unknown rank": lambda tf: tf.data.Dataset.from_generator(lambda: [[1]], output_types=tf.int64).padded_batch(
        2
    ),
    "generator none": lambda tf: tf.data.Dataset.from_generator(lambda: [1]),
    "generator not callable": lambda tf: tf.data.Dataset.from_generator([1], output_types=tf.int64),
    "generator both": lambda tf: tf.data.Dataset.from_generator(
        lambda: [1], output_types=tf.int64, output_signature=tf.TensorSpec((), tf.int64)
    ),
    "generator shapes": lambda tf: tf.data.Dataset.from_generator(
        lambda: [1], output_types=(tf.int64, tf.int64), output_shapes=((),)
    ),
    "generator signature": lambda tf: tf.data.Dataset.from_generator(lambda: [1], output_signature=5),
    "generator signature2": lambda tf: tf.data.Dataset.from_generator(lambda: [1], output_signature=tf.int64),
    "scan no pair": lambda tf: tf.data.Dataset.range(3).scan(0, lambda s, x: s),
    "scan state dtype": lambda tf: tf.data.Dataset.range(3).scan(0, lambda s, x: (1.5, x)),
    "scan state structure": lambda tf: tf.data.Dataset.range(3).scan(0, lambda s, x: ((s, s), x)),
    "scan state shape": lambda tf: tf.data.Dataset.range(3).scan(0, lambda s, x: ([s, s], x)),
    "choose dtype": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.from_tensors(1.5)], tf.data.Dataset.range(2)
    ),
    "choose structure": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.from_tensors((1, 2))], tf.data.Dataset.range(2)
    ),
    "choose selector": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3)], tf.data.Dataset.from_tensors(1.5)
    ),
    "choose empty": lambda tf: tf.data.Dataset.choose_from_datasets([], tf.data.Dataset.range(2)),
    "choose classes": lambda tf: tf.data.Dataset.choose_from_datasets([tf.data.Dataset.range(3)], 5),
    "sample dtype": lambda tf: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.from_tensors(1.5)]
    ),
    "sample weights": lambda tf: tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(3)] * 2, weights=[1.0]),
    "sample weights int": lambda tf: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(3)] * 2, weights=[1, 2]
    ),
    "filter int": lambda tf: tf.data.Dataset.range(3).filter(lambda x: x),
    "filter vector": lambda tf: tf.data.Dataset.from_tensors([1, 2]).filter(lambda x: x > 1),
    "filter tuple": lambda tf: tf.data.Dataset.range(3).filter(lambda x: (x > 1, x > 1)),
    "filter python bool": lambda tf: tf.data.Dataset.range(3).filter(lambda x: True),
    "filter none": lambda tf: tf.data.Dataset.range(3).filter(lambda x: None),
    "filter args": lambda tf: tf.data.Dataset.range(3).filter(lambda x, y: True),
    "take_while int": lambda tf: tf.data.Dataset.range(3).take_while(lambda x: x),
    "flat_map": lambda tf: tf.data.Dataset.range(3).flat_map(lambda x: x),
    "flat_map list": lambda tf: tf.data.Dataset.range(3).flat_map(lambda x: [x]),
    "interleave": lambda tf: tf.data.Dataset.range(3).interleave(lambda x: x),
    "interleave cycle 0": lambda tf: tf.data.Dataset.range(3).interleave(
        lambda x: tf.data.Dataset.range(3), cycle_length=0
    ),
    "interleave block 0": lambda tf: tf.data.Dataset.range(3).interleave(
        lambda x: tf.data.Dataset.range(3), block_length=0
    ),
    "map set": lambda tf: tf.data.Dataset.range(3).map(lambda x: {1, 2}),
    "map object": lambda tf: tf.data.Dataset.range(3).map(lambda x: object()),
    "map None": lambda tf: tf.data.Dataset.range(3).map(lambda x: None),
    "map args": lambda tf: tf.data.Dataset.range(3).map(lambda x, y: x),
    "map parallel 0": lambda tf: tf.data.Dataset.range(3).map(lambda x: x, num_parallel_calls=0),
    "map not callable": lambda tf: tf.data.Dataset.range(3).map(5),
    "filter not callable": lambda tf: tf.data.Dataset.range(3).filter(5),
    "group key dtype": lambda tf: tf.data.Dataset.range(3).group_by_window(lambda x: 1.5, lambda k, g: g, 2),
    "group key shape": lambda tf: tf.data.Dataset.range(3).group_by_window(lambda x: [x], lambda k, g: g, 2),
    "group reduce": lambda tf: tf.data.Dataset.range(3).group_by_window(lambda x: x, lambda k, g: k, 2),
    "group both": lambda tf: tf.data.Dataset.range(3).group_by_window(lambda x: x, lambda k, g: g),
    "bucket sizes": lambda tf: tf.data.Dataset.range(3).bucket_by_sequence_length(lambda x: x, [1], [1]),
    "reduce dtype": lambda tf: tf.data.Dataset.range(3).reduce(0, lambda s, x: 1.5),
    "reduce structure": lambda tf: tf.data.Dataset.range(3).reduce(0, lambda s, x: (s, s)),
    "rebatch 0": lambda tf: tf.data.Dataset.range(3).batch(2).rebatch(0),
    "unique float": lambda tf: tf.data.Dataset.from_tensors(1.5).unique(),
    "unique tuple": lambda tf: tf.data.Dataset.from_tensors((1, 2)).unique(),
    "window 0": lambda tf: tf.data.Dataset.range(3).window(0),
    "window stride 0": lambda tf: tf.data.Dataset.range(3).window(2, stride=0),
    "slices scalar": lambda tf: tf.data.Dataset.from_tensor_slices(5),
    "slices sizes": lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [1])),
    "slices ragged": lambda tf: tf.data.Dataset.from_tensor_slices([[1, 2], [1]]),
    "tensors mixed": lambda tf: tf.data.Dataset.from_tensors([1, "a"]),
    "tensors object": lambda tf: tf.data.Dataset.from_tensors(object()),
    "range step 0": lambda tf: tf.data.Dataset.range(0, 3, 0),
    "range none": lambda tf: tf.data.Dataset.range(),
    "range float": lambda tf: tf.data.Dataset.range(1.5),
    "shuffle 0": lambda tf: tf.data.Dataset.range(3).shuffle(0),
    "shuffle -5": lambda tf: tf.data.Dataset.range(3).shuffle(-5),
    "prefetch -2": lambda tf: tf.data.Dataset.range(3).prefetch(-2),
    "shard index": lambda tf: tf.data.Dataset.range(3).shard(2, 2),
    "shard 0": lambda tf: tf.data.Dataset.range(3).shard(0, 0),
    "take -5": lambda tf: tf.data.Dataset.range(3).take(-5),
    "skip -5": lambda tf: tf.data.Dataset.range(3).skip(-5),
    "repeat str": lambda tf: tf.data.Dataset.range(3).repeat("a"),
    "enumerate float": lambda tf: tf.data.Dataset.range(3).enumerate(1.5),
    "options": lambda tf: tf.data.Dataset.range(3).with_options(5),
    "apply": lambda tf: tf.data.Dataset.range(3).apply(lambda d: 5),
    "tfrecord int": lambda tf: tf.data.TFRecordDataset(5),
    "text compression": lambda tf: tf.data.TextLineDataset("a", compression_type="x"),
    "fixed 0": lambda tf: tf.data.FixedLengthRecordDataset("a", 0),
    "rejection target": lambda tf: tf.data.Dataset.range(3).rejection_resample(lambda x: x, [0.5, "a"]),
    "single": lambda tf: tf.data.Dataset.range(3).get_single_element(),
    "len unknown": lambda tf: len(tf.data.Dataset.range(3).filter(lambda x: True)),
    "counter dtype": lambda tf: tf.data.Dataset.counter(0, 1, dtype="x"),
    "cache int": lambda tf: tf.data.Dataset.range(3).cache(5),
    "from_list empty": lambda tf: tf.data.experimental.from_list([]),
    "from_list mixed": lambda tf: tf.data.experimental.from_list([1, "a"]),
    "random seed str": lambda tf: tf.data.Dataset.random(seed="a"),
}

OTHERWISE = {
    "scan state structure": "TensorFlow takes a pair for two states and fails when it runs",
    "filter tuple": "an AttributeError of TensorFlow's own",
    "filter none": "None is no element here",
    "flat_map": "an AttributeError of TensorFlow's own",
    "interleave": "an AttributeError of TensorFlow's own",
    "map set": "a function of map runs when its spec is asked for",
    "map object": "a function of map runs when its spec is asked for",
    "map None": "a function of map runs when its spec is asked for",
    "group key dtype": "every key that is no whole number is a ValueError",
    "reduce structure": "a TypeError, as for the dtype",
    "rebatch 0": "TensorFlow fails when it runs",
    "tensors object": "a TypeError, as for other types",
    "options": "an AttributeError of TensorFlow's own",
    "from_list mixed": "an AttributeError of TensorFlow's own",
    "random seed str": "a mistake in TensorFlow's message",
}
"""Where our class is another one, and why."""


def outcome(build: Callable[[Any], Any], tf: Any) -> str:
    try:
        build(tf)
    except Exception as error:
        return type(error).__name__
    return "built"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CASES if name not in OTHERWISE])
def test_a_dataset_is_refused_as_tensorflow_refuses_it(name: str) -> None:
    tf = pytest.importorskip("tensorflow")
    assert outcome(CASES[name], tfsvc) == outcome(CASES[name], tf)


@pytest.mark.parametrize("name", [name for name in OTHERWISE if not name.startswith("map ")])
def test_what_is_refused_otherwise_is_refused_all_the_same(name: str) -> None:
    assert outcome(CASES[name], tfsvc) in ("TypeError", "ValueError", "InvalidArgumentError")
