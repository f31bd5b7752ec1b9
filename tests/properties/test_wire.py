"""Whatever is written is read back; whatever else is read gives one typed error."""

from __future__ import annotations

import contextlib
import itertools
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tfsvc import nest
from tfsvc.errors import OpError
from tfsvc.specs import DTYPES, DType, TensorSpec
from tfsvc.wire import elements, frames, graphs, specs_codec, tensors
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import parse, serialize

Point = namedtuple("Point", "x y")

UNHURRIED = settings(deadline=None)  # A busy machine is no failure of a codec.

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@st.composite
def arrays(draw: st.DrawFn, shapes: st.SearchStrategy[tuple[int, ...]] = SHAPES) -> np.ndarray:
    """An array of any data type: random memory for numbers, random bytes for strings."""
    dtype: DType = draw(st.sampled_from(list(DTYPES.values())))
    shape = draw(shapes)
    size = int(np.prod(shape))
    if dtype.name == "string":
        values = draw(st.lists(st.binary(max_size=200), min_size=size, max_size=size))
        array = np.empty(size, object)
        array[:] = values
        return array.reshape(shape)
    memory: np.ndarray = np.frombuffer(draw(st.binary(min_size=size * 16, max_size=size * 16)), np.uint8)
    memory = memory[: size * dtype.numpy.itemsize]
    if dtype.name == "bool":
        memory = memory & 1
    if dtype.name in ("int4", "uint4"):
        return (memory & 7).astype(dtype.numpy).reshape(shape)
    return memory.view(dtype.numpy).reshape(shape)


def same(one: Any, two: Any) -> bool:
    """Equal in type, shape and memory, so that a NaN equals itself; an array without dimensions is its scalar."""
    if one is None or two is None:
        return one is two
    one, two = (value[()] if isinstance(value, np.ndarray) else value for value in (one, two))
    if isinstance(one, bytes) or isinstance(two, bytes):
        return type(one) is type(two) and bool(one == two)
    one, two = np.asarray(one), np.asarray(two)
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    return bool(one.tolist() == two.tolist()) if one.dtype == object else one.tobytes() == two.tobytes()


@UNHURRIED
@given(arrays(), st.booleans())
def test_tensors_come_back(array: np.ndarray, typed: bool) -> None:
    data = serialize(tensors.to_proto(array, typed=typed))
    back = tensors.from_bytes(data)
    if typed and array.dtype.kind in "fc":  # A NaN keeps being one, not its payload.
        np.testing.assert_array_equal(back, array)
    else:
        assert same(back, array)


@UNHURRIED
@given(st.lists(arrays(), max_size=4))
def test_compressed_elements_come_back(components: list[np.ndarray]) -> None:
    back = elements.uncompress(parse(pb.CompressedElement, serialize(elements.compress(components))))
    assert all(same(a, b) for a, b in zip(back, components, strict=True))


KEYS = st.text(max_size=5)


def structures(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.tuples(inner, inner).map(lambda pair: Point(*pair)),
            st.dictionaries(KEYS, inner, max_size=3),
            st.dictionaries(KEYS, inner, max_size=3).map(OrderedDict),
        ),
        max_leaves=6,
    )


@st.composite
def element_lists(draw: st.DrawFn) -> list[Any]:
    """Elements of one structure: each component is of one kind, or differs from element to element."""
    structure = draw(structures(st.none()))
    count = draw(st.integers(1, 4))
    columns = []
    for _ in nest.flatten(structure):
        first = draw(st.one_of(arrays(), arrays(st.just(())).map(lambda a: a[()]), st.none(), st.binary()))
        others = st.one_of(arrays(), st.none()) if draw(st.booleans()) else st.just(first)
        columns.append([first, *(draw(others) for _ in range(count - 1))])
    return [nest.pack_sequence_as(structure, [column[i] for column in columns]) for i in range(count)]


@UNHURRIED
@given(element_lists())
def test_frames_come_back(rows: list[Any]) -> None:
    data = frames.encode_frame(frames.columns_of(rows))
    columns = frames.decode_frame(data)
    assert columns.count == len(rows)
    for index, row in enumerate(rows):
        back = columns.element(index)
        nest.assert_same_structure(plain(row), plain(back))
        assert all(same(a, b) for a, b in zip(nest.flatten(row), nest.flatten(back), strict=True))
    assert frames.encode_frame(columns) == data


def plain(structure: Any) -> Any:
    """The nest without its values, which may be arrays that do not compare."""
    return nest.pack_sequence_as(structure, itertools.repeat(0, len(nest.flatten(structure))))


