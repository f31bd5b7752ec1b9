"""The calls of drawn pipelines, each drawn to fit the elements that it gets.

``fit`` is what a step may know of its input: how functions take an element (``spread`` over several parameters, or
``whole``). Most arguments make sense; a few are negative, zero or far too large, since errors are compared as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.pipelines import expressions
from tests.pipelines.expressions import Arguments, Leaf

Step = st.SearchStrategy[str]

SIZES = st.sampled_from([1, 2, 3, 2, 3, 4, 2, 3, 0, -1])
COUNTS = st.sampled_from([2, 3, 1, 2, 4, 2, 3, 0, -1, 100, -2])
REPETITIONS = st.sampled_from(["2", "2", "3", "1", "0", "", "-1"])
BOOLEANS = st.booleans()


@dataclass(frozen=True)
class Fit:
    """What is known of the elements in front of a step."""

    spec: Any
    spread: Arguments
    whole: Arguments

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return self.spread.leaves


def fit_of(spec: Any) -> Fit:
    return Fit(spec, expressions.arguments(spec), expressions.whole(spec))


def function(fit: Fit, body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return body.map(lambda text: f"lambda {fit.spread.parameters}: {text}")


def map(fit: Fit) -> Step:
    how = st.sampled_from(["", "", "", ", num_parallel_calls=2", ", num_parallel_calls=tf.data.AUTOTUNE"])
    return st.tuples(function(fit, expressions.results(fit.spread)), how).map(lambda p: f".map({p[0]}{p[1]})")


def filter(fit: Fit) -> Step:
    return function(fit, expressions.truths(fit.spread)).map(lambda f: f".filter({f})")


def take_while(fit: Fit) -> Step:
    return function(fit, expressions.truths(fit.spread)).map(lambda f: f".take_while({f})")


@st.composite
def inner(draw: st.DrawFn, arguments: Arguments) -> str:
    """A dataset that a function makes of an element."""
    number = draw(expressions.numbers(arguments))
    rows = [leaf.path for leaf in arguments.leaves if leaf.shape]
    match draw(st.sampled_from(["element", "range", "pairs", "rows"])):
        case "element":
            return f"tf.data.Dataset.from_tensors({arguments.element}).repeat({number})"
        case "range":
            return f"tf.data.Dataset.range({number})"
        case "pairs":
            return f"tf.data.Dataset.range(2).map(lambda i: (i, {draw(expressions.values(arguments))}))"
        case _:
            if not rows:
                return f"tf.data.Dataset.range({number}, 4).batch(2)"
            return f"tf.data.Dataset.from_tensor_slices({draw(st.sampled_from(rows))})"


def flat_map(fit: Fit) -> Step:
    return function(fit, inner(fit.spread)).map(lambda f: f".flat_map({f})")


def interleave(fit: Fit) -> Step:
    lengths = st.sampled_from([1, 2, 3, 2, 3, 0])
    calls = st.sampled_from(["", "", "1", "2", "tf.data.AUTOTUNE", "0"])
    how = calls.map(lambda n: n and f", num_parallel_calls={n}")
    return st.tuples(function(fit, inner(fit.spread)), lengths, lengths, how).map(
        lambda p: f".interleave({p[0]}, cycle_length={p[1]}, block_length={p[2]}{p[3]})"
    )


def batch(fit: Fit) -> Step:
    how = st.sampled_from(["", "", ", drop_remainder=True", ", num_parallel_calls=2"])
    return st.tuples(SIZES, how).map(lambda p: f".batch({p[0]}{p[1]})")


@st.composite
def padding(draw: st.DrawFn, fit: Fit, unknown: int | None = None) -> str:
    """The further arguments of ``padded_batch`` and ``bucket_by_sequence_length``."""
    text = ""
    if len(fit.leaves) == 1 and fit.leaves[0].path == "x" and draw(BOOLEANS):
        leaf = fit.leaves[0]
        if leaf.shape is not None:
            dims = [draw(st.sampled_from([unknown if dim is None else dim, unknown, 5])) for dim in leaf.shape]
            text += f", padded_shapes={dims}"
        if draw(BOOLEANS):
            value = "'z'" if leaf.dtype == "string" else f"np.array(1, {expressions.dtype_name(leaf.dtype)})"
            text += ", padding_values=" + draw(st.sampled_from([value, value, "1.5", "'a'"]))
    return text + draw(st.sampled_from(["", "", ", drop_remainder=True"]))


def padded_batch(fit: Fit) -> Step:
    further = st.sampled_from([None, -1]).flatmap(lambda unknown: padding(fit, unknown))
    return st.tuples(SIZES, further).map(lambda p: f".padded_batch({p[0]}{p[1]})")


@st.composite
def bucket_by_sequence_length(draw: st.DrawFn, fit: Fit) -> str:
    length = f"lambda {fit.spread.parameters}: f.size({draw(st.sampled_from(fit.leaves)).path})"
    boundaries, sizes = draw(st.sampled_from([([2], [2, 1]), ([1, 3], [2, 3, 2]), ([9], [3, 3]), ([2, 4], [1, 2])]))
    how = draw(st.sampled_from(["", "", ", pad_to_bucket_boundary=True", ", no_padding=True"]))
    return f".bucket_by_sequence_length({length}, {boundaries}, {sizes}{draw(padding(fit))}{how})"


def rebatch(fit: Fit) -> Step:
    sizes = st.sampled_from([1, 2, 3, 2, 3, 4, [2, 1], [1, 3], [2, 2]])
    how = st.sampled_from(["", "", ", drop_remainder=True"])
    return st.tuples(sizes, how).map(lambda p: f".rebatch({p[0]}{p[1]})")


def unbatch(fit: Fit) -> Step:
    return st.just(".unbatch()")


def batch_and_rebatch(fit: Fit) -> Step:
    return st.tuples(batch(fit), rebatch(fit)).map("".join)


def batch_and_unbatch(fit: Fit) -> Step:
    return batch(fit).map(lambda text: text + ".unbatch()")


@st.composite
def window(draw: st.DrawFn, fit: Fit) -> str:
    size = draw(SIZES)
    how = draw(st.sampled_from(["", "", ", shift=1", ", shift=3", ", shift=5", ", shift=2, stride=2", ", stride=3"]))
    drop = draw(st.sampled_from(["", "", ", drop_remainder=True"]))
    one = draw(st.sampled_from(fit.leaves)).path
    two = draw(st.sampled_from(fit.leaves)).path
    parameters = fit.spread.parameters
    use = draw(
        st.sampled_from(
            [
                f".flat_map(lambda {parameters}: {one}.batch(2))",
                f".flat_map(lambda {parameters}: {one}.batch(3, drop_remainder=True))",
                f".flat_map(lambda {parameters}: tf.data.Dataset.zip(({one}.batch(2), {two}.batch(2))))",
                f".flat_map(lambda {parameters}: {one})",
                f".map(lambda {parameters}: {one}.cardinality())",
                f".map(lambda {parameters}: {one}.reduce(np.int64(0), lambda s, x: s + 1))",
                f".interleave(lambda {parameters}: {one}.skip(1), cycle_length=2)",
            ]
        )
    )
    return f".window({size}{how}{drop}){use}"


@st.composite
def group_by_window(draw: st.DrawFn, fit: Fit) -> str:
    key = f"lambda {fit.spread.parameters}: {draw(expressions.numbers(fit.spread))}"
    use = draw(st.sampled_from(["g.batch(2)", "g", "g.padded_batch(3)", "g.take(1)", "g.enumerate(k)", "g.batch(9)"]))
    size = draw(
        st.sampled_from(["window_size=2", "window_size=3", "window_size_func=lambda k: k + 1", "window_size=0"])
    )
    return f".group_by_window({key}, lambda k, g: {use}, {size})"


def repeat(fit: Fit) -> Step:
    return REPETITIONS.map(lambda n: f".repeat({n})")


def take(fit: Fit) -> Step:
    return COUNTS.filter(lambda n: n >= -1).map(lambda n: f".take({n})")


def skip(fit: Fit) -> Step:
    return COUNTS.map(lambda n: f".skip({n})")


def shard(fit: Fit) -> Step:
    return st.tuples(st.sampled_from([2, 3, 1, 2, 3, 0]), st.sampled_from([0, 1, 0, 1, 2, -1])).map(
        lambda p: f".shard({p[0]}, {p[1]})"
    )


def enumerate(fit: Fit) -> Step:
    return st.sampled_from(["", "", "3", "-1"]).map(lambda n: f".enumerate({n})")


def prefetch(fit: Fit) -> Step:
    return st.sampled_from(["2", "tf.data.AUTOTUNE", "1", "0", "-2"]).map(lambda n: f".prefetch({n})")


def cache(fit: Fit) -> Step:
    return st.just(".cache()")


def ignore_errors(fit: Fit) -> Step:
    return st.just(".ignore_errors()")


def unique(fit: Fit) -> Step:
    return st.just(".unique()")


def with_options(fit: Fit) -> Step:
    return st.just(".with_options(f.options(True))")


def shuffle_by_one(fit: Fit) -> Step:
    return st.just(".shuffle(1)")


def seeded_shuffle(fit: Fit) -> Step:
    """With a seed, by which the order is TensorFlow's; a last argument of true would leave later passes open."""
    return st.tuples(st.sampled_from([2, 3, 5, 100]), st.integers(0, 9)).map(
        lambda p: f".shuffle({p[0]}, {p[1]}, False)"
    )


