"""Operators that apply gradients to variables, each as TensorFlow computes it, in the variable's own type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import state_kernel
from tfsvc.graph.resources import Resources
from tfsvc.graph.values import Handle, Run

Rule = Callable[..., tuple[Any, ...]]
"""From a variable, its slots, the numbers and the gradient to the new variable and slots."""


def _gradient_descent(node: Attributes, var: Any, alpha: Any, grad: Any) -> tuple[Any, ...]:
    return (var - alpha * grad,)


def _momentum(node: Attributes, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any) -> tuple[Any, ...]:
    accum = accum * momentum + grad
    step = grad * lr + accum * momentum * lr if node.bool("use_nesterov") else accum * lr
    return var - step, accum


def _keras_momentum(node: Attributes, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any) -> tuple[Any, ...]:
    accum = accum * momentum - lr * grad
    return var + (accum * momentum - lr * grad if node.bool("use_nesterov") else accum), accum


def _adagrad(node: Attributes, var: Any, accum: Any, lr: Any, grad: Any) -> tuple[Any, ...]:
    if not node.has("update_slots") or node.bool("update_slots"):
        accum = accum + grad * grad
    return var - grad * lr / np.sqrt(accum), accum


def _adagrad_v2(node: Attributes, var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any) -> tuple[Any, ...]:
    if not node.has("update_slots") or node.bool("update_slots"):
        accum = accum + grad * grad
    return var - grad * lr / (np.sqrt(accum) + epsilon), accum


def _adam(
    node: Attributes, var: Any, m: Any, v: Any, b1p: Any, b2p: Any, lr: Any, b1: Any, b2: Any, eps: Any, grad: Any
) -> tuple[Any, ...]:
    one = np.ones((), np.asarray(var).dtype)
    alpha = lr * np.sqrt(one - b2p) / (one - b1p)
    m = m + (grad - m) * (one - b1)
    v = v + (grad * grad - v) * (one - b2)
    step = (grad * (one - b1) + b1 * m) if node.bool("use_nesterov") else m
    return var - step * alpha / (np.sqrt(v) + eps), m, v


def _rms_prop(
    node: Attributes, var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, eps: Any, grad: Any
) -> tuple[Any, ...]:
    one = np.ones((), np.asarray(var).dtype)
    ms = ms + (grad * grad - ms) * (one - rho)
    mom = mom * momentum + grad * lr / np.sqrt(ms + eps)
    return var - mom, ms, mom


def _centered_rms_prop(
    node: Attributes, var: Any, mg: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, eps: Any, grad: Any
) -> tuple[Any, ...]:
    one = np.ones((), np.asarray(var).dtype)
    ms = ms + (grad * grad - ms) * (one - rho)
    mg = mg + (grad - mg) * (one - rho)
    mom = mom * momentum + grad * lr / np.sqrt(ms - mg * mg + eps)
    return var - mom, mg, ms, mom


def _adadelta(
    node: Attributes, var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, eps: Any, grad: Any
) -> tuple[Any, ...]:
    one = np.ones((), np.asarray(var).dtype)
    accum = accum * rho + grad * grad * (one - rho)
    update = np.sqrt(accum_update + eps) / np.sqrt(accum + eps) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (one - rho)


def _ftrl(
    node: Attributes, var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, power: Any
) -> tuple[Any, ...]:
    total = accum + grad * grad
    before, after = np.power(accum, -power), np.power(total, -power)
    linear = linear + grad - (after - before) / lr * var
    shrunk = (np.sign(linear) * l1 - linear) / (after / lr + l2 + l2)
    return np.where(np.abs(linear) > l1, shrunk, np.zeros_like(shrunk)), total, linear


_RULES: dict[str, tuple[Rule, int]] = {
    "GradientDescent": (_gradient_descent, 1),
    "Momentum": (_momentum, 2),
    "KerasMomentum": (_keras_momentum, 2),
    "Adagrad": (_adagrad, 2),
    "AdagradV2": (_adagrad_v2, 2),
    "Adam": (_adam, 3),
    "RMSProp": (_rms_prop, 3),
    "CenteredRMSProp": (_centered_rms_prop, 4),
    "Adadelta": (_adadelta, 3),
    "Ftrl": (_ftrl, 3),
}
"""Each rule, and how many variables come first."""

_BEHIND_INDICES = {"Momentum": 1, "KerasMomentum": 1, "Ftrl": 4}
"""How many numbers stand behind the indices of a sparse gradient, where there are some."""

_DENSE_ONLY = frozenset({"GradientDescent", "Adam"})


def _apply(node: Attributes, rule: Rule, count: int, gives: bool) -> Run:
    def run(state: Resources, *inputs: Any) -> Any:
        handles: tuple[Handle, ...] = inputs[:count]
        values = [state.read(handle) for handle in handles]
        with np.errstate(all="ignore"):
            changed = rule(node, *values, *inputs[count:])
        for handle, old, new in zip(handles, values, changed, strict=True):
            if np.shape(new) != np.shape(old):
                raise InvalidArgumentError(
                    message=f"var and grad do not have the same shape: {list(np.shape(old))} {list(np.shape(new))}"
                )
            state.write(handle, np.asarray(new, np.asarray(old).dtype))
        return handles[0] if gives else ()

    return run


def _sparse_apply(node: Attributes, rule: Rule, count: int, gives: bool) -> Run:
    """The same for the rows that a gradient has, one after the other where a row is there twice."""
    behind = next((n for name, n in _BEHIND_INDICES.items() if node.op.endswith(f"Apply{name}")), 0)

    def run(state: Resources, *inputs: Any) -> Any:
        handles: tuple[Handle, ...] = inputs[:count]
        rest = list(inputs[count:])
        indices = np.asarray(rest.pop(-1 - behind))
        at = len(rest) - 1 - behind  # of the gradient
        whole = [np.array(state.read(handle)) for handle in handles]
        bad = indices[(indices < 0) | (indices >= len(whole[0]))]
        if bad.size:
            raise InvalidArgumentError(message=f"Index {bad[0]} of the gradient is out of range [0, {len(whole[0])})")
        once = len(np.unique(indices)) == len(indices)
        grad = np.asarray(rest[at])
        for rows, part in ((indices, grad),) if once else zip(indices[:, None], grad[:, None], strict=True):
            rest[at] = part
            for each, new in zip(whole, rule(node, *(each[rows] for each in whole), *rest), strict=True):
                each[rows] = new
        for handle, each in zip(handles, whole, strict=True):
            state.write(handle, each)
        return handles[0] if gives else ()

    return run


def _register() -> None:
    for name, (rule, count) in _RULES.items():
        for prefix, gives in (("", True), ("Resource", False)):
            _bind(f"{prefix}Apply{name}", _apply, rule, count, gives)
            if name not in _DENSE_ONLY:
                _bind(f"{prefix}SparseApply{name}", _sparse_apply, rule, count, gives)


def _bind(op: str, make: Callable[..., Run], rule: Rule, count: int, gives: bool) -> None:
    state_kernel(op)(lambda node: make(node, rule, count, gives))


_register()