SPECS = st.one_of(
    st.builds(
        TensorSpec,
        st.none() | st.lists(st.none() | st.integers(0, 1 << 40), max_size=4),
        st.sampled_from(sorted(DTYPES)),
        st.none() | st.text(min_size=1, max_size=5),
    ),
    st.just(specs_codec.NoneTensorSpec()),
    st.none(),
)


@UNHURRIED
@given(structures(SPECS))
def test_specs_come_back(spec: Any) -> None:
    data = specs_codec.encode_spec(spec)
    assert specs_codec.decode_spec(data) == spec
    assert specs_codec.encode_spec(specs_codec.decode_spec(data)) == data


def _valid_graph() -> bytes:
    nodes = []
    for name, value in (("a", 0), ("b", 9), ("c", 2)):
        node = pb.NodeDef(name=name, op="Const")
        node.attr["value"].tensor.CopyFrom(tensors.to_proto(np.int64(value)))
        nodes.append(node)
    nodes += [
        pb.NodeDef(name="r", op="RangeDataset", input=["a", "b", "c"]),
        pb.NodeDef(name="m", op="MapDataset", input=["r"]),
        pb.NodeDef(name="z", op="ZipDataset", input=["m", "r"]),
        pb.NodeDef(name="s", op="_Retval", input=["z"]),
    ]
    return serialize(pb.GraphDef(node=nodes))


_ROWS = [{"a": (np.int64(i), b"x" * i), "b": np.zeros(i, np.bool_), "c": Point(np.ones(2), None)} for i in range(5)]
_COMPONENTS = [np.arange(9), np.array([b"ab", b"c" * 99], object), np.array([True, False])]

DECODERS: dict[str, tuple[Callable[[bytes], Any], bytes]] = {
    "tensor": (tensors.from_bytes, tensors.to_bytes(np.arange(6).reshape(2, 3))),
    "strings": (tensors.from_bytes, serialize(tensors.to_proto(_COMPONENTS[1]))),
    "typed": (tensors.from_bytes, serialize(tensors.to_proto(np.arange(3.0), typed=True))),
    "compressed": (
        lambda data: elements.uncompress(parse(pb.CompressedElement, data)),
        serialize(elements.compress(_COMPONENTS)),
    ),
    "uncompressed": (
        lambda data: elements.from_uncompressed(parse(pb.UncompressedElement, data)),
        serialize(elements.to_uncompressed(_COMPONENTS)),
    ),
    "variant": (
        lambda data: elements.uncompress(elements.from_variant(parse(pb.TensorProto, data))),
        serialize(elements.to_variant(elements.compress(_COMPONENTS))),
    ),
    "spec": (
        specs_codec.decode_spec,
        specs_codec.encode_spec({"a": Point(TensorSpec((None,)), None), "b": [(specs_codec.NoneTensorSpec(),)]}),
    ),
    "frame": (
        lambda data: list(frames.decode_frame(data).elements()),
        frames.encode_frame(frames.columns_of(_ROWS)),
    ),
    "graph": (graphs.split_plans, _valid_graph()),
}


@pytest.mark.parametrize("name", DECODERS)
@UNHURRIED
@given(st.binary(max_size=300))
def test_random_bytes_give_a_typed_error_or_a_value(name: str, data: bytes) -> None:
    attempt(DECODERS[name][0], data)


@pytest.mark.parametrize("name", DECODERS)
@UNHURRIED
@given(st.data())
def test_damaged_bytes_give_a_typed_error_or_a_value(name: str, data: st.DataObject) -> None:
    decoder, valid = DECODERS[name]
    damaged = bytearray(valid)
    for _ in range(data.draw(st.integers(1, 4), "changes")):
        at = data.draw(st.integers(0, len(damaged)), "at")
        kind = data.draw(st.sampled_from(["set", "cut", "insert", "remove"]), "kind")
        if kind == "cut":
            del damaged[at:]
        elif kind == "insert":
            damaged[at:at] = data.draw(st.binary(max_size=10), "inserted")
        elif kind == "set":
            damaged[at : at + 1] = data.draw(st.binary(min_size=1, max_size=1), "byte")
        else:
            del damaged[at : at + data.draw(st.integers(1, 10), "length")]
    attempt(decoder, bytes(damaged))


@pytest.mark.parametrize("name", DECODERS)
def test_every_single_changed_byte_gives_a_typed_error_or_a_value(name: str) -> None:
    decoder, valid = DECODERS[name]
    decoder(valid)
    for at in range(len(valid)):
        for byte in (0, 1, 0x7F, 0x80, 0xFF, valid[at] ^ 1):
            attempt(decoder, valid[:at] + bytes([byte]) + valid[at + 1 :])
        attempt(decoder, valid[:at])


def attempt(decoder: Callable[[bytes], Any], data: bytes) -> None:
    with contextlib.suppress(OpError):
        decoder(data)
