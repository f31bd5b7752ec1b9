"""Operators that work element by element: arithmetic, comparisons, logic, roundings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel, plain
from tfsvc.graph.values import Run


def _concatenated(a: Any, b: Any) -> Any:
    """``Add`` of strings is their concatenation, as of everything in an ``object`` array."""
    return np.add(a, b)


def _div_no_nan(a: Any, b: Any) -> Any:
    zero = np.equal(b, 0)
    return np.where(
        zero, np.zeros((), np.result_type(a)), np.divide(a, np.where(zero, np.ones((), np.result_type(b)), b))
    )


def _xlogy(a: Any, b: Any) -> Any:
    zero = np.equal(a, 0)
    return np.where(zero, np.zeros_like(a), a * np.log(np.where(zero, np.ones_like(b), b)))


def _mul_no_nan(a: Any, b: Any) -> Any:
    return np.where(np.equal(b, 0), np.zeros((), np.result_type(a)), np.multiply(a, b))


def _integer_division(name: str, divide: Any) -> Any:
    def run(a: Any, b: Any) -> Any:
        if _is_whole(b) and not np.all(b):
            raise InvalidArgumentError(message="Integer division by zero")
        return divide(a, b)

    return run


def _is_whole(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "iu"


def _floored(a: Any, b: Any) -> Any:
    """Division that rounds down; NumPy's own knows other infinities."""
    return np.floor_divide(a, b) if _is_whole(a) else np.floor(np.divide(a, b))


def _truncated(a: Any, b: Any) -> Any:
    """Division that rounds towards zero, as C's."""
    if not _is_whole(a):
        return np.trunc(np.divide(a, b))
    return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(np.asarray(a).dtype)


def _pow(a: Any, b: Any) -> Any:
    if np.asarray(b).dtype.kind == "i" and np.size(a) and np.any(np.less(b, 0)):
        raise InvalidArgumentError(message="Integers to negative integer powers are not allowed")
    return np.power(a, b)


def _sigmoid(x: Any) -> Any:
    x = np.asarray(x)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, np.zeros((), np.asarray(x).dtype))


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _erf_of(x: Any) -> Any:
    return _erf(np.asarray(x, np.float64)).astype(np.asarray(x).dtype)


plain(
    {
        "Abs": np.abs,
        "Acos": np.arccos,
        "Add": _concatenated,
        "AddV2": _concatenated,
        "Asin": np.arcsin,
        "Atan": np.arctan,
        "Atan2": np.arctan2,
        "BitwiseAnd": np.bitwise_and,
        "BitwiseOr": np.bitwise_or,
        "BitwiseXor": np.bitwise_xor,
        "Ceil": np.ceil,
        "Conj": np.conj,
        "Cos": np.cos,
        "Cosh": np.cosh,
        "Div": _integer_division("Div", lambda a, b: _truncated(a, b) if _is_whole(a) else np.divide(a, b)),
        "DivNoNan": _div_no_nan,
        "Erf": _erf_of,
        "Exp": np.exp,
        "Expm1": np.expm1,
        "Floor": np.floor,
        "FloorDiv": _integer_division("FloorDiv", _floored),
        "FloorMod": _integer_division("FloorMod", np.mod),
        "Greater": np.greater,
        "GreaterEqual": np.greater_equal,
        "Imag": np.imag,
        "Inv": np.reciprocal,
        "Invert": np.invert,
        "IsFinite": np.isfinite,
        "IsInf": np.isinf,
        "IsNan": np.isnan,
        "Less": np.less,
        "LessEqual": np.less_equal,
        "Log": np.log,
        "Log1p": np.log1p,
        "LogicalAnd": np.logical_and,
        "LogicalNot": np.logical_not,
        "LogicalOr": np.logical_or,
        "Maximum": np.maximum,
        "Minimum": np.minimum,
        "Mod": _integer_division("Mod", np.fmod),
        "Mul": np.multiply,
        "MulNoNan": _mul_no_nan,
        "Neg": np.negative,
        "Pow": _pow,
        "Real": np.real,
        "RealDiv": np.divide,
        "Reciprocal": np.reciprocal,
        "Rint": np.rint,
        "Round": np.round,
        "Rsqrt": lambda x: np.reciprocal(np.sqrt(x)),
        "Sigmoid": _sigmoid,
        "Sign": np.sign,
        "Sin": np.sin,
        "Sinh": np.sinh,
        "Softplus": _softplus,
        "Softsign": lambda x: x / (np.abs(x) + np.ones((), np.asarray(x).dtype)),
        "Sqrt": np.sqrt,
        "Square": np.square,
        "SquaredDifference": lambda a, b: np.square(np.subtract(a, b)),
        "Sub": np.subtract,
        "Tan": np.tan,
        "Tanh": np.tanh,
        "TruncateDiv": _integer_division("TruncateDiv", _truncated),
        "TruncateMod": _integer_division("TruncateMod", np.fmod),
        "Xdivy": lambda a, b: np.where(np.equal(a, 0), np.zeros_like(a), np.divide(a, b)),
        "Xlogy": _xlogy,
    }
)


