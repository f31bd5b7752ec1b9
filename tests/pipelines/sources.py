"""Where drawn pipelines begin."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.pipelines.expressions import INTEGERS, dtype_name

DTYPES = (*INTEGERS, "float16", "float32", "float64", "bool", "complex64", "bfloat16")
SHAPES = ((), (), (), (1,), (2,), (3,), (0,), (2, 2), (1, 3), (2, 0))


@st.composite
def arrays(draw: st.DrawFn, shape: tuple[int, ...]) -> str:
    """The text of an array or, now and then, of Python's own values."""
    kind = draw(st.sampled_from(["python", "array", "array", "strings"]))
    if kind == "strings":
        nested = _nested(draw, shape, st.sampled_from(["", "a", "bc", "def"]))
        return repr(nested) if draw(st.booleans()) and 0 not in shape else f"np.array({nested!r}, 'U3')"
    if kind == "python":
        leaf = draw(st.sampled_from([st.integers(0, 6), st.sampled_from([0.0, 1.5, 2.0]), st.booleans()]))
        return repr(_nested(draw, shape, leaf))
    dtype = draw(st.sampled_from(DTYPES))
    nested = _nested(draw, shape, st.booleans() if dtype == "bool" else st.integers(0, 6))
    return f"np.array({nested!r}, {dtype_name(dtype)})"


def _nested(draw: st.DrawFn, shape: tuple[int, ...], leaf: st.SearchStrategy[Any]) -> Any:
    return draw(leaf) if not shape else [_nested(draw, shape[1:], leaf) for _ in range(shape[0])]


@st.composite
def nests(draw: st.DrawFn, rows: int | None) -> str:
    """The text of an element or, with ``rows``, of that many stacked ones."""
    head = () if rows is None else (rows,)

    def one() -> str:
        return draw(arrays(head + draw(st.sampled_from(SHAPES))))

    match draw(st.sampled_from(["leaf", "leaf", "leaf", "tuple", "dict", "named", "nested", "single"])):
        case "leaf":
            return one()
        case "tuple":
            return f"({one()}, {one()})"
        case "dict":
            return f"{{'b': {one()}, 'a': {one()}}}"
        case "named":
            return f"Point({one()}, {one()})"
        case "single":
            return f"({one()},)"
        case _:
            return f"({one()}, ({one()}, {{'k': {one()}}}))"


@st.composite
def ranges(draw: st.DrawFn) -> str:
    match draw(st.sampled_from(["stop", "stop", "start", "step", "type"])):
        case "stop":
            args = f"{draw(st.integers(0, 7))}"
        case "start":
            args = f"{draw(st.integers(-2, 3))}, {draw(st.integers(0, 6))}"
        case "step":
            args = f"{draw(st.integers(0, 6))}, {draw(st.integers(0, 6))}, {draw(st.sampled_from([2, -1, 3, -2, 0]))}"
        case _:
            args = f"{draw(st.integers(0, 6))}, output_type=tf.{draw(st.sampled_from(['int32', 'float32', 'float64']))}"
    return f"tf.data.Dataset.range({args})"


@st.composite
def generators(draw: st.DrawFn) -> str:
    dtype = draw(st.sampled_from(["int64", "int32", "float32", "string"]))
    leaf = st.sampled_from(["", "a", "bc"]) if dtype == "string" else st.integers(0, 5)
    match draw(st.sampled_from(["scalars", "ragged", "pairs", "anything"])):
        case "scalars":
            rows: Any = draw(st.lists(leaf, max_size=5))
            signature = f"tf.TensorSpec((), tf.{dtype})"
        case "ragged":
            rows = draw(st.lists(st.lists(leaf, max_size=3), max_size=5))
            signature = f"tf.TensorSpec((None,), tf.{dtype})"
        case "pairs":
            rows = draw(st.lists(st.tuples(leaf, st.lists(st.integers(0, 3), min_size=2, max_size=2)), max_size=4))
            signature = f"(tf.TensorSpec((), tf.{dtype}), tf.TensorSpec((2,), tf.int32))"
        case _:
            rows = draw(st.lists(leaf, max_size=4))
            return f"tf.data.Dataset.from_generator(lambda: {rows!r}, output_types=tf.{dtype})"
    return f"tf.data.Dataset.from_generator(lambda: {rows!r}, output_signature={signature})"


@st.composite
def sources(draw: st.DrawFn) -> str:
    kinds = ["range", "range", "tensors", "slices", "slices", "generator", "list", "counter", "random"]
    match draw(st.sampled_from(kinds)):
        case "range":
            return draw(ranges())
        case "tensors":
            return f"tf.data.Dataset.from_tensors({draw(nests(None))})"
        case "slices":
            return f"tf.data.Dataset.from_tensor_slices({draw(nests(draw(st.integers(0, 5))))})"
        case "generator":
            return draw(generators())
        case "list":
            items = draw(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["a", "bc"])), min_size=1, max_size=4))
            return f"tf.data.experimental.from_list({items!r})"
        case "random":
            return f"tf.data.Dataset.random({draw(st.integers(0, 9))}, False).take({draw(st.integers(0, 6))})"
        case _:
            return f"tf.data.Dataset.counter({draw(st.integers(0, 3))}, {draw(st.integers(1, 2))}).take(6)"


OWN = st.one_of(
    st.integers(0, 6).map(lambda n: f"tf.data.Dataset.random(seed={n}).take({n})"),
    st.integers(1, 6).map(lambda n: f"tf.data.Dataset.from_source(np.arange({n}))"),
    st.integers(0, 99).map(lambda place: f"files(tf, {place})"),
)
"""Sources that nobody but ``tfsvc`` can be asked for."""
