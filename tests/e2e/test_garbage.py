"""Garbage on the wire: it is refused by a typed status, and the server goes on."""

from __future__ import annotations

import random

import grpc
import pytest

import tfsvc as tf
from tests.e2e.conftest import Service
from tfsvc.protocol import messages as m
from tfsvc.wire.messages import METHODS, encode

TYPED = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.UNAVAILABLE,
}
"""``UNAVAILABLE`` is what TensorFlow's readers are told of a task that is not known yet."""

WHOLE = (
    m.GetOrCreateJobRequest("1000", m.ProcessingModeDef(m.ShardingPolicy.DYNAMIC), "job", nonce="n"),
    m.GetFramesRequest(4000, 6000, 1, 3000, 5, 1000),
    m.ProcessTaskRequest(m.TaskDef(m.DatasetDef(program=b"p"), task_id=1)),
)


def _status(channel: grpc.Channel, path: str, data: bytes, timeout_s: float = 5) -> grpc.StatusCode:
    try:
        channel.unary_unary(path, None, None)(data, timeout=timeout_s)
    except grpc.RpcError as error:
        status: grpc.StatusCode = error.code()
        return status
    return grpc.StatusCode.OK


@pytest.mark.parametrize("to", ["dispatcher", "worker"])
def test_random_and_truncated_messages(two_workers: Service, to: str) -> None:
    luck = random.Random(1)
    address = two_workers.target.split("://")[1] if to == "dispatcher" else f"localhost:{two_workers.workers[0].port}"
    with grpc.insecure_channel(address) as channel:
        for kind, method in METHODS.items():
            if kind is m.StopServiceRequest:
                continue  # whatever it holds, it means what it says
            garbage = [b"", *(luck.randbytes(luck.randrange(40)) for _ in range(10))]
            assert {_status(channel, method.path, data) for data in garbage} <= TYPED, method.path
        for request in WHOLE:
            data, path = encode(request), METHODS[type(request)].path
            assert {_status(channel, path, data[:length]) for length in range(len(data))} <= TYPED, path
        assert _status(channel, "/nobody.Knows/This", b"") is grpc.StatusCode.UNIMPLEMENTED
    dataset = two_workers.read(tf.data.Dataset.range(10))
    assert sorted(int(value) for value in dataset) == list(range(10))


def test_callers_that_hang_up_in_the_middle(two_workers: Service) -> None:
    request = encode(m.GetFramesRequest(4000, 0, 0, 1, 0, 1000))
    path = METHODS[m.GetFramesRequest].path
    for _ in range(20):
        with grpc.insecure_channel(f"localhost:{two_workers.workers[1].port}") as channel:
            channel.unary_unary(path, None, None).future(request).cancel()
            channel.unary_unary(path, None, None).future(request)
    dataset = two_workers.read(tf.data.Dataset.range(10))
    assert sorted(int(value) for value in dataset) == list(range(10))
