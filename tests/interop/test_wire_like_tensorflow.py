"""Our codecs against TensorFlow itself, both ways."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tfsvc.errors import OpError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import DTYPES, TensorSpec
from tfsvc.wire import elements, graphs, specs_codec, tensors
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import parse, serialize

pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore"),  # TensorFlow's own.
]

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow")
grpc = pytest.importorskip("grpc")

SHAPES = [(), (3,), (0,), (2, 0), (2, 3), (1000,)]
Point = namedtuple("Point", "x y")


def sample(name: str, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape))
    if name == "string":
        array = np.empty(size, object)
        array[:] = [b"x" * (100 * i) for i in range(size)]
        return array.reshape(shape)
    return (np.arange(size) % 2).astype(DTYPES[name].numpy).reshape(shape)


@pytest.mark.parametrize("order", ["tensorflow, tfsvc.wire.tfsvc_pb2", "tfsvc.wire.tfsvc_pb2, tensorflow"])
def test_both_schemas_live_in_one_process(order: str) -> None:
    code = f"import {order}; from tensorflow.core.framework import graph_pb2; graph_pb2.GraphDef()"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=100)


SCHEMAS = [
    *(
        f"framework.{name}"
        for name in ("tensor", "tensor_shape", "types", "graph", "node_def", "attr_value", "function")
    ),
    *(f"protobuf.{name}" for name in ("struct", "data_service", "service_config", "snapshot", "named_tensor")),
]
OPAQUE = {("DatasetDef", "graph"), ("FunctionDef", "signature")}
"""Fields whose message we keep as bytes, which is the same on the wire."""


def shape_of(field: Any) -> tuple[Any, ...]:
    of = field.message_type or field.enum_type
    oneof = field.containing_oneof
    return field.number, field.type, of and of.name, oneof and oneof.name


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_fields_are_tensorflows(schema: str) -> None:
    theirs = importlib.import_module(f"tensorflow.core.{schema}_pb2").DESCRIPTOR
    compared = 0
    for name, message in theirs.message_types_by_name.items():
        ours = pb.DESCRIPTOR.message_types_by_name.get(name)
        for field in ours.fields if ours else ():
            if field.number <= 1000 and (name, field.name) not in OPAQUE:
                assert shape_of(field) == shape_of(message.fields_by_name[field.name]), f"{name}.{field.name}"
                compared += 1
    for name, numbers in theirs.enum_types_by_name.items():
        for value in pb.DESCRIPTOR.enum_types_by_name[name].values:
            assert value.number == numbers.values_by_name[value.name].number
            compared += 1
    assert compared


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", DTYPES)
def test_tensorflow_reads_our_tensors(name: str, shape: tuple[int, ...]) -> None:
    array = sample(name, shape)
    for typed in (False, True):
        read = tf.io.parse_tensor(serialize(tensors.to_proto(array, typed=typed)), name)
        assert read.shape == shape
        np.testing.assert_array_equal(np.asarray(read.numpy(), array.dtype), array)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [name for name in DTYPES if "float8" not in name and "int4" not in name])
def test_we_serialize_tensors_as_tensorflow(name: str, shape: tuple[int, ...]) -> None:
    array = sample(name, shape)
    theirs = tf.io.serialize_tensor(tf.constant(array, name)).numpy()
    assert tensors.to_bytes(array) == theirs
    np.testing.assert_array_equal(tensors.from_bytes(theirs), array)


@pytest.mark.parametrize("name", [name for name in DTYPES if name not in ("int4", "uint4") and "uz" not in name])
def test_we_read_make_tensor_proto(name: str) -> None:
    array = sample(name, (2, 3))
    for value in (array, np.full_like(array, array.flat[0])):
        proto = tf.make_tensor_proto(value, name)
        np.testing.assert_array_equal(tensors.from_bytes(proto.SerializeToString()), value)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("names", [*([name] for name in DTYPES), ["int32", "string", "float32", "string", "bool"]])
def test_compressed_elements_go_both_ways(names: list[str], shape: tuple[int, ...]) -> None:
    from tensorflow.python.data.experimental.ops import compression_ops

    components = [sample(name, shape) for name in names]
    variant = compression_ops.compress(tuple(map(tf.constant, components, names)))
    theirs = elements.from_variant(parse(pb.TensorProto, tf.io.serialize_tensor(variant).numpy()))
    ours = elements.compress(components)
    assert ours.data == theirs.data
    for got, want in zip(elements.uncompress(theirs), components, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    variant = tf.io.parse_tensor(serialize(elements.to_variant(ours)), tf.variant)
    read = compression_ops.uncompress(variant, tuple(tf.TensorSpec(shape, name) for name in names))
    for got, want in zip(read if isinstance(read, tuple) else (read,), components, strict=True):
        np.testing.assert_array_equal(np.asarray(got.numpy(), want.dtype), want)


def test_specs_are_the_nested_structure_coders() -> None:
    from tensorflow.python.framework import none_tensor
    from tensorflow.python.saved_model import nested_structure_coder as coder

    theirs = {"b": Point(tf.TensorSpec((None, 3), tf.int8, "n"), [none_tensor.NoneTensorSpec()]), "a": (None, ())}
    ours = {"b": Point(TensorSpec((None, 3), "int8", "n"), [specs_codec.NoneTensorSpec()]), "a": (None, ())}
    encoded = coder.encode_structure(theirs)
    data = encoded.SerializeToString(deterministic=True)
    assert specs_codec.encode_spec(ours) == data
    assert specs_codec.decode_spec(data) == ours
    assert tuple(coder.decode_proto(type(encoded).FromString(data))["b"]) == tuple(theirs["b"])


class Dispatcher:
    """A TensorFlow dispatcher, called with our schema."""

    def __init__(self) -> None:
        self._server = tf.data.experimental.service.DispatchServer()
        self._channel = grpc.insecure_channel(self._server.target.partition("://")[2])
        self.iterations: dict[int, int] = {}

    def call(self, method: str, request: Any, response: Any) -> Any:
        path = f"/tensorflow.data.DispatcherService/{method}"
        stub = self._channel.unary_unary(path, serialize, response.FromString)
        return stub(request, timeout=20)

    def register(self, dataset: Any) -> tuple[str, bytes]:
        """The id of a dataset and its graph as TensorFlow's client registers it: with the compression map."""
        id = tf.data.experimental.service.register_dataset(self._server.target, dataset).numpy().decode()
        answer = self.call("GetDatasetDef", pb.GetDatasetDefRequest(dataset_id=id), pb.GetDatasetDefResponse)
        return id, answer.dataset_def.graph

    def splits(self, dataset_id: str, providers: int, limit: int) -> list[list[int]]:
        """What the dispatcher hands out; it crashes when asked for a provider that it has not."""
        mode = pb.ProcessingModeDef(sharding_policy=pb.ProcessingModeDef.DYNAMIC)
        request = pb.GetOrCreateJobRequest(dataset_id=dataset_id, processing_mode_def=mode)
        job = self.call("GetOrCreateJob", request, pb.GetOrCreateJobResponse).job_id
        self.call("GetOrCreateIteration", pb.GetOrCreateIterationRequest(job_id=job), pb.GetOrCreateIterationResponse)
        iteration = 2000 + len(self.iterations)  # TensorFlow numbers them so.
        self.iterations[iteration] = providers
        return [self._drain(iteration, provider, limit) for provider in range(providers)]

    def _drain(self, iteration: int, provider: int, limit: int) -> list[int]:
        values: list[int] = []
        while len(values) < limit:
            request = pb.GetSplitRequest(iteration_id=iteration, split_provider_index=provider)
            answer = self.call("GetSplit", request, pb.GetSplitResponse)
            if answer.end_of_splits:
                break
            values.append(int(tensors.from_proto(answer.split)))
        return values

    def providers(self) -> dict[int, int]:
        """How many providers each iteration has, as a new worker is told."""
        request = pb.WorkerHeartbeatRequest(worker_address="localhost:1", worker_uid=1)
        answer = self.call("WorkerHeartbeat", request, pb.WorkerHeartbeatResponse)
        return {task.iteration_id: task.num_split_providers for task in answer.new_tasks}


