"""Graphs as they are built: operations, their results, and the contexts that new operations are made in."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tfsvc.protocol.cluster.names import parse_device
from tfsvc.specs import DType, Shape
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import serialize

if TYPE_CHECKING:
    from tfsvc.compat.v1.variables import Variable

PRODUCER = 2000
"""The version that graphs say they were made with; every server of TensorFlow 2 takes it."""


class Operation:
    """A node of a graph. It has results, ``outputs``, and is run for them or for its effect."""

    def __init__(self, graph: Graph, node: pb.NodeDef, inputs: Sequence[Tensor], dtypes: Sequence[DType]) -> None:
        self.graph = graph
        self.node_def = node
        self.inputs = tuple(inputs)
        self.outputs = tuple(Tensor(self, index, dtype) for index, dtype in enumerate(dtypes))

    @property
    def name(self) -> str:
        return str(self.node_def.name)

    @property
    def type(self) -> str:
        return str(self.node_def.op)

    @property
    def device(self) -> str:
        return str(self.node_def.device)

    def run(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> None:
        """Runs it in a session, the default one when not given."""
        _session(session).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class Tensor:
    """A result of an operation, which a session can compute.

    Attributes:
      shape: what is known of its shape: a tuple with ``None`` for unknown dimensions, or ``None``.
    """

    __array_priority__ = 100
    """NumPy leaves arithmetic with arrays to the tensor."""

    def __init__(self, op: Operation, index: int, dtype: DType) -> None:
        self.op = op
        self.value_index = index
        self.dtype = dtype
        self.shape: Shape | None = None

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def device(self) -> str:
        return self.op.device

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
        """Its value in a session, the default one when not given."""
        return _session(session).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={told_shape(self.shape)} dtype={self.dtype.name}>"

    def __bool__(self) -> bool:
        raise TypeError("A tensor of a graph has no value before a session runs it; use its value, or `tf.where`.")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("A tensor of a graph cannot be iterated over; use `tf.unstack`, or its value in a session.")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{self.name} has no value before a session runs it; use `session.run`.")

    # Arithmetic is added by `math`, which knows the operators.


class Graph:
    """A graph that grows as operations are added to it. One thread at a time may add to it."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.variables: list[Variable] = []
        self.containers: list[str] = [""]
        self._by_name: dict[str, Operation] = {}
        self._names: dict[str, int] = {}
        self._scopes: list[str] = [""]
        self._devices: list[str] = [""]
        self._controls: list[tuple[Operation, ...]] = [()]

    def add(
        self, op: str, inputs: Sequence[Tensor], dtypes: Sequence[DType], attrs: Mapping[str, pb.AttrValue], name: str
    ) -> Operation:
        """A new operation in the contexts that hold now.

        Raises:
          ValueError: if an input is of another graph.
        """
        for each in inputs:
            if each.graph is not self:
                raise ValueError(f"{each!r} must be from the same graph as the operation '{name}' that takes it")
        node = pb.NodeDef(name=self.unique_name(name), op=op, device=self._devices[-1])
        node.input.extend(each.op.name if not each.value_index else each.name for each in inputs)
        controls = dict.fromkeys(operation for level in self._controls for operation in level)
        node.input.extend(f"^{each.name}" for each in controls)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(value)
        operation = Operation(self, node, inputs, dtypes)
        self.operations.append(operation)
        self._by_name[operation.name] = operation
        return operation

    def unique_name(self, name: str, take: bool = True) -> str:
        """``name`` within the present scope, with a number behind it where it is taken; ``take``: from now on."""
        full = f"{self._scopes[-1]}{name}"
        count = self._names.get(full, 0)
        found = f"{full}_{count}" if count else full
        if take:
            self._names[full] = count + 1
            self._names.setdefault(found, 1)
        return found

    def as_graph_def(self, from_operation: int = 0) -> pb.GraphDef:
        """The graph as a message.

        Args:
          from_operation: how many operations to leave out at its beginning.
        """
        message = pb.GraphDef(node=[each.node_def for each in self.operations[from_operation:]])
        message.versions.producer = PRODUCER
        return message

    def serialized(self, from_operation: int = 0) -> bytes:
        return serialize(self.as_graph_def(from_operation))

    def get_operation_by_name(self, name: str) -> Operation:
        """An operation.

        Raises:
          KeyError: if there is none of that name.
        """
        if name not in self._by_name:
            raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")
        return self._by_name[name]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of a name such as ``"loss:0"``.

        Raises:
          KeyError: if there is none of that name.
          ValueError: if it is no name of a tensor.
        """
        node, colon, index = name.partition(":")
        if not (colon and index.isdigit()):
            raise ValueError(f"The name '{name}' is not that of a tensor; those look like 'loss:0'.")
        outputs = self.get_operation_by_name(node).outputs
        if int(index) >= len(outputs):
            raise KeyError(f"The name '{name}' refers to a Tensor which does not exist; '{node}' has {len(outputs)}.")
        return outputs[int(index)]

    def as_graph_element(self, value: Any) -> Operation | Tensor:
        """The tensor or operation that is meant by an object or its name.

        Raises:
          TypeError: if it is neither.
          ValueError: if it is of another graph.
          KeyError: if there is none of that name.
        """
        if isinstance(value, str):
            return self.get_tensor_by_name(value) if ":" in value else self.get_operation_by_name(value)
        if hasattr(value, "_as_graph_element"):
            value = value._as_graph_element()
        if not isinstance(value, Operation | Tensor):
            raise TypeError(f"Can not convert a {type(value).__name__} into a Tensor or Operation.")
        if value.graph is not self:
            raise ValueError(f"{value!r} is not an element of this graph.")
        return value

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """New operations go to this graph."""
        with _DEFAULTS.within(_DEFAULTS.graphs, self):
            yield self

    @contextmanager
    def device(self, name: str | None) -> Iterator[None]:
        """New operations are placed there; an inner ``device`` decides what an outer one leaves open.

        Raises:
          ValueError: if it is no device's name.
        """
        inner = "" if name is None else str(parse_device(name).over(parse_device(self._devices[-1])))
        with _DEFAULTS.within(self._devices, inner):
            yield

    @contextmanager
    def control_dependencies(self, inputs: Sequence[Any] | None) -> Iterator[None]:
        """New operations run after these; ``None`` lifts all such conditions."""
        if inputs is None:
            saved, self._controls = self._controls, [()]
            try:
                yield
            finally:
                self._controls = saved
            return
        elements = [self.as_graph_element(each) for each in inputs]
        operations = tuple(each.op if isinstance(each, Tensor) else each for each in elements)
        with _DEFAULTS.within(self._controls, operations):
            yield

    @contextmanager
    def name_scope(self, name: str) -> Iterator[str]:
        """The names of new operations begin with ``name`` and a slash."""
        scope = f"{self.unique_name(name)}/" if name else ""
        with _DEFAULTS.within(self._scopes, scope):
            yield scope

    @contextmanager
    def container(self, name: str) -> Iterator[None]:
        """New variables live in a container of that name, which ``Session.reset`` can clear."""
        with _DEFAULTS.within(self.containers, name):
            yield


def told_shape(shape: Shape | None) -> str:
    """A shape for people to read."""
    return "<unknown>" if shape is None else str(shape)


class _Defaults(threading.local):
    """The default graphs and sessions of a thread."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []

    @contextmanager
    def within(self, stack: list[Any], value: Any) -> Iterator[None]:
        """Lets ``value`` be the top of a stack."""
        stack.append(value)
        try:
            yield
        finally:
            stack.pop()


_DEFAULTS = _Defaults()
_GLOBAL = [Graph()]


def get_default_graph() -> Graph:
    """The graph that new operations go to."""
    return _DEFAULTS.graphs[-1] if _DEFAULTS.graphs else _GLOBAL[0]


def reset_default_graph() -> None:
    """Begins a new graph; not within ``as_default``.

    Raises:
      AssertionError: within ``as_default``.
    """
    if _DEFAULTS.graphs:
        raise AssertionError("Do not use `reset_default_graph` within a `with graph.as_default()` block.")
    _GLOBAL[0] = Graph()


def get_default_session() -> Any:
    """The innermost session that is entered, or ``None``."""
    return _DEFAULTS.sessions[-1] if _DEFAULTS.sessions else None


@contextmanager
def default_session(session: Any) -> Iterator[None]:
    """Lets ``session`` be the default one."""
    with _DEFAULTS.within(_DEFAULTS.sessions, session):
        yield


def _session(session: Any) -> Any:
    found = session or get_default_session()
    if found is None:
        raise ValueError("There is no default session: enter one with `with session:`, or pass `session`.")
    return found
