"""Elements against the bytes that TensorFlow 2.21 writes."""

from __future__ import annotations

import numpy as np
import pytest

from tfsvc.wire import elements, tensors
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, parse

RECORDED = bytes.fromhex(
    "081512002266650a2174656e736f72666c6f772e646174612e436f6d70726573736564456c656d656e7412400a1ac3020407000901fe0800"
    "fe0800fe0800fe0800de08000878797a120c08091204120208282202c002120c0807120412020802220202011206080112021200"
)
COMPONENTS = [np.full(40, 7, np.int64), np.array([b"xy", b"z"], object), np.zeros(0, np.float32)]


def test_reads_what_tensorflow_compressed() -> None:
    element = elements.from_variant(parse(pb.TensorProto, RECORDED))
    for got, want in zip(elements.uncompress(element), COMPONENTS, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_compresses_to_the_block_that_tensorflow_makes() -> None:
    recorded = elements.from_variant(parse(pb.TensorProto, RECORDED))
    mine = elements.compress(COMPONENTS)
    assert mine.data == recorded.data
    assert list(mine.component_metadata)[:2] == list(recorded.component_metadata)[:2]


def test_an_uncompressed_element_holds_tensors_in_content_form() -> None:
    element = elements.to_uncompressed(COMPONENTS)
    assert all(component.tensor_content for component in element.components[:2])
    assert [array.shape for array in elements.from_uncompressed(element)] == [(40,), (2,), (0,)]


def test_no_components_are_no_bytes() -> None:
    assert elements.uncompress(pb.CompressedElement()) == []
    assert elements.uncompress(elements.compress([])) == []


def with_(**changes: object) -> pb.CompressedElement:
    element = elements.compress([np.arange(4, dtype=np.int64)])
    for name, value in changes.items():
        setattr(element, name, value)
    return element


def test_a_lying_length_allocates_nothing() -> None:
    element = with_(data=b"\xff\xff\xff\xff\x0f")
    element.component_metadata[0].uncompressed_bytes[:] = [0xFFFF_FFFF]
    with pytest.raises(WireError, match="cannot make 4294967295"):
        elements.uncompress(element)


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (with_(version=1), "version 1"),
        (with_(data=b"\x03abc"), "the Snappy block has 3 bytes"),
        (with_(data=b"\x20abc"), "damaged"),
        (with_(data=b""), "varint"),
    ],
)
def test_malformed_elements_are_refused(element: pb.CompressedElement, text: str) -> None:
    with pytest.raises(WireError, match=text):
        elements.uncompress(element)


def test_sizes_must_be_those_of_the_shapes() -> None:
    element = with_()
    element.component_metadata[0].tensor_shape.dim[0].size = 5
    with pytest.raises(WireError, match="are not those of int64"):
        elements.uncompress(element)


def test_another_variant_is_refused() -> None:
    proto = pb.TensorProto(dtype=pb.DT_VARIANT, variant_val=[pb.VariantTensorDataProto(type_name="x")])
    with pytest.raises(WireError, match=r"\['x'\]"):
        elements.from_variant(proto)


def test_a_variant_carries_the_element() -> None:
    element = elements.compress(COMPONENTS)
    proto = elements.to_variant(element)
    assert elements.from_variant(parse(pb.TensorProto, proto.SerializeToString())) == element
    assert proto.tensor_shape == tensors.shape_proto(())
