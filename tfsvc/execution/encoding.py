"""How elements become the bodies of frames: columns for our readers, messages for TensorFlow's."""

from __future__ import annotations

from typing import Any

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.protocol.production import Encoding
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.elements import compress, from_uncompressed, to_uncompressed, uncompress
from tfsvc.wire.errors import parse, serialize
from tfsvc.wire.frames import decode_frame, encode_frame


def encode_columns(columns: Columns) -> bytes:
    return encode_frame(columns)


def encode_element(element: Any, compressed: bool) -> bytes:
    """The part of TensorFlow's ``GetElementResponse`` that holds the element, serialized."""
    components = nest.flatten(element)
    if compressed:
        return serialize(pb.GetElementResponse(compressed=compress(components)))
    return serialize(pb.GetElementResponse(uncompressed=to_uncompressed(components)))


def decode_element(body: bytes | memoryview) -> list[Any]:
    """The flat components of an element that TensorFlow's ``GetElementResponse`` holds.

    Raises:
      WireError: if the bytes are damaged.
    """
    response = parse(pb.GetElementResponse, body)
    if response.HasField("compressed"):
        return list(uncompress(response.compressed))
    return list(from_uncompressed(response.uncompressed))


def decode_body(body: bytes | memoryview, encoding: Encoding, structure: Any) -> Columns:
    """The elements of a frame; ``structure`` packs the components that TensorFlow sends flat."""
    if encoding is Encoding.FRAMES:
        return decode_frame(body)
    components = [_leaf(c) for c in decode_element(body)]
    element = nest.pack_sequence_as(structure, components)
    return Columns(_numbered(element), tuple((leaf,) for leaf in nest.flatten(element)), 1)


def _leaf(component: Any) -> Any:
    """Scalars as scalars, as datasets give them."""
    return component[()] if component.ndim == 0 else component


def _numbered(element: Any) -> Any:
    return nest.pack_sequence_as(element, list(range(len(nest.flatten(element)))))
