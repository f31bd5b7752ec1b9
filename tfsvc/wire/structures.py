"""The nest of an element as data: what an element is made of, without its components."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from tfsvc import nest
from tfsvc.errors import InvalidArgumentError
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.named_tuples import named_fields, named_tuple_type

BYTES_MAX = 1 << 16
"""The longest structure, thousands of components: what is kept, and turned into types, has a bound."""

DEPTH_MAX = 64
"""How deep a nest may be: protobuf refuses to read messages nested beyond 100."""


def encode_structure(structure: Any) -> bytes:
    """The bytes of a nest of dicts with text keys, tuples, named tuples and lists; its leaves do not matter.

    Raises:
      InvalidArgumentError: if a key is not text, or the nest exceeds :data:`DEPTH_MAX` or :data:`BYTES_MAX`.
    """
    if not nest.is_nested(structure):
        return _LEAF
    data = serialize(_to_def(structure, DEPTH_MAX))
    if len(data) > BYTES_MAX:
        raise InvalidArgumentError(
            None, None, f"an element has too many components ({len(data)} bytes of keys); join some"
        )
    return data


@functools.lru_cache(maxsize=256)
@decodes("the structure of an element")
def decode_structure(data: bytes) -> tuple[Any, int]:
    """The nest in ``data`` with its leaves numbered in flat order, and how many they are.

    The same bytes give the same object, which must not be changed. Dictionaries come back as ``dict``
    in their insertion order, named tuples with a type of the same name and fields.

    Raises:
      WireError: if the bytes are not a nest.
    """
    if len(data) > BYTES_MAX:
        raise ValueError(f"{len(data)} bytes are no structure")
    bare = _from_def(parse(pb.StructureDef, data))
    count = len(nest.flatten(bare))
    return nest.pack_sequence_as(bare, range(count)), count


def _to_def(structure: Any, depth: int) -> pb.StructureDef:
    if not depth:
        raise InvalidArgumentError(None, None, f"an element is nested deeper than {DEPTH_MAX}; flatten it")
    if not nest.is_nested(structure):
        return pb.StructureDef(kind=pb.StructureDef.LEAF)
    if isinstance(structure, Mapping):
        if not all(isinstance(key, str) for key in structure):
            raise InvalidArgumentError(None, None, f"the keys of an element must be text; got {list(structure)}")
        items = [_to_def(item, depth - 1) for item in structure.values()]
        return pb.StructureDef(kind=pb.StructureDef.DICT, keys=structure, items=items)
    items = [_to_def(item, depth - 1) for item in structure]
    fields = named_fields(structure)
    if fields is not None:
        name = type(structure).__name__
        return pb.StructureDef(kind=pb.StructureDef.NAMED_TUPLE, name=name, keys=fields, items=items)
    kind = pb.StructureDef.LIST if isinstance(structure, list) else pb.StructureDef.TUPLE
    return pb.StructureDef(kind=kind, items=items)


_LEAF = serialize(pb.StructureDef(kind=pb.StructureDef.LEAF))


def _from_def(proto: pb.StructureDef) -> Any:
    items = [_from_def(item) for item in proto.items]
    match proto.kind:
        case pb.StructureDef.LEAF if not items:
            return 0
        case pb.StructureDef.TUPLE:
            return tuple(items)
        case pb.StructureDef.LIST:
            return items
        case pb.StructureDef.DICT:
            fields = dict(zip(proto.keys, items, strict=True))
            if len(fields) != len(items):
                raise ValueError("a key comes twice")
            return fields
        case pb.StructureDef.NAMED_TUPLE:
            return named_tuple_type(proto.name, tuple(proto.keys))(*items)
        case _:
            raise ValueError(f"kind {proto.kind} with {len(items)} items is no structure")
