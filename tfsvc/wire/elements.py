"""Elements as TensorFlow's data service ships them: compressed or as plain tensors.

A ``CompressedElement`` of version 0 is one raw Snappy block over the components joined in order: the
memory of a numeric tensor (one size entry; TensorFlow leaves it out for some tensors without
elements), or the bytes of a string tensor back to back (one size entry a string).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cramjam

from tfsvc.errors import OutOfRangeError
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.buffers import STRING, Array, byte_size, canonical, raw, strings, view
from tfsvc.wire.errors import decodes, serialize
from tfsvc.wire.tensors import (
    dtype_of,
    from_proto,
    join_strings,
    shape_proto,
    split_strings,
    to_proto,
    wire_dtype,
)
from tfsvc.wire.varints import read_varint

VERSION = 0
VARIANT_TYPE = "tensorflow.data.CompressedElement"
SNAPPY_RATIO_MAX = 32
"""Snappy's longest copy makes 64 bytes of three, so no honest block grows by more than 22 times."""


def compress(components: Sequence[Any]) -> pb.CompressedElement:
    """The flat components of one element as one compressed message.

    Raises:
      InvalidArgumentError: if TensorFlow has no such data type.
      OutOfRangeError: if the components exceed 4 GiB, as Snappy's length has 32 bits.
    """
    element = pb.CompressedElement(version=VERSION)
    parts: list[bytes | memoryview] = []
    for component in components:
        array, dtype = canonical(component)
        meta = element.component_metadata.add(dtype=wire_dtype(dtype), tensor_shape=shape_proto(array.shape))
        memory = array.reshape(-1).tolist() if dtype == STRING else [raw(array)]
        meta.uncompressed_bytes.extend(map(len, memory))
        parts.extend(memory)
    data = b"".join(parts)
    if len(data) > 0xFFFF_FFFF:
        raise OutOfRangeError(
            None, None, f"an element of {len(data)} bytes exceeds Snappy's 4 GiB; send smaller batches"
        )
    element.data = bytes(cramjam.snappy.compress_raw(data))
    return element


@decodes("a CompressedElement")
def uncompress(element: pb.CompressedElement) -> list[Array]:
    """The flat components of a compressed message; numeric ones are read-only views of one buffer.

    Raises:
      WireError: if the version is unknown, the sizes contradict shapes or the Snappy block, or the
        block is damaged.
      UnimplementedError: for a component that is no array (a resource or a nested variant).
    """
    if element.version != VERSION:
        raise ValueError(f"version {element.version} is not {VERSION}")
    total = sum(sum(meta.uncompressed_bytes) for meta in element.component_metadata)
    data = _decompress(element.data, total)
    components, at = [], 0
    for meta in element.component_metadata:
        dtype, sizes = dtype_of(meta.dtype), meta.uncompressed_bytes
        shape = [dim.size for dim in meta.tensor_shape.dim]
        size, count = byte_size(dtype, shape), math.prod(shape)
        if dtype == STRING:
            if len(sizes) != count:
                raise ValueError(f"{len(sizes)} sizes for {count} strings")
            values = []
            for length in sizes:
                values.append(data[at : at + length])
                at += length
            components.append(strings(values, shape))
            continue
        if list(sizes) != [size] and (sizes or count):
            raise ValueError(f"the sizes {list(sizes)[:3]} are not those of {dtype.name} of shape {shape}")
        components.append(view(data, at, dtype, shape))
        at += size
    return components


def to_uncompressed(components: Sequence[Any]) -> pb.UncompressedElement:
    """The flat components of one element as tensors in content form."""
    return pb.UncompressedElement(components=[to_proto(component) for component in components])


def from_uncompressed(element: pb.UncompressedElement) -> list[Array]:
    """The flat components of an ``UncompressedElement``; raises like ``tensors.from_proto``."""
    return [from_proto(proto) for proto in element.components]


@decodes("a variant tensor of a CompressedElement")
def from_variant(proto: pb.TensorProto) -> pb.CompressedElement:
    """The message inside a scalar variant tensor, as TensorFlow's ``compress`` op and its snapshots make them.

    Raises:
      WireError: if the tensor holds something else.
    """
    held = list(proto.variant_val)
    if proto.tensor_content:
        held = [pb.VariantTensorDataProto.FromString(text) for text in split_strings(proto.tensor_content, 1)]
    if len(held) != 1 or held[0].type_name != VARIANT_TYPE:
        raise ValueError(f"it holds {[variant.type_name for variant in held]}, not one {VARIANT_TYPE}")
    return pb.CompressedElement.FromString(held[0].metadata)


def to_variant(element: pb.CompressedElement) -> pb.TensorProto:
    """A scalar variant tensor, in content form, that TensorFlow's ``uncompress`` op reads."""
    variant = pb.VariantTensorDataProto(type_name=VARIANT_TYPE, metadata=serialize(element))
    content = join_strings([serialize(variant)])
    return pb.TensorProto(dtype=pb.DT_VARIANT, tensor_shape=shape_proto(()), tensor_content=content)


def _decompress(block: bytes, size: int) -> bytes:
    """The ``size`` bytes of a raw Snappy block, whose own length is believed only if it can be true."""
    if not block and not size:
        return b""
    declared, _ = read_varint(block, 0)
    if declared != size:
        raise ValueError(f"the Snappy block has {declared} bytes, the components have {size}")
    if declared > SNAPPY_RATIO_MAX * len(block):
        raise ValueError(f"{len(block)} bytes of Snappy cannot make {declared}")
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise ValueError(f"damaged Snappy block ({error})") from error
