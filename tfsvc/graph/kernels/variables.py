"""Operators that read and write variables, as resources and as references."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.indexing import gather
from tfsvc.graph.kernels.registry import kernel, state_kernel
from tfsvc.graph.resources import Resources
from tfsvc.graph.values import Handle, Run


def _handle(node: Attributes, kind: str) -> Handle:
    return Handle(kind, node.text("container") or node.container, node.text("shared_name") or node.name)


@kernel("VarHandleOp")
def _var_handle(node: Attributes) -> Run:
    handle = _handle(node, "var")
    return lambda: handle


@kernel("Variable", "VariableV2")
def _variable(node: Attributes) -> Run:
    handle = _handle(node, "ref")
    return lambda: handle


@state_kernel("ReadVariableOp")
def _read(node: Attributes) -> Run:
    return lambda state, handle: state.read(handle)


@state_kernel("VarIsInitializedOp", "IsVariableInitialized")
def _is_initialized(node: Attributes) -> Run:
    return lambda state, handle: np.array(state.is_initialized(handle))


@state_kernel("VariableShape")
def _variable_shape(node: Attributes) -> Run:
    kind = node.type("out_type", np.int32)
    return lambda state, handle: np.array(np.shape(state.read(handle)), kind)


@state_kernel("DestroyResourceOp")
def _destroy(node: Attributes) -> Run:
    ignore = not node.has("ignore_lookup_error") or node.bool("ignore_lookup_error")

    def run(state: Resources, handle: Handle) -> Any:
        state.destroy(handle, ignore)
        return ()

    return run


@state_kernel("AssignVariableOp")
def _assign_variable(node: Attributes) -> Run:
    check = node.bool("validate_shape")

    def run(state: Resources, handle: Handle, value: Any) -> Any:
        if check and state.is_initialized(handle):
            _same_shape(state.read(handle), value)
        state.write(handle, np.asarray(value))
        return ()

    return run


@state_kernel("Assign")
def _assign(node: Attributes) -> Run:
    check = not node.has("validate_shape") or node.bool("validate_shape")

    def run(state: Resources, handle: Handle, value: Any) -> Any:
        if check and state.is_initialized(handle):
            _same_shape(state.read(handle), value)
        state.write(handle, np.asarray(value))
        return handle

    return run


def _same_shape(left: Any, right: Any) -> None:
    if np.shape(left) != np.shape(right):
        raise InvalidArgumentError(
            message="Assign requires shapes of both tensors to match. lhs shape= "
            f"{list(np.shape(left))} rhs shape= {list(np.shape(right))}"
        )


@state_kernel("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
def _assign_change(node: Attributes) -> Run:
    change = np.add if "Add" in node.op else np.subtract
    gives = not node.op.endswith("VariableOp")

    def run(state: Resources, handle: Handle, value: Any) -> Any:
        old = state.read(handle)
        _same_shape(old, value)
        state.write(handle, np.asarray(change(old, value)))
        return handle if gives else ()

    return run


@state_kernel("ResourceGather")
def _resource_gather(node: Attributes) -> Run:
    return lambda state, handle, indices: gather(state.read(handle), indices)


@state_kernel(
    "ScatterAdd", "ScatterSub", "ScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate"
)
def _scatter(node: Attributes) -> Run:
    gives = not node.op.startswith("Resource")

    def run(state: Resources, handle: Handle, indices: Any, updates: Any) -> Any:
        value = np.array(state.read(handle))
        at = np.asarray(indices)
        if at.size and not 0 <= at.min() <= at.max() < len(value):
            raise InvalidArgumentError(message=f"indices = {at.reshape(-1).tolist()} is not in [0, {len(value)})")
        if node.op.endswith("Add"):
            np.add.at(value, at, updates)
        elif node.op.endswith("Sub"):
            np.subtract.at(value, at, updates)
        else:
            value[at] = updates
        state.write(handle, value)
        return handle if gives else ()

    return run
