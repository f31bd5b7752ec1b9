"""The operators that pieces of graphs may have, as functions of NumPy; one module a family."""

from tfsvc.graph.kernels import (
    arrays,
    elementwise,
    flow,
    gradients,
    indexing,
    linear,
    queues,
    randoms,
    reductions,
    saving,
    strings,
    training,
    variables,
)
from tfsvc.graph.kernels.registry import KERNELS, STATE_KERNELS, unsupported

__all__ = [
    "KERNELS",
    "STATE_KERNELS",
    "arrays",
    "elementwise",
    "flow",
    "gradients",
    "indexing",
    "linear",
    "queues",
    "randoms",
    "reductions",
    "saving",
    "strings",
    "training",
    "unsupported",
    "variables",
]