def _select(condition: Any, yes: Any, no: Any) -> Any:
    """``Select``: a vector of conditions chooses whole rows."""
    condition, yes = np.asarray(condition), np.asarray(yes)
    if condition.ndim == 1 and yes.ndim > 1:
        condition = condition.reshape(-1, *(1,) * (yes.ndim - 1))
    return np.where(condition, yes, no)


plain({"Select": _select, "SelectV2": np.where})


@kernel("Equal", "NotEqual")
def _equal(node: Attributes) -> Run:
    compare = np.equal if node.op == "Equal" else np.not_equal
    return lambda a, b: np.asarray(compare(a, b), np.bool_)


@kernel("AddN", "AccumulateNV2")
def _add_n(node: Attributes) -> Run:
    def run(*inputs: Any) -> Any:
        total = inputs[0]
        for each in inputs[1:]:
            total = np.add(total, each)
        return total

    return run


@kernel("Cast")
def _cast(node: Attributes) -> Run:
    kind = node.type("DstT")
    return lambda x: np.asarray(x).astype(kind)


@kernel("ClipByValue")
def _clip(node: Attributes) -> Run:
    return lambda x, low, high: np.maximum(np.minimum(x, high), low)


@kernel("LeakyRelu")
def _leaky_relu(node: Attributes) -> Run:
    alpha = node.float("alpha", 0.2)
    return lambda x: np.where(np.greater(x, 0), x, x * np.asarray(alpha, np.asarray(x).dtype))


@kernel("Range")
def _range(node: Attributes) -> Run:
    def run(start: Any, limit: Any, delta: Any) -> Any:
        if not np.all(delta):
            raise InvalidArgumentError(message="Requires delta != 0")
        bounds: list[Any] = [np.asarray(each).item() for each in (start, limit, delta)]
        if (bounds[0] - bounds[1]) * bounds[2] > 0:
            order = "<=" if bounds[2] > 0 else ">="
            raise InvalidArgumentError(
                message=f"Requires start {order} limit, not {bounds[0]} and {bounds[1]}, when delta is {bounds[2]}"
            )
        return np.arange(*bounds, dtype=np.asarray(start).dtype)

    return run


@kernel("LinSpace")
def _linspace(node: Attributes) -> Run:
    return lambda start, stop, count: np.linspace(start, stop, int(count), dtype=np.asarray(start).dtype)


@kernel("CheckNumerics")
def _check_numerics(node: Attributes) -> Run:
    message = node.text("message")

    def run(x: Any) -> Any:
        if not np.all(np.isfinite(x)):
            what = "NaN" if np.any(np.isnan(x)) else "Inf"
            raise InvalidArgumentError(message=f"{message} : Tensor had {what} values")
        return x

    return run
