"""The element spec of a dataset to TensorFlow's ``StructuredValue`` and back.

The data service keeps the spec of a dataset's elements as these bytes (``element_spec``), and the RPC
service lists the inputs and outputs of its methods with them. As in TensorFlow's
``nested_structure_coder``, a dictionary loses its order: it comes back sorted by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfsvc.errors import InvalidArgumentError, UnimplementedError
from tfsvc.specs import TensorSpec
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.named_tuples import named_fields, named_tuple_type
from tfsvc.wire.tensors import dtype_of, shape_proto, wire_dtype


@dataclass(frozen=True, slots=True)
class NoneTensorSpec:
    """The spec of a component that is ``None``, as TensorFlow's type of this name."""


@dataclass(frozen=True, slots=True)
class OpaqueSpec:
    """A type spec that we cannot interpret (ragged, sparse, a dataset, ...), kept to be passed on.

    Attributes:
      name: TensorFlow's name of the spec's class.
      value: the serialized ``StructuredValue``.
    """

    name: str
    value: bytes


_NONE_SPEC = pb.StructuredValue(
    type_spec_value=pb.TypeSpecProto(
        type_spec_class=pb.TypeSpecProto.REGISTERED_TYPE_SPEC,
        type_spec_class_name="tf.NoneTensorSpec",
        type_state=pb.StructuredValue(tuple_value=pb.TupleValue()),
    )
)


def encode_spec(spec: Any) -> bytes:
    """The bytes of an element spec, equal for equal specs; raises like :func:`spec_to_value`."""
    return serialize(spec_to_value(spec))


def decode_spec(data: bytes) -> Any:
    """The element spec in ``data``; raises like :func:`spec_from_value`."""
    return spec_from_value(parse(pb.StructuredValue, data))


def spec_to_value(spec: Any) -> pb.StructuredValue:
    """A nest of specs as a message.

    Args:
      spec: dicts with text keys, tuples, named tuples and lists of :class:`TensorSpec`,
        :class:`NoneTensorSpec`, :class:`OpaqueSpec` and ``None``.

    Raises:
      InvalidArgumentError: for anything else in the nest.
    """
    match spec:
        case TensorSpec():
            proto = pb.TensorSpecProto(shape=shape_proto(spec.shape), dtype=wire_dtype(spec.dtype))
            proto.name = spec.name or ""
            return pb.StructuredValue(tensor_spec_value=proto)
        case NoneTensorSpec():
            return _NONE_SPEC
        case OpaqueSpec():
            return parse(pb.StructuredValue, spec.value)
        case None:
            return pb.StructuredValue(none_value=pb.NoneValue())
        case Mapping():
            if not all(isinstance(key, str) for key in spec):
                raise InvalidArgumentError(None, None, f"the keys of a spec must be text; got {list(spec)}")
            fields = {key: spec_to_value(spec[key]) for key in sorted(spec)}
            return pb.StructuredValue(dict_value=pb.DictValue(fields=fields))
        case tuple() if (names := named_fields(spec)) is not None:
            pairs = [pb.PairValue(key=key, value=value) for key, value in zip(names, _values(spec), strict=True)]
            return pb.StructuredValue(named_tuple_value=pb.NamedTupleValue(name=type(spec).__name__, values=pairs))
        case tuple():
            return pb.StructuredValue(tuple_value=pb.TupleValue(values=_values(spec)))
        case list():
            return pb.StructuredValue(list_value=pb.ListValue(values=_values(spec)))
        case _:
            kind = type(spec).__name__
            raise InvalidArgumentError(None, None, f"a {kind} is no part of an element spec; use TensorSpec leaves")


@decodes("an element spec")
def spec_from_value(value: pb.StructuredValue) -> Any:
    """The nest of specs of a message. Named tuples get a type of the same name and fields.

    Raises:
      WireError: if the value is empty or contradicts itself.
      UnimplementedError: for a kind of value that is no spec (a number, a text, ...).
    """
    kind = value.WhichOneof("kind")
    match kind:
        case "tensor_spec_value":
            return _tensor_spec(value.tensor_spec_value)
        case "type_spec_value":
            spec = value.type_spec_value
            if spec.type_spec_class_name == "tf.NoneTensorSpec":
                return NoneTensorSpec()
            name = spec.type_spec_class_name or pb.TypeSpecProto.TypeSpecClass.Name(spec.type_spec_class)
            return OpaqueSpec(name, serialize(value))
        case "bounded_tensor_spec_value":
            return OpaqueSpec("BoundedTensorSpec", serialize(value))
        case "none_value":
            return None
        case "dict_value":
            fields = value.dict_value.fields
            return {key: spec_from_value(fields[key]) for key in sorted(fields)}
        case "named_tuple_value":
            pairs = value.named_tuple_value.values
            kind_of = named_tuple_type(value.named_tuple_value.name, tuple(pair.key for pair in pairs))
            return kind_of(*(spec_from_value(pair.value) for pair in pairs))
        case "tuple_value":
            return tuple(map(spec_from_value, value.tuple_value.values))
        case "list_value":
            return list(map(spec_from_value, value.list_value.values))
        case None:
            raise ValueError("a StructuredValue is empty")
        case _:
            raise UnimplementedError(None, None, f"a {kind} is no part of an element spec")


def _values(specs: Iterable[Any]) -> list[pb.StructuredValue]:
    return [spec_to_value(spec) for spec in specs]


def _tensor_spec(proto: pb.TensorSpecProto) -> TensorSpec:
    shape = None if proto.shape.unknown_rank else [dim.size for dim in proto.shape.dim]
    return TensorSpec(shape, dtype_of(proto.dtype), proto.name or None)