@pytest.fixture(scope="module")
def dispatcher() -> Dispatcher:
    return Dispatcher()


def ranges(*stops: int) -> list[Any]:
    return [tf.data.Dataset.range(stop) for stop in stops]


def first(*values: Any) -> Any:
    return values[0]


def generate() -> Iterator[int]:
    yield 1


def of(*counts: int | None) -> tuple[SplitPlan, ...]:
    return tuple(map(SplitPlan, counts))


SPLITTABLE: dict[str, tuple[Callable[[], Any], tuple[SplitPlan, ...]]] = {
    "range": (lambda: tf.data.Dataset.range(3, 20, 4), (SplitPlan(5, 3, 4),)),
    "descending": (lambda: tf.data.Dataset.range(10, 0, -3), (SplitPlan(4, 10, -3),)),
    "empty": (lambda: tf.data.Dataset.range(0), of(0)),
    "slices": (lambda: tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [b"x", b"y"]}), of(2)),
    "ragged": (lambda: tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])), of(2)),
    "tensors": (lambda: tf.data.Dataset.from_tensors(5), of(1)),
    "list": (lambda: tf.data.experimental.from_list([(1, 2), (3, 4), (5, 6)]), of(3)),
    "random": (lambda: tf.data.Dataset.random(seed=1), of(None)),
    "generator": (
        lambda: tf.data.Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int64)),
        of(1),
    ),
    "records": (lambda: tf.data.TFRecordDataset(["a", "b"], num_parallel_reads=2), of(2)),
    "lines": (lambda: tf.data.TextLineDataset(["a", "b", "c"]), of(3)),
    "enumerate": (lambda: ranges(5)[0].enumerate(), of((1 << 63) - 1, 5)),
    "sample": (lambda: tf.data.Dataset.sample_from_datasets(ranges(3, 4)), of(None, 3, 4)),
    "choose": (lambda: tf.data.Dataset.choose_from_datasets(ranges(3, 4), ranges(2)[0]), of(2, 3, 4)),
    "zip": (
        lambda: tf.data.Dataset.zip((ranges(2)[0], tf.data.Dataset.zip(tuple(ranges(3, 4))).map(first))).map(first),
        of(2, 3, 4),
    ),
    "concatenate": (lambda: ranges(2)[0].concatenate(ranges(6)[0]), of(2, 6)),
    "chain": (
        lambda: (
            ranges(5)[0]
            .cache()
            .shuffle(3)
            .repeat(2)
            .prefetch(1)
            .shard(2, 0)
            .batch(2, num_parallel_calls=2)
            .interleave(tf.data.Dataset.from_tensor_slices, num_parallel_calls=2)
            .skip(1)
            .take(3)
        ),
        of(5),
    ),
    "windows": (lambda: ranges(5)[0].window(2).flat_map(first), of(5)),
    "groups": (lambda: ranges(5)[0].group_by_window(first, lambda key, group: group.batch(2), 2), of(5)),
    "padded": (lambda: ranges(5)[0].padded_batch(2).rebatch(3).with_options(tf.data.Options()), of(5)),
    "unique": (lambda: ranges(5)[0].unique().ragged_batch(2).unbatch().filter(lambda x: x > 1), of(5)),
    "scan": (lambda: ranges(5)[0].scan(np.int64(0), lambda s, x: (s, x)).take_while(lambda x: x < 3), of(5)),
    "counter": (lambda: tf.data.Dataset.counter(), of(1)),
}


