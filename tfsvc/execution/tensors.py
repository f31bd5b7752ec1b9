"""Arguments and results of a call: serialized tensors on one side, nests of arrays on the other."""

from __future__ import annotations

from typing import Any

from tfsvc import nest
from tfsvc.data.elements import as_leaf
from tfsvc.eager.functions import UNKNOWN
from tfsvc.errors import InternalError, InvalidArgumentError, OpError
from tfsvc.protocol.messages import CallResponse, Tensors
from tfsvc.specs import TensorSpec, spec_of
from tfsvc.wire.specs_codec import NoneTensorSpec
from tfsvc.wire.structures import decode_structure, encode_structure
from tfsvc.wire.tensors import from_bytes, to_bytes

_NAMES = {"float32": "float", "float64": "double", "float16": "half"}
"""What TensorFlow's texts call a data type, where that is not its name."""


def encode_arguments(args: Any) -> Tensors:
    """A nest of values as serialized tensors, flat.

    Raises:
      TypeError, ValueError: if a value is no tensor.
    """
    return tuple(to_bytes(as_leaf(value)) for value in nest.flatten(args))


def decode_arguments(specs: tuple[Any, ...], flat_specs: list[TensorSpec], inputs: Tensors) -> Any:
    """The positional arguments of a function; tensors beyond them are ignored, and shapes not checked, as there.

    Raises:
      InvalidArgumentError: if there are too few tensors, or one is malformed or of another data type.
    """
    leaves = []
    for i, spec in enumerate(flat_specs):
        if i >= len(inputs):
            raise InvalidArgumentError(message=f"index {i} is out of range [0, {len(inputs)})")
        try:
            leaf = as_leaf(from_bytes(inputs[i]))
        except OpError as error:
            message = f"Failed to parse input tensor from proto. {error.message}"
            raise InvalidArgumentError(message=message) from error
        found = spec_of(leaf).dtype
        if found != spec.dtype:
            text = f"Expects arg[{i}] to be {_name(spec)} but {_name(spec_of(leaf))} is provided"
            raise InvalidArgumentError(message=text)
        leaves.append(leaf)
    return nest.pack_sequence_as(specs, leaves)


def encode_result(result: Any, describe: bool) -> CallResponse:
    """What a function gave; ``describe``: with its structure.

    Raises:
      TypeError, ValueError: if a part of it is no tensor.
    """
    leaves = [leaf for leaf in nest.flatten(result) if leaf is not None]
    tensors = tuple(to_bytes(as_leaf(leaf)) for leaf in leaves)
    # A tuple around it, since the structure of a single tensor takes no bytes.
    return CallResponse(tensors, encode_structure((result,)) if describe and leaves else b"")


def decode_result(response: CallResponse, specs: Any = None) -> Any:
    """What a call gave, as a nest of arrays.

    Args:
      response: the answer.
      specs: the nest of specs of the result; ``UNKNOWN`` where the answer carries its structure; ``None`` for the flat
        list, and ``None`` where that is empty.

    Raises:
      InvalidArgumentError: if the result is not of the specs, shapes aside.
      InternalError: if a tensor is malformed.
    """
    try:
        leaves = [as_leaf(from_bytes(tensor)) for tensor in response.output_tensors]
    except OpError as error:
        raise InternalError(message=f"the answer holds a malformed tensor: {error.message}") from error
    if specs is UNKNOWN:
        return nest.pack_sequence_as(decode_structure(response.structure)[0], leaves)[0] if leaves else None
    if specs is None:
        return leaves or None
    flat = nest.flatten(specs)
    wanted = [spec for spec in flat if isinstance(spec, TensorSpec)]
    if len(wanted) != len(leaves):
        text = f"Incorrect number of output types specified. {len(wanted)} {len(leaves)}"
        raise InvalidArgumentError(message=text)
    for spec, leaf in zip(wanted, leaves, strict=True):
        if spec_of(leaf).dtype != spec.dtype:
            text = f"Type mismatch: actual {_name(spec_of(leaf))} vs. expect {_name(spec)}"
            raise InvalidArgumentError(message=text)
    rest = iter(leaves)
    return nest.pack_sequence_as(specs, [next(rest) if isinstance(spec, TensorSpec) else None for spec in flat])


def with_none_specs(specs: Any) -> Any:
    """A nest of specs with TensorFlow's spec for each ``None``."""
    return nest.map_structure(lambda spec: NoneTensorSpec() if spec is None else spec, specs)


def _name(spec: TensorSpec) -> str:
    return _NAMES.get(spec.dtype.name, spec.dtype.name)
