"""Arithmetic, comparisons, reductions and linear algebra in graphs, under TensorFlow's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsvc.compat.v1.building import BOOL, INT32, INT64, convert_to_tensor, make_one, together
from tfsvc.compat.v1.graph import Tensor
from tfsvc.specs import as_dtype

Unary = Callable[..., Tensor]


def _unary(op: str, what: str) -> Unary:
    def function(x: Any, name: str | None = None) -> Tensor:
        x = convert_to_tensor(x)
        result = make_one(op, (x,), x.dtype, name, T=x.dtype)
        result.shape = x.shape
        return result

    function.__doc__ = f"{what} of ``x``, element by element."
    return function


def _binary(op: str, what: str, compares: bool = False) -> Callable[..., Tensor]:
    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        a, b = together((x, y))
        return make_one(op, (a, b), BOOL if compares else a.dtype, name, T=a.dtype)

    function.__doc__ = f"{what}, element by element, broadcast as NumPy does; both are of one data type."
    return function


def _logical(op: str, what: str) -> Callable[..., Tensor]:
    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        return make_one(op, (convert_to_tensor(x, BOOL), convert_to_tensor(y, BOOL)), BOOL, name)

    function.__doc__ = f"{what} of truths, element by element."
    return function


abs = _unary("Abs", "The absolute value")
ceil = _unary("Ceil", "The next higher whole number")
cos = _unary("Cos", "The cosine")
exp = _unary("Exp", "The exponential")
floor = _unary("Floor", "The next lower whole number")
identity = _unary("Identity", "A copy")
log = _unary("Log", "The logarithm")
log1p = _unary("Log1p", "The logarithm of one more")
negative = _unary("Neg", "The negative")
reciprocal = _unary("Reciprocal", "One divided by each")
relu = _unary("Relu", "The positive part")
round = _unary("Round", "The nearest whole number, the even one of two,")
rsqrt = _unary("Rsqrt", "One divided by the square root")
sigmoid = _unary("Sigmoid", "The logistic function")
sign = _unary("Sign", "The sign")
sin = _unary("Sin", "The sine")
softmax = _unary("Softmax", "The softmax along the last dimension")
sqrt = _unary("Sqrt", "The square root")
square = _unary("Square", "The square")
stop_gradient = _unary("StopGradient", "A copy")
tanh = _unary("Tanh", "The hyperbolic tangent")

add = _binary("AddV2", "The sum")
divide = _binary("RealDiv", "The quotient")
floordiv = _binary("FloorDiv", "The quotient, rounded down")
maximum = _binary("Maximum", "The greater one")
minimum = _binary("Minimum", "The smaller one")
mod = _binary("FloorMod", "The remainder, with the sign of ``y``")
multiply = _binary("Mul", "The product")
pow = _binary("Pow", "The power")
squared_difference = _binary("SquaredDifference", "The square of the difference")
subtract = _binary("Sub", "The difference")
truediv = divide

equal = _binary("Equal", "Whether they are equal", compares=True)
greater = _binary("Greater", "Whether ``x`` is greater", compares=True)
greater_equal = _binary("GreaterEqual", "Whether ``x`` is greater or equal", compares=True)
less = _binary("Less", "Whether ``x`` is smaller", compares=True)
less_equal = _binary("LessEqual", "Whether ``x`` is smaller or equal", compares=True)
not_equal = _binary("NotEqual", "Whether they differ", compares=True)

logical_and = _logical("LogicalAnd", "Both")
logical_or = _logical("LogicalOr", "One or both")


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """The contrary of truths, element by element."""
    return make_one("LogicalNot", (convert_to_tensor(x, BOOL),), BOOL, name)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """``x`` in another data type."""
    given, kind = convert_to_tensor(x), as_dtype(dtype)
    if given.dtype == kind:
        return given
    result = make_one("Cast", (given,), kind, name, SrcT=given.dtype, DstT=kind)
    result.shape = given.shape
    return result


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Tensor:
    """The product of two matrices, of floats or integers."""
    one, other = together((a, b))
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return make_one("MatMul", (one, other), one.dtype, name or "MatMul", T=one.dtype, **flags)


def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and data type."""
    found = together(inputs)
    return make_one("AddN", found, found[0].dtype, name, T=found[0].dtype, N=len(found))


def _reduction(op: str, what: str, kind: Any = None) -> Callable[..., Tensor]:
    def function(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
        x = convert_to_tensor(input_tensor, kind)
        if axis is None:
            axes = _all_axes(x)
        else:
            axes = convert_to_tensor(np.asarray(axis, np.int32) if not isinstance(axis, Tensor) else axis)
        attrs: dict[str, Any] = {} if kind is not None else {"T": x.dtype}
        return make_one(op, (x, axes), x.dtype, name, Tidx=axes.dtype, keep_dims=keepdims, **attrs)

    function.__doc__ = f"{what} over some dimensions, or over all; ``keepdims`` leaves them with a size of 1."
    return function


def _all_axes(x: Tensor) -> Tensor:
    if x.shape is not None:
        return convert_to_tensor(np.arange(len(x.shape), dtype=np.int32))
    rank = make_one("Rank", (x,), INT32, T=x.dtype)
    return make_one("Range", (convert_to_tensor(0), rank, convert_to_tensor(1)), INT32, Tidx=INT32)


reduce_all = _reduction("All", "Whether all are true", BOOL)
reduce_any = _reduction("Any", "Whether one is true", BOOL)
reduce_max = _reduction("Max", "The greatest")
reduce_mean = _reduction("Mean", "The mean")
reduce_min = _reduction("Min", "The smallest")
reduce_prod = _reduction("Prod", "The product")
reduce_sum = _reduction("Sum", "The sum")


def argmax(input: Any, axis: int = 0, output_type: Any = INT64, name: str | None = None) -> Tensor:
    """Where the greatest one stands along a dimension."""
    x, kind = convert_to_tensor(input), as_dtype(output_type)
    where = convert_to_tensor(np.int32(axis))
    return make_one("ArgMax", (x, where), kind, name, T=x.dtype, Tidx=INT32, output_type=kind)


def where(condition: Any, x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x`` where ``condition`` is true, ``y`` elsewhere."""
    a, b = together((x, y))
    return make_one("SelectV2", (convert_to_tensor(condition, BOOL), a, b), a.dtype, name, T=a.dtype)


def range(start: Any, limit: Any = None, delta: Any = 1, name: str | None = None) -> Tensor:
    """Numbers from ``start``, 0 where only a limit is given, up to below ``limit``."""
    begin, end = (0, start) if limit is None else (start, limit)
    a, b, d = together((begin, end, delta))
    return make_one("Range", (a, b, d), a.dtype, name or "range", Tidx=a.dtype)


def _arithmetic() -> None:
    """Lets ``a + b`` and its kin make operations."""
    binary = {
        "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": floordiv, "mod": mod, "pow": pow,
        "matmul": matmul,
    }  # fmt: skip
    for name, function in binary.items():
        setattr(Tensor, f"__{name}__", lambda x, y, function=function: function(x, y))
        setattr(Tensor, f"__r{name}__", lambda x, y, function=function: function(y, x))
    compare = {"lt": less, "le": less_equal, "gt": greater, "ge": greater_equal}
    for name, function in {**compare, "and": logical_and, "or": logical_or}.items():
        setattr(Tensor, f"__{name}__", lambda x, y, function=function: function(x, y))
    for name, single in {"neg": negative, "abs": abs, "invert": logical_not}.items():
        setattr(Tensor, f"__{name}__", lambda x, single=single: single(x))


_arithmetic()
