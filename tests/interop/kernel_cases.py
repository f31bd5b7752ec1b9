"""What every operator of graphs is tried with, beside TensorFlow's own kernels: inputs drawn for each data type.

A case draws an operator's inputs and attributes. ``None`` stands for a type that the operator is not tried with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTS = ("int32", "int64", "int8", "uint8")
NUMBERS = (*FLOATS, *INTS)
ANY = (*NUMBERS, "bool", "string", "complex64")


@dataclass(frozen=True)
class Case:
    """One way to call an operator.

    Attributes:
      draw: the inputs, in order; a list for an input of several tensors.
      dtypes: what the drawn arrays are of.
      attrs: what ``tf.raw_ops`` wants besides.
      loose: by how much more than rounding results may differ.
    """

    draw: Callable[[Draw], list[Any]]
    dtypes: tuple[str, ...] = NUMBERS
    attrs: dict[str, Any] = field(default_factory=dict)
    loose: float = 1.0


class Draw:
    """Draws arrays of one data type."""

    def __init__(self, seed: int, dtype: str) -> None:
        self.rng = np.random.default_rng([seed, len(dtype), *dtype.encode()])
        self.dtype = dtype

    def shape(self) -> tuple[int, ...]:
        return tuple(
            int(n) for n in self.rng.choice([0, 1, 2, 3, 4], self.rng.integers(0, 4), p=[0.04, 0.2, *[0.76 / 3] * 3])
        )

    def full(self, rank: int) -> tuple[int, ...]:
        """A shape without an empty dimension."""
        return tuple(int(n) for n in self.rng.integers(1, 5, rank))

    def array(self, shape: tuple[int, ...] | None = None, dtype: str | None = None, positive: bool = False) -> Any:
        import ml_dtypes  # noqa: F401  (gives NumPy the name "bfloat16")

        dtype, shape = dtype or self.dtype, self.shape() if shape is None else shape
        if dtype == "string":
            words = np.array([b"", b"a", b"Bc", b"\xc3\xa9x", b"12"], object)
            return words[self.rng.integers(0, len(words), shape)] if shape else np.array(b"word", object)
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype.startswith("complex"):
            return (self.rng.normal(size=shape) + 1j * self.rng.normal(size=shape)).astype(dtype)
        if "int" in dtype:
            low = 1 if positive else 0 if dtype.startswith("u") else -9
            return self.rng.integers(low, 10, shape).astype(dtype)
        drawn = self.rng.normal(scale=3, size=shape)
        drawn = np.abs(drawn) + 0.1 if positive else np.where(self.rng.random(shape) < 0.1, 0.0, drawn)
        return np.asarray(drawn).astype(dtype)

    def odd(self, shape: tuple[int, ...]) -> Any:
        """Numbers among which some are none."""
        drawn = np.array(self.array(shape), dtype=np.float64)
        strange = self.rng.choice([np.nan, np.inf, -np.inf, -0.0], shape)
        return np.where(self.rng.random(shape) < 0.3, strange, drawn).astype(self.dtype)

    def broadcast(self) -> tuple[Any, Any]:
        """Two shapes that go together, and now and then two that do not."""
        whole = self.shape()
        one = tuple(1 if self.rng.random() < 0.3 else n for n in whole)
        other = tuple(1 if self.rng.random() < 0.3 else n for n in whole)[self.rng.integers(0, len(whole) + 1) :]
        if self.rng.random() < 0.05:
            other = (*other, 7)
        return (one, other) if self.rng.random() < 0.5 else (other, one)

    def pair(self, positive: bool = False) -> list[Any]:
        one, other = self.broadcast()
        return [self.array(one), self.array(other, positive=positive)]

    def below(self, count: int, shape: tuple[int, ...] = (), dtype: str = "int32") -> Any:
        return np.asarray(self.rng.integers(0, count, shape)).astype(dtype)

    def axis(self, rank: int) -> Any:
        return np.int32(self.rng.integers(-rank, rank)) if rank else np.int32(0)

    def axes(self, rank: int) -> Any:
        count = int(self.rng.integers(0, rank + 1))
        return np.sort(self.rng.permutation(rank)[:count]).astype(np.int32)


def one(d: Draw) -> list[Any]:
    return [d.array()]


def odd(d: Draw) -> list[Any]:
    return [d.odd(d.shape())]


def positive(d: Draw) -> list[Any]:
    return [d.array(positive=True)]


def unit(d: Draw) -> list[Any]:
    return [np.asarray(d.rng.uniform(-1, 1, d.shape())).astype(d.dtype)]


def two(d: Draw) -> list[Any]:
    return d.pair()


def two_odd(d: Draw) -> list[Any]:
    return [d.odd(shape) for shape in d.broadcast()]


def divided(d: Draw) -> list[Any]:
    return d.pair(positive=d.rng.random() < 0.8)


def alike(count: int) -> Callable[[Draw], list[Any]]:
    """Arrays of one shape."""

    def draw(d: Draw) -> list[Any]:
        shape = d.shape()
        return [d.array(shape) for _ in range(count)]

    return draw


def listed(count: int) -> Callable[[Draw], list[Any]]:
    return lambda d: [alike(count)(d)]


def reduced(d: Draw) -> list[Any]:
    x = d.array()
    return [x, d.axes(x.ndim)]


def along(d: Draw) -> list[Any]:
    x = d.array(d.full(int(d.rng.integers(1, 4))))
    return [x, d.axis(x.ndim)]


def _c(draw: Any, dtypes: tuple[str, ...] = NUMBERS, loose: float = 1.0, **attrs: Any) -> Case:
    return Case(draw, dtypes, attrs, loose)


def _all(ops: str, *cases: Case) -> dict[str, list[Case]]:
    return {op: list(cases) for op in ops.split()}


ELEMENTWISE = {
    **_all("Abs Neg Square Sign", _c(one)),
    **_all("Ceil Floor Rint Round Softsign Exp Expm1 Tanh Sigmoid Atan Sin Cos", _c(odd, FLOATS, 4)),
    **_all("Sqrt Rsqrt Log Log1p Reciprocal Inv Tan Sinh Cosh Softplus", _c(odd, FLOATS, 8), _c(positive, FLOATS, 8)),
    # TensorFlow's error function in 64 bits knows no infinity.
    "Erf": [_c(odd, ("float32", "float16", "bfloat16"), 4), _c(one, ("float64",), 4)],
    **_all("Acos Asin", _c(unit, FLOATS, 4)),
    **_all("IsFinite IsInf IsNan", _c(odd, FLOATS)),
    **_all("Add AddV2 Sub Mul", _c(two), _c(two_odd, FLOATS)),
    **_all("Maximum Minimum", _c(two), _c(two_odd, FLOATS)),
    **_all("SquaredDifference", _c(two)),
    **_all("Div RealDiv FloorDiv FloorMod Mod", _c(divided), _c(two_odd, FLOATS[:2])),
    # TensorFlow's own have an internal error where they divide a whole number by zero.
    **_all("TruncateDiv TruncateMod", _c(lambda d: d.pair(positive=True)), _c(two_odd, FLOATS[:2])),
    **_all("DivNoNan MulNoNan Xdivy Xlogy", _c(divided, FLOATS, 4)),
    "Pow": [
        _c(lambda d: [d.array(positive=True), d.array((), positive=True)], FLOATS[:2], 8),
        _c(lambda d: [d.array(), d.below(4)], ("int32",)),
        _c(two, INTS[:2]),
    ],
    "Atan2": [_c(two, FLOATS[:2], 4)],
    **_all("Less LessEqual Greater GreaterEqual", _c(two), _c(two_odd, FLOATS)),
    **_all("Equal NotEqual", _c(lambda d: alike(2)(d), ANY), _c(two_odd, FLOATS), _c(two, (*ANY,))),
    **_all("LogicalAnd LogicalOr", _c(two, ("bool",))),
    "LogicalNot": [_c(one, ("bool",))],
    **_all("BitwiseAnd BitwiseOr BitwiseXor", _c(two, INTS)),
    "Invert": [_c(one, INTS)],
    **_all("Conj Real Imag", _c(one, ("complex64",))),
    "Select": [
        _c(lambda d: [np.bool_(d.rng.random() < 0.5), *alike(2)(d)], ANY),
        _c(lambda d: [d.array((3,), "bool"), d.array((3, 2)), d.array((3, 2))], ANY),
    ],
    "SelectV2": [_c(lambda d: [d.array(d.broadcast()[0][:1], "bool"), *two(d)], ANY)],
    "AddN": [_c(listed(3), FLOATS)],
    "AccumulateNV2": [_c(lambda d: [[d.array((2, 3)) for _ in range(3)]], FLOATS[:2], 4, shape=[2, 3])],
    "Cast": [
        *(_c(one, (*NUMBERS, "bool"), DstT=to) for to in ("float32", "int32", "bool", "float16", "int64")),
        _c(positive, (*NUMBERS, "bool"), DstT="uint8"),
        *(_c(odd, FLOATS, DstT=to) for to in ("float32", "float64", "float16", "bfloat16", "bool")),
    ],
    "ClipByValue": [
        _c(
            lambda d: [d.array(), np.asarray(d.array(()) - d.array((), positive=True)), d.array((), positive=True)],
            FLOATS,
        )
    ],
    "LeakyRelu": [_c(odd, FLOATS, alpha=0.3)],
    "Range": [
        _c(
            lambda d: [np.asarray(v).astype(d.dtype) for v in d.rng.integers(1, 12, 3)],
            ("int32", "int64", "float32", "float64"),
        )
    ],
    "LinSpace": [_c(lambda d: [d.array(()), d.array(()), np.int32(d.rng.integers(1, 9))], FLOATS[:2], 4)],
    "CheckNumerics": [_c(odd, FLOATS[:3], message="m"), _c(one, FLOATS[:3], message="m")],
}

REDUCTIONS = {
    **_all("Sum Prod Max Min Mean", _c(reduced, loose=4), _c(reduced, keep_dims=True, loose=4)),
    "EuclideanNorm": [_c(reduced, FLOATS[:2], 8)],
    **_all("All Any", _c(reduced, ("bool",)), _c(reduced, ("bool",), keep_dims=True)),
    **_all("ArgMax ArgMin", _c(along), _c(along, FLOATS, output_type="int32")),
    **_all(
        "Cumsum Cumprod", *(_c(along, loose=8, exclusive=e, reverse=r) for e in (False, True) for r in (False, True))
    ),
    "L2Loss": [_c(one, FLOATS[:2], 8)],
    "TopKV2": [_c(lambda d: [d.array((3, 5)), np.int32(d.rng.integers(0, 7))])],
    "InTopKV2": [
        _c(
            lambda d: [d.array((4, 5), "float32"), d.below(5, (4,), d.dtype), d.below(5, (), d.dtype)],
            ("int32", "int64"),
        )
    ],
    **_all(
        "UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd",
        _c(lambda d: [d.array((5, 2)), d.below(4, (5,)) - 1, np.int32(4)], loose=4),
        _c(lambda d: [d.array((3,)), d.below(4, (3,)), np.int32(2)]),
    ),
}

LAYERS = {
    "MatMul": [
        _c(lambda d: [d.array((3, 4)), d.array((4, 2))], ("float32", "float64", "int32", "complex64"), 8),
        _c(lambda d: [d.array((4, 3)), d.array((2, 4))], FLOATS, 8, transpose_a=True, transpose_b=True),
        _c(lambda d: [d.array(d.full(2)), d.array(d.full(2))], FLOATS[:2], 8),
        _c(lambda d: [d.array((0, 3)), d.array((3, 2))], FLOATS[:2]),
    ],
    **_all(
        "BatchMatMul BatchMatMulV2",
        _c(lambda d: [d.array((2, 3, 4)), d.array((2, 4, 2))], FLOATS[:2], 8),
        _c(lambda d: [d.array((2, 4, 3)), d.array((2, 2, 4))], ("float32", "complex64"), 8, adj_x=True, adj_y=True),
    ),
    "Einsum": [_c(lambda d: [[d.array((2, 3)), d.array((3, 4))]], FLOATS[:2], 8, equation="ij,jk->ki")],
    "BiasAdd": [
        _c(lambda d: [d.array((2, 3, 4)), d.array((4,))], (*FLOATS, "int32")),
        _c(lambda d: [d.array((2, 3, 2, 2)), d.array((3,))], FLOATS[:2], data_format="NCHW"),
        _c(lambda d: [d.array((2, 3)), d.array((4,))], FLOATS[:1]),
    ],
    "BiasAddV1": [_c(lambda d: [d.array((2, 3)), d.array((3,))], FLOATS)],
    "BiasAddGrad": [
        _c(lambda d: [d.array((2, 3, 4))], FLOATS[:2], 8),
        _c(lambda d: [d.array((2, 3, 2, 2))], FLOATS[:1], 8, data_format="NCHW"),
    ],
    **_all("Relu Relu6", _c(odd, FLOATS), _c(one, INTS)),
    "Elu": [_c(odd, FLOATS, 4)],
    **_all(
        "Softmax LogSoftmax", _c(lambda d: [d.array((3, 4))], FLOATS, 16), _c(lambda d: [d.array((4,))], FLOATS[:2], 16)
    ),
    "SoftmaxCrossEntropyWithLogits": [_c(lambda d: [d.array((3, 4)), np.abs(d.array((3, 4)))], FLOATS[:3], 32)],
    "SparseSoftmaxCrossEntropyWithLogits": [
        _c(lambda d: [d.array((3, 4)), d.below(4, (3,))], FLOATS[:3], 32),
        _c(lambda d: [d.array((3, 4)), d.below(4, (3,), "int64")], FLOATS[:3], 32),
        _c(lambda d: [d.array((3, 4)), d.below(4, (3,)) + 3], FLOATS[:1]),
    ],
    **_all(
        "EluGrad InvGrad ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SigmoidGrad SoftplusGrad TanhGrad",
        _c(alike(2), FLOATS, 8),
    ),
    "SqrtGrad": [_c(lambda d: [d.array((3, 2), positive=True) for _ in range(2)], FLOATS, 8)],
    "LeakyReluGrad": [_c(alike(2), FLOATS, alpha=0.1)],
    "BroadcastGradientArgs": [_c(lambda d: [np.array(s, d.dtype) for s in d.broadcast()], ("int32", "int64"))],
    "ConcatOffset": [_c(lambda d: [np.int32(1), [np.array([2, n], np.int32) for n in d.full(3)]], ("int32",))],
}
