"""Operators on strings: ``object`` arrays of ``bytes``."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError, UnimplementedError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import Run


def each(function: Any, *inputs: Any, kind: Any = object) -> Any:
    """An array of what ``function`` makes of the elements."""
    if not any(np.size(x) for x in inputs):
        return np.empty(np.broadcast_shapes(*map(np.shape, inputs)), kind)
    return np.vectorize(function, otypes=[kind])(*inputs)


@kernel("StringJoin")
def _join(node: Attributes) -> Run:
    separator = node.text("separator").encode()
    return lambda *inputs: each(lambda *parts: separator.join(parts), *inputs)


@kernel("ReduceJoin")
def _reduce_join(node: Attributes) -> Run:
    separator, keep = node.text("separator").encode(), node.bool("keep_dims")

    def run(x: Any, axes: Any) -> Any:
        x = np.asarray(x, object)
        joined = [int(axis) % x.ndim for axis in np.reshape(axes, -1)]
        kept = [axis for axis in range(x.ndim) if axis not in joined]
        shape = [x.shape[axis] for axis in kept]
        # Along the first of the axes first.
        rows = x.transpose([*kept, *reversed(joined)]).reshape(math.prod(shape), -1)
        out = np.empty(len(rows), object)
        out[:] = [separator.join(row) for row in rows]
        return out.reshape([1 if axis in joined else x.shape[axis] for axis in range(x.ndim)] if keep else shape)

    return run


@kernel("StringLength")
def _length(node: Attributes) -> Run:
    if node.text("unit", "BYTE") == "UTF8_CHAR":
        return lambda x: each(lambda text: len(text.decode(errors="replace")), x, kind=np.int32)
    return lambda x: each(len, x, kind=np.int32)


@kernel("StringLower", "StringUpper")
def _case(node: Attributes) -> Run:
    lower = node.op == "StringLower"
    if node.text("encoding") == "utf-8":
        change = str.lower if lower else str.upper
        return lambda x: each(lambda text: change(text.decode()).encode(), x)
    return lambda x: each(bytes.lower if lower else bytes.upper, x)


@kernel("RegexFullMatch", "StaticRegexFullMatch")
def _full_match(node: Attributes) -> Run:
    def matcher(pattern: bytes) -> Any:
        expression = re.compile(pattern)
        return lambda text: expression.fullmatch(text) is not None

    if node.op == "StaticRegexFullMatch":
        matches = matcher(node.text("pattern").encode())
        return lambda x: each(matches, x, kind=np.bool_)
    return lambda x, pattern: each(matcher(np.asarray(pattern).item()), x, kind=np.bool_)


@kernel("AsString")
def _as_string(node: Attributes) -> Run:
    formatted = node.int("precision", -1) != -1 or node.int("width", -1) != -1 or node.text("fill") != ""
    if formatted or node.bool("scientific") or node.bool("shortest"):
        raise UnimplementedError(message="`AsString` is supported without a format only")

    def told(value: Any) -> bytes:
        if isinstance(value, bool | np.bool_):
            return b"true" if value else b"false"
        return f"{value:f}".encode() if isinstance(value, float | np.floating) else str(value).encode()

    return lambda x: each(told, x)


@kernel("StringToNumber")
def _to_number(node: Attributes) -> Run:
    kind = node.type("out_type", np.float32)

    def read(text: bytes) -> Any:
        try:
            return kind.type(text.decode())
        except ValueError as error:
            raise InvalidArgumentError(
                message=f"StringToNumberOp could not correctly convert string: {text.decode(errors='replace')}"
            ) from error

    return lambda x: each(read, x, kind=kind)
