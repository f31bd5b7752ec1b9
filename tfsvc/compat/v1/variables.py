"""Variables: state of the task that they are placed on, shared by all sessions of the cluster under their name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfsvc.compat.v1.arrays import group
from tfsvc.compat.v1.building import BOOL, FLOAT32, attr, convert_to_tensor, shape_of
from tfsvc.compat.v1.graph import Graph, Operation, Tensor, get_default_graph, told_shape
from tfsvc.specs import DType, Shape, as_dtype
from tfsvc.wire import tfsvc_pb2 as pb

RESOURCE = DType("resource", int(pb.DT_RESOURCE), np.object_)


class Variable:
    """A variable. It has no value before its ``initializer`` has run in some session.

    Args:
      initial_value: the value that the initializer gives it, or a function without arguments that makes it.
      name: under which sessions share it.
      dtype: its data type, where it is not that of the initial value.
      trainable: kept for compatibility.

    Raises:
      ValueError: if there is no initial value.
    """

    def __init__(
        self, initial_value: Any = None, trainable: bool = True, name: str = "Variable", dtype: Any = None
    ) -> None:
        if initial_value is None:
            raise ValueError("`initial_value` must be given")
        graph = get_default_graph()
        self._graph = graph
        self.trainable = trainable
        with graph.control_dependencies(None):
            value = initial_value() if callable(initial_value) else initial_value
            initial = convert_to_tensor(value, dtype, name="initial_value")
            self.dtype: DType = initial.dtype
            self.shape: Shape | None = initial.shape
            self.handle = self._make_handle(graph, name)
            self.initializer: Operation = self._write("AssignVariableOp", initial)
            self._snapshot = self.value()
        graph.variables.append(self)

    def _make_handle(self, graph: Graph, name: str) -> Tensor:
        full = graph.unique_name(name, take=False)
        attrs = {
            "dtype": attr(self.dtype),
            "shape": attr(self.shape),
            "container": attr(graph.containers[-1]),
            "shared_name": attr(full),
        }
        return graph.add("VarHandleOp", (), (RESOURCE,), attrs, name).outputs[0]

    @property
    def name(self) -> str:
        return self.handle.name

    @property
    def op(self) -> Operation:
        return self.handle.op

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def device(self) -> str:
        return self.handle.device

    def value(self) -> Tensor:
        """Its value when the operations before have run."""
        read = self._here("ReadVariableOp", (self.handle,), (self.dtype,)).outputs[0]
        read.shape = self.shape
        return read

    read_value = value

    def is_initialized(self) -> Tensor:
        """Whether it has a value."""
        made = self._graph.add("VarIsInitializedOp", (self.handle,), (BOOL,), {}, "VarIsInitializedOp")
        return made.outputs[0]

    def assign(self, value: Any) -> Tensor:
        """Gives it a value; the result is the new one."""
        return self._after(self._write("AssignVariableOp", convert_to_tensor(value, self.dtype)))

    def assign_add(self, delta: Any) -> Tensor:
        """Adds to it, as one change that no other session comes between; the result is the new value."""
        return self._after(self._write("AssignAddVariableOp", convert_to_tensor(delta, self.dtype)))

    def assign_sub(self, delta: Any) -> Tensor:
        """Subtracts from it, as one change; the result is the new value."""
        return self._after(self._write("AssignSubVariableOp", convert_to_tensor(delta, self.dtype)))

    def eval(self, session: Any = None) -> Any:
        """Its value in a session, the default one when not given."""
        return self.value().eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Runs its initializer with another value."""
        feed: Mapping[Any, Any] = {self.initializer.inputs[1]: value}
        self.initializer.run(feed, session)

    def _write(self, op: str, value: Tensor) -> Operation:
        return self._here(op, (self.handle, value), ())

    def _after(self, write: Operation) -> Tensor:
        with self._graph.control_dependencies([write]):
            return self.value()

    def _here(self, op: str, inputs: tuple[Tensor, ...], dtypes: tuple[DType, ...]) -> Operation:
        with self._graph.device(None), self._graph.device(self.device or None):
            return self._graph.add(op, inputs, dtypes, {"dtype": attr(self.dtype)}, op)

    def _as_graph_element(self) -> Tensor:
        """What a session fetches for it; always the same, so that fetching adds nothing to the graph."""
        return self._snapshot

    def _as_operand(self) -> Tensor:
        """What an operation takes for it: its value when the operations before have run."""
        return self.value()

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={told_shape(self.shape)} dtype={self.dtype.name}>"

    def __hash__(self) -> int:
        return id(self)


def _arithmetic() -> None:
    """Lets variables stand where tensors do."""
    binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    for each in (*binary, *(f"r{name}" for name in binary), "lt", "le", "gt", "ge"):
        name = f"__{each}__"
        setattr(Variable, name, lambda x, y, name=name: getattr(x.value(), name)(y))
    for name in ("__neg__", "__abs__"):
        setattr(Variable, name, lambda x, name=name: getattr(x.value(), name)())


_arithmetic()


def get_variable(name: str, shape: Any = None, dtype: Any = FLOAT32, initializer: Any = None) -> Variable:
    """A new variable.

    Args:
      name: under which sessions share it.
      shape: its shape, unless the initializer is a value.
      dtype: its data type.
      initializer: a value, or a function of a shape and a data type; zeros when not given.

    Raises:
      ValueError: if the graph has a variable of that name, or the shape is not known.
    """
    graph = get_default_graph()
    if any(variable.op.name == name for variable in graph.variables):
        raise ValueError(f"Variable {name} already exists in this graph.")
    if initializer is not None and not callable(initializer):
        return Variable(initializer, name=name, dtype=None if isinstance(initializer, Tensor) else dtype)
    known = shape_of(shape)
    if known is None or None in known:
        raise ValueError(f"The shape of a new variable ({name}) must be fully defined, but is {shape}.")
    kind = as_dtype(dtype)
    if initializer is None:
        return Variable(np.zeros([d or 0 for d in known], kind.numpy), name=name)
    made = Variable(lambda: initializer(list(known), dtype=kind), name=name)
    made.shape = known
    return made


def global_variables() -> list[Variable]:
    """The variables of the default graph."""
    return list(get_default_graph().variables)


def variables_initializer(var_list: list[Variable], name: str = "init") -> Operation:
    """An operation that gives variables their initial values."""
    return group(*(variable.initializer for variable in var_list), name=name)


def global_variables_initializer() -> Operation:
    """An operation that gives all variables of the default graph their initial values."""
    return variables_initializer(global_variables())


def assign(ref: Variable, value: Any) -> Tensor:
    """Gives a variable a value; the result is the new one."""
    return ref.assign(value)


def assign_add(ref: Variable, value: Any) -> Tensor:
    """Adds to a variable; the result is the new value."""
    return ref.assign_add(value)


def assign_sub(ref: Variable, value: Any) -> Tensor:
    """Subtracts from a variable; the result is the new value."""
    return ref.assign_sub(value)
