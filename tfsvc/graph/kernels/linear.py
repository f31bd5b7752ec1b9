"""Operators of linear algebra and of layers, forwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel, plain
from tfsvc.graph.values import Run


@kernel("MatMul")
def _matmul(node: Attributes) -> Run:
    left, right = node.bool("transpose_a"), node.bool("transpose_b")

    def run(a: Any, b: Any) -> Any:
        a, b = np.asarray(a), np.asarray(b)
        if a.ndim != 2 or b.ndim != 2:
            raise InvalidArgumentError(message=f"In[0] and In[1] must be matrices, not {a.shape} and {b.shape}")
        a, b = a.T if left else a, b.T if right else b
        if a.shape[1] != b.shape[0]:
            raise _incompatible(a, b)
        return _product(a, b)

    return run


def _product(a: Any, b: Any) -> Any:
    """In the type of the matrices; NumPy gives small floats another one."""
    return np.matmul(a, b).astype(np.asarray(a).dtype, copy=False)


def _incompatible(a: Any, b: Any) -> InvalidArgumentError:
    text = f"Matrix size-incompatible: In[0]: {list(np.shape(a))}, In[1]: {list(np.shape(b))}"
    return InvalidArgumentError(message=text)


@kernel("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(node: Attributes) -> Run:
    left, right = node.bool("adj_x"), node.bool("adj_y")

    def run(a: Any, b: Any) -> Any:
        a = np.conj(np.swapaxes(a, -1, -2)) if left else a
        b = np.conj(np.swapaxes(b, -1, -2)) if right else b
        if np.shape(a)[-1] != np.shape(b)[-2]:
            raise _incompatible(a, b)
        return _product(a, b)

    return run


@kernel("Einsum")
def _einsum(node: Attributes) -> Run:
    equation = node.text("equation")
    return lambda *inputs: np.einsum(equation, *inputs)


@kernel("BiasAdd", "BiasAddV1")
def _bias_add(node: Attributes) -> Run:
    first = node.text("data_format", "NHWC") == "NCHW"

    def run(x: Any, bias: Any) -> Any:
        return np.add(x, np.reshape(bias, (-1, *(1,) * (np.ndim(x) - 2))) if first else bias)

    return run


@kernel("BiasAddGrad")
def _bias_add_grad(node: Attributes) -> Run:
    first = node.text("data_format", "NHWC") == "NCHW"

    def run(dy: Any) -> Any:
        kept = 1 if first else np.ndim(dy) - 1
        axes = tuple(axis for axis in range(np.ndim(dy)) if axis != kept)
        return np.sum(dy, axis=axes, dtype=np.asarray(dy).dtype)

    return run


def softmax(x: Any) -> Any:
    """Along the last axis."""
    shifted = np.exp(np.subtract(x, np.max(x, axis=-1, keepdims=True)))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def log_softmax(x: Any) -> Any:
    """Along the last axis."""
    shifted = np.subtract(x, np.max(x, axis=-1, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def _sparse_cross_entropy(logits: Any, labels: Any) -> Any:
    logits, labels = np.asarray(logits), np.asarray(labels)
    classes = logits.shape[1]
    bad = labels[(labels < 0) | (labels >= classes)]
    if bad.size:
        raise InvalidArgumentError(
            message=f"Received a label value of {bad[0]} which is outside the valid range of [0, {classes})."
        )
    logs, rows = log_softmax(logits), np.arange(len(labels))
    gradient = np.exp(logs)
    gradient[rows, labels] -= 1
    return -logs[rows, labels], gradient


def _cross_entropy(logits: Any, labels: Any) -> Any:
    logs = log_softmax(logits)
    return -np.sum(labels * logs, axis=-1), np.exp(logs) - labels


def _relu(x: Any) -> Any:
    return np.maximum(x, np.zeros((), np.asarray(x).dtype))


def _elu(x: Any) -> Any:
    return np.where(np.less(x, 0), np.expm1(np.minimum(x, 0)), x)


plain(
    {
        "Elu": _elu,
        "LogSoftmax": log_softmax,
        "Relu": _relu,
        "Relu6": lambda x: np.minimum(_relu(x), np.asarray(6, np.asarray(x).dtype)),
        "Softmax": softmax,
        "SoftmaxCrossEntropyWithLogits": _cross_entropy,
        "SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy,
    }
)