def seeded_sample(fit: Fit) -> Step:
    weights = st.sampled_from(["[0.4, 0.6]", "[0.9, 0.1]", "None"])
    stop = st.sampled_from(["", ", stop_on_empty_dataset=True"])
    return st.tuples(weights, st.integers(0, 9), stop).map(
        lambda p: (
            ".apply(lambda d: tf.data.Dataset.sample_from_datasets("
            f"[d, d.skip(1)], {p[0]}, seed={p[1]}, rerandomize_each_iteration=False{p[2]}))"
        )
    )


@st.composite
def scan(draw: st.DrawFn, fit: Fit) -> str:
    value = draw(expressions.values(fit.whole))
    output = draw(st.sampled_from(["s", value, "x", f"(s, {value})", f"{{'s': s, 'x': {value}}}"]))
    state, step = draw(
        st.sampled_from([("np.int64(0)", "s + 1"), ("1.5", "s * 2"), ("(1, 'a')", "(s[0] + 1, s[1])"), ("0", "s")])
    )
    return f".scan({state}, lambda s, x: ({step}, {output}))"


@st.composite
def reduce(draw: st.DrawFn, fit: Fit) -> str:
    number = draw(expressions.numbers(fit.whole))
    state, step = draw(
        st.sampled_from(
            [
                ("np.int64(0)", f"s + {number}"),
                ("(np.int64(0), np.int64(1))", f"(s[0] + {number}, s[1] + 1)"),
                ("{'n': 1, 'a': 2.5}", "{'n': s['n'] + 1, 'a': s['a']}"),
                ("0", "s"),
            ]
        )
    )
    return f".apply(lambda d: tf.data.Dataset.from_tensors(d.reduce({state}, lambda s, x: {step})))"