@pytest.mark.parametrize("name", SPLITTABLE)
def test_split_providers_are_the_dispatchers(dispatcher: Dispatcher, name: str) -> None:
    make, plans = SPLITTABLE[name]
    dataset_id, graph = dispatcher.register(make())
    assert graphs.split_plans(graph) == plans
    expected = [[plan.value(i) for i in range(min(7, 7 if plan.count is None else plan.count))] for plan in plans]
    assert dispatcher.splits(dataset_id, len(plans), 7) == expected


@pytest.mark.parametrize("kind", ["snapshot", "csv", "load"])
def test_refusals_have_tensorflows_text(dispatcher: Dispatcher, kind: str, tmp_path: Any) -> None:
    path = str(tmp_path)
    if kind == "snapshot":
        dataset = ranges(3)[0].snapshot(path)
    elif kind == "csv":
        dataset = tf.data.experimental.CsvDataset([path], [tf.int32])
    else:
        ranges(3)[0].save(path)
        dataset = tf.data.Dataset.load(path)
    dataset_id, graph = dispatcher.register(dataset)
    with pytest.raises(OpError) as ours:
        graphs.split_plans(graph)
    with pytest.raises(grpc.RpcError) as theirs:
        dispatcher.splits(dataset_id, 1, 1)
    assert ours.value.error_code == theirs.value.code().value[0]
    assert ours.value.message in theirs.value.details()


def test_the_numbers_of_providers_agree(dispatcher: Dispatcher) -> None:
    dataset_id, _ = dispatcher.register(tf.data.Dataset.zip(tuple(ranges(1, 2, 3))))
    dispatcher.splits(dataset_id, 3, 1)
    told = dispatcher.providers()
    assert 3 in told.values()
    assert {iteration: dispatcher.iterations[iteration] for iteration in told} == told
