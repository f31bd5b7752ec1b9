"""Iterators, optionals and ``tf.data.experimental``'s functions do what TensorFlow's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfsvc
from tests.interop.seeing import plain_spec
from tests.pipelines.elements import plain
from tests.pipelines.functions import names

tensorflow = pytest.importorskip("tensorflow")
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]


def outcome(ask: Callable[[Any, Any], Any], tf: Any) -> Any:
    """What ``ask`` gives for a module and its functions, as something that can be compared."""
    try:
        return seen(ask(tf, names(tf)["f"]))
    except Exception as error:
        return type(error).__name__


def seen(value: Any) -> Any:
    if hasattr(value, "as_numpy_iterator"):
        return plain_spec(value.element_spec), int(value.cardinality()), seen(list(value.take(9).as_numpy_iterator()))
    if isinstance(value, (list, tuple)):
        return [seen(item) for item in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, dict):
        return {key: seen(item) for key, item in value.items()}
    if hasattr(value, "shape") and hasattr(value, "dtype") and not hasattr(value, "__array__"):
        return plain_spec(value)
    return plain(value.numpy() if hasattr(value, "numpy") else value)


def all_of(iterator: Any) -> list[Any]:
    found = []
    while (optional := iterator.get_next_as_optional()).has_value():
        found.append(optional.get_value())
    return found


ITERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "get_next": lambda tf, f: iter(tf.data.Dataset.range(3)).get_next(),
    "get_next at the end": lambda tf, f: iter(tf.data.Dataset.range(0)).get_next(),
    "next at the end": lambda tf, f: next(iter(tf.data.Dataset.range(0))),
    "optionals to the end": lambda tf, f: all_of(iter(tf.data.Dataset.range(3))),
    "optional by a function": lambda tf, f: tf.data.experimental.get_next_as_optional(
        iter(tf.data.Dataset.range(3))
    ).get_value(),
    "spec of an optional": lambda tf, f: iter(tf.data.Dataset.range(3).enumerate()).get_next_as_optional().element_spec,
    "a value": lambda tf, f: tf.data.experimental.Optional.from_value((1, [2.5])).get_value(),
    "no value": lambda tf, f: bool(tf.data.experimental.Optional.empty(tf.TensorSpec((), tf.int64)).has_value()),
    "value of none": lambda tf, f: tf.data.experimental.Optional.empty(tf.TensorSpec((), tf.int64)).get_value(),
    "spec of none": lambda tf, f: tf.data.experimental.Optional.empty(tf.TensorSpec((2,), tf.string)).element_spec,
    "element_spec": lambda tf, f: iter(tf.data.Dataset.range(3).batch(2)).element_spec,
    "an iterator is its own": lambda tf, f: [x for it in [iter(tf.data.Dataset.range(3))] for _ in "ab" for x in it],
    "two iterators": lambda tf, f: [x for d in [tf.data.Dataset.range(2)] for _ in "ab" for x in d],
    "bool of nothing": lambda tf, f: bool(tf.data.Dataset.range(0)),
    "len": lambda tf, f: len(tf.data.Dataset.range(7).batch(2)),
    "len of unknown": lambda tf, f: len(tf.data.Dataset.range(7).filter(lambda x: x > 1)),
    "reduce to a nest": lambda tf, f: tf.data.Dataset.range(5).reduce(
        (np.int64(0), {"a": 1}), lambda s, x: (s[0] + x, {"a": s[1]["a"] * 2})
    ),
    "reduce of pairs": lambda tf, f: tf.data.Dataset.range(5).enumerate().reduce(np.int64(0), lambda s, x: s + x[0]),
    "reduce of nothing": lambda tf, f: tf.data.Dataset.range(0).reduce("a", lambda s, x: s),
    "single element": lambda tf, f: tf.data.Dataset.range(5).batch(9).get_single_element(),
    "apply": lambda tf, f: tf.data.Dataset.range(5).apply(lambda d: d.batch(2)),
    "apply to no dataset": lambda tf, f: tf.data.Dataset.range(5).apply(lambda d: 3),
    "scalars": lambda tf, f: [tf.data.Dataset.from_tensors(x) for x in (1, 1 << 40, 1.5, True, "a", b"b", 1j)],
    "lists": lambda tf, f: [tf.data.Dataset.from_tensors(x) for x in ([1], [1.5], [1, 2.5], [True], ["a"], [[1], [2]])],
    "a list of unlike": lambda tf, f: tf.data.Dataset.from_tensors([1, "a"]),
    "ranges": lambda tf, f: [
        tf.data.Dataset.range(*args, output_type=getattr(tf, dtype))
        for args in ((3,), (1, 4), (5, 0, -2))
        for dtype in ("int64", "int32", "int8", "uint8", "float32", "float64", "float16", "bfloat16")
    ],
    "zips": lambda tf, f: [
        tf.data.Dataset.zip(tf.data.Dataset.range(3), tf.data.Dataset.range(2)),
        tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(2))),
        tf.data.Dataset.zip((tf.data.Dataset.range(3),)),
        tf.data.Dataset.zip(tf.data.Dataset.range(3)),
        tf.data.Dataset.zip({"a": tf.data.Dataset.range(3)}),
    ],
    "names": lambda tf, f: (
        tf.data.Dataset.range(9, name="a")
        .map(lambda x: x, name="b")
        .filter(lambda x: x > 1, name="c")
        .batch(2, name="d")
        .unbatch(name="e")
        .take(3, name="f")
        .skip(1, name="g")
        .repeat(2, name="h")
        .prefetch(1, name="i")
        .enumerate(name="j")
    ),
}

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "assert_cardinality": lambda tf, f: tf.data.Dataset.range(5).filter(lambda x: x < 3).apply(f.assert_cardinality(3)),
    "too few": lambda tf, f: list(tf.data.Dataset.range(2).apply(f.assert_cardinality(3))),
    "too many": lambda tf, f: list(tf.data.Dataset.range(5).apply(f.assert_cardinality(3))),
    "an end": lambda tf, f: list(tf.data.Dataset.range(2).apply(f.assert_cardinality(f.INFINITE_CARDINALITY))),
    "at": lambda tf, f: f.at(tf.data.Dataset.range(5, 9), 2),
    "at nothing": lambda tf, f: f.at(tf.data.Dataset.range(5, 9), 4),
    "bucket_by_sequence_length": lambda tf, f: tf.data.Dataset.range(4, output_type=tf.int32).apply(
        f.bucket_by_sequence_length(lambda x: x, [2], [2, 2])
    ),
    "cardinality": lambda tf, f: int(f.cardinality(tf.data.Dataset.range(4))),
    "choose_from_datasets": lambda tf, f: f.choose_from_datasets(
        [tf.data.Dataset.range(1), tf.data.Dataset.range(5, 9)], tf.data.Dataset.range(2).repeat(3)
    ),
    "sample_from_datasets": lambda tf, f: f.sample_from_datasets([tf.data.Dataset.range(3)]),
    "enumerate_dataset": lambda tf, f: tf.data.Dataset.range(4).apply(f.enumerate_dataset(2)),
    "get_single_element": lambda tf, f: f.get_single_element(tf.data.Dataset.range(1)),
    "get_structure": lambda tf, f: f.get_structure(tf.data.Dataset.range(4)),
    "get_structure of an iterator": lambda tf, f: f.get_structure(iter(tf.data.Dataset.range(4))),
    "get_structure of a number": lambda tf, f: f.get_structure(4),
    "group_by_reducer": lambda tf, f: tf.data.Dataset.range(7).apply(
        f.group_by_reducer(
            lambda x: x % 3, f.Reducer(lambda key: (key, np.int64(0)), lambda s, x: (s[0], s[1] + x), lambda *s: s)
        )
    ),
    "group_by_window": lambda tf, f: tf.data.Dataset.range(4).apply(
        f.group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2)
    ),
    "ignore_errors": lambda tf, f: tf.data.Dataset.range(4).apply(f.ignore_errors()),
    "map_and_batch": lambda tf, f: tf.data.Dataset.range(4).apply(f.map_and_batch(lambda x: x * 2, 3)),
    "map_and_batch twice told": lambda tf, f: tf.data.Dataset.range(4).apply(
        f.map_and_batch(lambda x: x * 2, 3, num_parallel_batches=1, num_parallel_calls=1)
    ),
    "pad_to_cardinality": lambda tf, f: tf.data.Dataset.range(2).map(lambda x: {"a": x}).apply(f.pad_to_cardinality(4)),
    "pad_to_cardinality of no dict": lambda tf, f: tf.data.Dataset.range(2).apply(f.pad_to_cardinality(4)),
    "pad_to_cardinality of unknown": lambda tf, f: (
        tf.data.Dataset.range(2).map(lambda x: {"a": x}).filter(lambda x: True).apply(f.pad_to_cardinality(4))
    ),
    "parallel_interleave": lambda tf, f: tf.data.Dataset.range(4).apply(
        f.parallel_interleave(lambda x: tf.data.Dataset.range(x), 2)
    ),
    "scan": lambda tf, f: tf.data.Dataset.range(4).apply(f.scan(np.int64(0), lambda s, x: (s + x, s))),
    "shuffle_and_repeat": lambda tf, f: tf.data.Dataset.range(4).apply(f.shuffle_and_repeat(1, 2)),
    "take_while": lambda tf, f: tf.data.Dataset.range(4).apply(f.take_while(lambda x: x < 2)),
    "unbatch": lambda tf, f: tf.data.Dataset.range(4).batch(2).apply(f.unbatch()),
    "unique": lambda tf, f: tf.data.Dataset.range(4).repeat(2).apply(f.unique()),
}


@pytest.mark.parametrize("ask", ITERATORS.values(), ids=list(ITERATORS))
def test_iterators_agree(ask: Callable[[Any, Any], Any]) -> None:
    assert outcome(ask, tfsvc) == outcome(ask, tensorflow)


@pytest.mark.parametrize("ask", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_functions_agree(ask: Callable[[Any, Any], Any]) -> None:
    ours, theirs = (outcome(lambda tf, _: ask(tf, tf.data.experimental), tf) for tf in (tfsvc, tensorflow))
    assert ours == theirs


def test_rare_functions_keep_their_promises() -> None:
    experimental = tfsvc.data.experimental
    dataset = tfsvc.data.Dataset.range(4)
    experimental.enable_debug_mode()
    for same in (experimental.copy_to_device("/gpu:0"), experimental.prefetch_to_device("/gpu:0")):
        assert list(dataset.apply(same)) == list(dataset)
    resampled = dataset.repeat(9).apply(experimental.rejection_resample(lambda x: x % 2, [0.0, 1.0], seed=1))
    assert {int(label) for label, _ in resampled} == {1}


def test_an_open_order_loses_nothing() -> None:
    def elements(tf: Any) -> list[int]:
        dataset = tf.data.Dataset.range(30).map(lambda x: x * 2, num_parallel_calls=4)
        options = tf.data.Options()
        options.deterministic = False
        return sorted(map(int, dataset.with_options(options).as_numpy_iterator()))

    assert elements(tfsvc) == elements(tensorflow) == list(range(0, 60, 2))


def test_fingerprints_tell_datasets_apart() -> None:
    def fingerprints(tf: Any) -> list[Any]:
        return [tf.data.Dataset.range(n).fingerprint() for n in (3, 3, 4)]

    for tf in (tfsvc, tensorflow):
        one, same, other = map(int, fingerprints(tf))
        assert one == same != other
    assert fingerprints(tfsvc)[0].dtype == np.uint64