def get_single_element(fit: Fit) -> Step:
    return st.sampled_from(["", ".take(1)", ".batch(9)"]).map(
        lambda first: f".apply(lambda d: tf.data.Dataset.from_tensors(d{first}.get_single_element()))"
    )


_OTHERS = st.sampled_from(
    [
        "d.skip(1)",
        "d.take(2)",
        "d",
        "tf.data.Dataset.range(4)",
        "tf.data.Dataset.range(3, 20).filter(lambda i: i % 2 == 0)",
    ]
)


def zip(fit: Fit) -> Step:
    forms = st.sampled_from(
        [
            "tf.data.Dataset.zip(d, {})",
            "tf.data.Dataset.zip((d, {}))",
            "d.zip({})",
            "tf.data.Dataset.zip({{'b': d, 'a': {}}})",
            "tf.data.Dataset.zip((d, (tf.data.Dataset.range(2).repeat(), {})))",
            "tf.data.Dataset.zip(Point(d, {}))",
        ]
    )
    return st.tuples(forms, _OTHERS).map(lambda p: f".apply(lambda d: {p[0].format(p[1])})")


def concatenate(fit: Fit) -> Step:
    same = "d.map(lambda *e: e)" if fit.spread.element.startswith("(") else "d.map(lambda e: e)"
    others = st.one_of(_OTHERS, st.sampled_from([same, "d.batch(2)"]))
    return others.map(lambda other: f".apply(lambda d: d.concatenate({other}))")


