"""Where kernels are found: by the operator's name.

A kernel is a function of a node's attributes that gives a function of its inputs; what a node's attributes
decide is decided once, when a piece is compiled. A result is an array, or a tuple of them. Inputs are never
changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tfsvc.errors import UnimplementedError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.values import Run

Maker = Callable[[Attributes], Run]
F = TypeVar("F", bound=Callable[..., Any])

KERNELS: dict[str, Maker] = {}
"""Of operators that are functions of their inputs."""

STATE_KERNELS: dict[str, Maker] = {}
"""Of operators that read or write a task's state, which is their first argument."""


def kernel(*ops: str) -> Callable[[F], F]:
    """Registers the maker of a kernel for operators."""

    def register(maker: F) -> F:
        for op in ops:
            KERNELS[op] = maker
        return maker

    return register


def state_kernel(*ops: str) -> Callable[[F], F]:
    """Registers the maker of a kernel that has the task's state as its first argument."""

    def register(maker: F) -> F:
        for op in ops:
            STATE_KERNELS[op] = maker
        return maker

    return register


def plain(table: dict[str, Callable[..., Any]]) -> None:
    """Registers functions of the inputs that need no attributes."""
    for op, function in table.items():
        KERNELS[op] = _always(function)


def _always(function: Callable[..., Any]) -> Maker:
    return lambda _: function


def unsupported(attributes: Attributes) -> Run:
    """Stands for an operator without a kernel: an error once it is run."""

    def run(*_: Any) -> Any:
        raise UnimplementedError(
            message=f"The operator '{attributes.op}' of node '{attributes.name}' is not supported; "
            "tfsvc.graph.kernels says which are"
        )

    return run
