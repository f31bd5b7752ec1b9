"""What operators of shapes, indices, strings and control flow are tried with, beside TensorFlow's own kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.interop.kernel_cases import ANY, FLOATS, INTS, NUMBERS, Case, Draw, _all, _c, listed, one

PLAIN = ("float32", "int32", "string", "bool")


def reshaped(d: Draw) -> list[Any]:
    x = d.array()
    shape = [x.size, 1] if d.rng.random() < 0.5 else [-1, *x.shape[1:]]
    return [x, np.array([*shape, 2] if d.rng.random() < 0.1 else shape, np.int32)]


def tiled(d: Draw) -> list[Any]:
    x = d.array()
    return [x, d.below(3, (x.ndim,))]


def turned(d: Draw) -> list[Any]:
    x = d.array()
    return [x, d.rng.permutation(x.ndim).astype(np.int32)]


def padded(d: Draw) -> list[Any]:
    x = d.array()
    return [x, d.below(3, (x.ndim, 2))]


def cut(d: Draw) -> list[Any]:
    x = d.array()
    begin = np.array([d.rng.integers(0, n + 1) for n in x.shape], np.int32)
    left = [int(n - b) for n, b in zip(x.shape, begin, strict=True)]
    size = [-1 if d.rng.random() < 0.3 else d.rng.integers(0, n + 1) + int(d.rng.random() < 0.03) for n in left]
    return [x, begin, np.array(size, np.int32)]


def strided(d: Draw) -> list[Any]:
    x = d.array(d.full(3))
    begin, end = (d.rng.integers(-5, 6, 3).astype(np.int32) for _ in range(2))
    return [x, begin, end, d.rng.choice([-2, -1, 1, 2], 3).astype(np.int32)]


def strided_grad(d: Draw) -> list[Any]:
    x, begin, end, strides = strided(d)
    index = tuple(slice(int(b), int(e), int(s)) for b, e, s in zip(begin, end, strides, strict=True))
    return [np.array(x.shape, np.int32), begin, end, strides, d.array(x[index].shape)]


def stitched(d: Draw) -> list[Any]:
    return [[np.array([0, 2], np.int32), np.array([1, 3, 0], np.int32)], [d.array((2, 2)), d.array((3, 2))]]


def split_sizes(d: Draw) -> list[Any]:
    return [d.array((2, 6)), np.array([1, -1, 2], np.int32), np.int32(d.rng.choice([1, -1]))]


ARRAYS = {
    "Const": [_c(lambda d: [], ("float32",), value=np.float32([1, 2]), dtype="float32")],
    **_all("Shape Size", _c(one, PLAIN), _c(one, PLAIN, out_type="int64")),
    "ShapeN": [_c(listed(2), PLAIN)],
    **_all("Rank ZerosLike OnesLike", _c(one, (*NUMBERS, "bool"))),
    "Reshape": [_c(reshaped, ANY)],
    "Fill": [_c(lambda d: [np.array(d.full(2), np.int32), d.array(())], ANY)],
    "Tile": [_c(tiled, PLAIN)],
    "ExpandDims": [_c(lambda d: [x := d.array(), d.axis(x.ndim + 1)], PLAIN)],
    "Squeeze": [_c(one, PLAIN), _c(lambda d: [d.array((1, 3, 1))], PLAIN, axis=[0]), _c(one, PLAIN, axis=[-1])],
    "ConcatV2": [_c(lambda d: [[d.array((2, n)) for n in d.full(3)], np.int32(d.rng.choice([1, -1]))], PLAIN)],
    "Concat": [_c(lambda d: [np.int32(0), [d.array((n, 2)) for n in d.full(3)]], PLAIN)],
    "Pack": [_c(listed(3), PLAIN), _c(lambda d: [[d.array((2, 3))] * 2], PLAIN, axis=-1)],
    "Unpack": [_c(lambda d: [d.array((3, 2))], PLAIN, num=3), _c(lambda d: [d.array((2, 3))], PLAIN, num=3, axis=-1)],
    "Split": [_c(lambda d: [np.int32(1), d.array((2, 6))], PLAIN, num_split=3)],
    "SplitV": [_c(split_sizes, PLAIN, num_split=3)],
    "Transpose": [_c(turned, PLAIN)],
    "InvertPermutation": [_c(lambda d: [d.rng.permutation(5).astype(d.dtype)], ("int32", "int64"))],
    "BroadcastTo": [_c(lambda d: [d.array((3, 1)), np.array([2, 3, 4], np.int32)], PLAIN)],
    "BroadcastArgs": [_c(lambda d: [np.array(s, d.dtype) for s in d.broadcast()], ("int32", "int64"))],
    "Pad": [_c(padded, NUMBERS)],
    "PadV2": [_c(lambda d: [*padded(d), d.array(())], NUMBERS)],
    "MirrorPad": [
        _c(lambda d: [d.array((3, 4)), d.below(3, (2, 2))], ("float32", "int32"), mode=mode)
        for mode in ("REFLECT", "SYMMETRIC")
    ],
    "ReverseV2": [_c(lambda d: [x := d.array(), d.axes(x.ndim)], PLAIN)],
    "Diag": [_c(lambda d: [d.array(d.full(1))], ("float32", "int32"))],
    "MatrixDiag": [_c(lambda d: [d.array((2, 3))], PLAIN[:2])],
    "MatrixDiagV2": [_c(lambda d: [d.array((2, 3)), np.int32(0), np.int32(-1), np.int32(-1), d.array(())], PLAIN[:2])],
    "MatrixDiagV3": [_c(lambda d: [d.array((2, 3)), np.int32(0), np.int32(-1), np.int32(-1), d.array(())], PLAIN[:2])],
    "ListDiff": [_c(lambda d: [d.array((6,)), d.array((3,))], ("int32", "int64", "string"))],
    "OneHot": [
        _c(lambda d: [d.below(5, (2, 3)) - 1, np.int32(4), d.array(()), d.array(())], PLAIN, axis=a) for a in (-1, 0, 1)
    ],
    "Where": [_c(one, ("bool", "int32", "float32"))],
    "Unique": [_c(lambda d: [d.array((7,))], (*NUMBERS, "string"), out_idx=i) for i in ("int32", "int64")],
    "MatrixBandPart": [
        _c(lambda d: [d.array((2, 3, 4)), *(np.int64(n) for n in d.rng.integers(-1, 4, 2))], ("float32", "int32"))
    ],
    "Gather": [_c(lambda d: [d.array((4, 2)), d.below(4, (3,)) + int(d.rng.random() < 0.2)], PLAIN)],
    "GatherV2": [
        _c(lambda d: [d.array((4, 3)), d.below(3, (2, 2)), np.int32(d.rng.integers(-2, 2))], PLAIN),
        _c(lambda d: [d.array((2, 4, 3)), d.below(4, (2, 3)), np.int32(1)], PLAIN[:2], batch_dims=1),
        _c(lambda d: [d.array((2,)), d.below(4, (2,)) - 1, np.int32(0)], PLAIN[:2]),
    ],
    "GatherNd": [
        _c(lambda d: [d.array((4, 3)), d.below(3, (5, 2))], PLAIN),
        _c(lambda d: [d.array((2, 3)), d.below(3, (2, 1))], PLAIN[:2]),
    ],
    "ScatterNd": [
        _c(lambda d: [d.below(4, (3, 1)), d.array((3, 2)), np.array([4, 2], np.int32)], ("float32", "int32")),
        _c(lambda d: [d.below(6, (3, 1)) - 1, d.array((3,)), np.array([4], np.int32)], ("float32",)),
    ],
    "Slice": [_c(cut, PLAIN)],
    "StridedSlice": [
        _c(strided, PLAIN),
        _c(strided, PLAIN[:2], begin_mask=5, end_mask=3),
        _c(
            lambda d: [d.array((3, 4)), np.int32([1, 0]), np.int32([2, 0]), np.int32([1, 1])],
            PLAIN,
            shrink_axis_mask=1,
            end_mask=2,
        ),
        _c(
            lambda d: [d.array((3, 4)), np.int32([0, 0, 1]), np.int32([0, 0, 3]), np.int32([1, 1, 1])],
            PLAIN,
            new_axis_mask=1,
            ellipsis_mask=2,
        ),
        _c(
            lambda d: [d.array((3,)), np.int32([d.rng.integers(-5, 5)]), np.int32([0]), np.int32([1])],
            PLAIN,
            shrink_axis_mask=1,
        ),
    ],
    "StridedSliceGrad": [_c(strided_grad, ("float32", "int32"))],
    **_all("DynamicStitch ParallelDynamicStitch", _c(stitched, PLAIN)),
    "DynamicPartition": [_c(lambda d: [d.array((5, 2)), d.below(3, (5,))], PLAIN, num_partitions=3)],
}

TEXT: tuple[str, ...] = ("string",)
STRINGS = {
    "StringJoin": [_c(listed(3), TEXT, separator="-"), _c(lambda d: [[d.array((3,)), d.array(())]], TEXT)],
    "ReduceJoin": [_c(lambda d: [d.array((2, 3)), d.axes(2)], TEXT, separator=",", keep_dims=k) for k in (True, False)],
    "StringLength": [_c(one, TEXT), _c(one, TEXT, unit="UTF8_CHAR")],
    **_all("StringLower StringUpper", _c(one, TEXT), _c(one, TEXT, encoding="utf-8")),
    "RegexFullMatch": [_c(lambda d: [d.array((4,)), np.array(b"[a-z]+", object)], TEXT)],
    "StaticRegexFullMatch": [_c(one, TEXT, pattern="[aB].?")],
    "AsString": [_c(one, ("int32", "int64", "bool", "float32", "float64"))],
    "StringToNumber": [
        _c(lambda d: [np.array([b"1", b"-2.5", b"1e3", b" 7 "], object)[d.below(4, (3,))]], TEXT, out_type="float32"),
        _c(lambda d: [np.array([b"1", b"-2", b"x"], object)[d.below(3, (2,))]], TEXT, out_type="int32"),
    ],
}

FLOW = {
    **_all("Identity StopGradient PreventGradient Snapshot GuaranteeConst", _c(one, PLAIN)),
    "IdentityN": [_c(listed(2), PLAIN)],
    "LoopCond": [_c(lambda d: [d.array((), "bool")], ("bool",))],
    "EnsureShape": [_c(lambda d: [d.array((2, 3))], PLAIN, shape=shape) for shape in ([2, 3], [None, 3], [2, 4], [6])],
    "PlaceholderWithDefault": [_c(lambda d: [d.array((2,))], PLAIN, shape=[None])],
}

__all__ = ["ARRAYS", "FLOATS", "FLOW", "INTS", "STRINGS", "Case"]