@st.composite
def choose_from_datasets(draw: st.DrawFn, fit: Fit) -> str:
    choices = draw(st.lists(st.sampled_from([0, 1, 0, 1, 1, 0, 2]), max_size=7))
    other = draw(st.sampled_from(["d.skip(1)", "d.take(1)", "d", "d.repeat(2)"]))
    stop = draw(st.sampled_from(["", ", stop_on_empty_dataset=False"]))
    selector = draw(
        st.sampled_from(
            [f"tf.data.Dataset.from_tensor_slices(np.array({choices}, 'int64'))", "tf.data.Dataset.range(2)"]
        )
    )
    return f".apply(lambda d: tf.data.Dataset.choose_from_datasets([d, {other}], {selector}{stop}))"


def sample_from_datasets(fit: Fit) -> Step:
    """Without luck: where only one dataset can be drawn."""
    arguments = st.sampled_from(["[d]", "[d, d.skip(1)], [0.0, 1.0]", "[d, d, d], [0.0, 2.5, 0.0], seed=3"])
    return arguments.map(lambda text: f".apply(lambda d: tf.data.Dataset.sample_from_datasets({text}))")


def shuffle(fit: Fit) -> Step:
    """With luck from a seed, or from the iteration's."""
    return st.tuples(st.integers(1, 5), st.sampled_from(["", ", seed=3", ", 4, False"])).map(
        lambda p: f".shuffle({p[0]}{p[1]})"
    )


def shuffle_once(fit: Fit) -> Step:
    return st.just(".shuffle(3).cache().repeat(2)")


def sample_by_luck(fit: Fit) -> Step:
    return st.integers(0, 3).map(
        lambda seed: f".apply(lambda d: tf.data.Dataset.sample_from_datasets([d, d.skip(1)], [0.4, 0.6], {seed}))"
    )


def zip_with_luck(fit: Fit) -> Step:
    return st.integers(0, 3).map(
        lambda seed: f".apply(lambda d: tf.data.Dataset.zip(d, tf.data.Dataset.random({seed})))"
    )


def rejection_resample(fit: Fit) -> Step:
    return st.integers(0, 3).flatmap(
        lambda seed: expressions.numbers(fit.spread).map(
            lambda number: (
                f".rejection_resample(lambda {fit.spread.parameters}: {number} % 2, [0.5, 0.5], seed={seed})"
                ".map(lambda label, element: element)"
            )
        )
    )


def map_columns(fit: Fit) -> Step:
    paths = [leaf.path for leaf in fit.leaves if leaf.dtype in expressions.INTEGERS]
    body = st.sampled_from(paths or ["np.zeros(len(" + fit.leaves[0].path + "))"])
    return function(fit, body.map(lambda path: f"({path}, {path} + 1)")).map(
        lambda f: f".map(tf.data.experimental.vectorized({f}))"
    )


def map_in_processes(fit: Fit) -> Step:
    return function(fit, expressions.results(fit.spread)).map(
        lambda f: f".map(tf.data.experimental.in_processes({f}), 2)"
    )


def map_with_luck(fit: Fit) -> Step:
    return expressions.numbers(fit.spread).map(
        lambda number: (
            f".map(tf.data.experimental.seeded(lambda {fit.spread.parameters}, rng: {number} + rng.integers(3)))"
        )
    )


def open_order(fit: Fit) -> Step:
    return st.just(".with_options(f.options(False))")


OWN: tuple[Callable[[Fit], Step], ...] = (
    shuffle, shuffle, shuffle_once, sample_by_luck, zip_with_luck, rejection_resample, map_columns, map_with_luck,
    map_in_processes, open_order,
)  # fmt: skip
"""Steps that nobody but ``tfsvc`` can be asked for: those with luck, and names of its own."""

EVERYWHERE: tuple[Callable[[Fit], Step], ...] = (
    map, map, map, filter, take_while, flat_map, interleave, batch, batch, padded_batch, bucket_by_sequence_length,
    batch_and_rebatch, batch_and_unbatch, window, group_by_window, repeat, take, skip, shard, enumerate,
    prefetch, cache, ignore_errors, with_options, shuffle_by_one, scan, reduce, get_single_element, zip, concatenate,
    choose_from_datasets, sample_from_datasets, seeded_shuffle, seeded_sample,
)  # fmt: skip
"""Steps that most elements fit."""

ROWS = (rebatch, unbatch, unbatch)
"""Steps for elements whose components have rows."""

VALUES = (unique, unique)
"""Steps for single numbers and strings."""
