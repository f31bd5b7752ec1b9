"""Registered functions: single calls, batches in which a bad call fails alone, and streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tfsvc.eager.functions import UNKNOWN
from tfsvc.errors import Code, InternalError, InvalidArgumentError, RpcError
from tfsvc.execution.methods import Method, Methods
from tfsvc.execution.tensors import decode_result, encode_arguments
from tfsvc.protocol.contract import Execute, Executed, Pull
from tfsvc.protocol.messages import CallResponse, RegisteredMethod
from tfsvc.protocol.rpc.settings import MethodSettings
from tfsvc.specs import TensorSpec

INT = TensorSpec((), "int32")


def methods(function: Callable[..., Any], *specs: Any, batch_max: int = 1) -> Methods:
    settings = MethodSettings(RegisteredMethod("f"), batch_max)
    return Methods([Method(function, specs, True, settings)])


def run(held: Methods, *calls: Any) -> list[Any]:
    """Each call's value, or its error."""
    done = held.execute(Execute(1, "f", tuple(map(encode_arguments, calls))))
    assert isinstance(done, Executed)
    return [r if isinstance(r, RpcError) else decode_result(r, UNKNOWN) for r in done.results]


def test_a_function_gets_its_nest_and_gives_one():
    held = methods(lambda d, x: {"sum": d["a"] + d["b"], "rest": (x, [d["a"]])}, {"a": INT, "b": INT}, INT)
    assert run(held, ({"b": 2, "a": 1}, 3)) == [{"sum": 3, "rest": (3, [1])}]


def test_a_single_tensor_and_nothing_come_back_as_they_are():
    assert run(methods(lambda x: x + 1, INT), (1,)) == [2]
    assert run(methods(lambda x: None, INT), (1,)) == [None]
    assert run(methods(lambda x: b"text", INT), (1,)) == [b"text"]


@pytest.mark.parametrize(
    ("sent", "code", "text"),
    [
        ((), Code.INVALID_ARGUMENT, "index 0 is out of range [0, 0)"),
        ((1.5,), Code.INVALID_ARGUMENT, "Expects arg[0] to be int32 but float is provided"),
        ((7,), Code.UNKNOWN, "KeyError: 'seven'"),
    ],
)
def test_what_goes_wrong_is_told(sent, code, text):
    def fail(x):
        raise KeyError("seven")

    (error,) = run(methods(fail, INT), sent)
    assert error.code is code
    assert error.message.startswith(text)


def test_what_is_no_tensor_is_told():
    done = methods(lambda x: x, INT).execute(Execute(1, "f", ((b"\xff\xff",),)))
    (error,) = done.results
    assert isinstance(error, RpcError)
    assert error.message.startswith("Failed to parse input tensor from proto.")
    (error,) = run(methods(lambda x: object(), INT), (1,))
    assert error.code is Code.INVALID_ARGUMENT


def test_tensors_that_are_too_many_are_ignored_and_shapes_are_not_checked():
    assert run(methods(lambda x: np.sum(x), INT), ([1, 2], 3)) == [1]
    array = np.ones((3, 3), np.int32)
    assert run(methods(lambda x: np.sum(x), INT), (array,)) == [9]


def test_a_batch_is_one_run():
    seen = []

    def double(x):
        seen.append(x.shape)
        return x * 2

    assert run(methods(double, INT, batch_max=8), (1,), (2,), (3,)) == [2, 4, 6]
    assert seen == [(3,)]


def test_a_batch_of_texts():
    held = methods(lambda x: np.array([t.upper() for t in x], object), TensorSpec((), "string"), batch_max=8)
    assert run(held, ("a",), ("b",)) == [b"A", b"B"]


def test_calls_of_different_shapes_run_apart():
    seen = []

    def first(x):
        seen.append(x.shape)
        return x[:, 0]

    held = methods(first, TensorSpec([None], "int32"), batch_max=8)
    sent = [np.array(values, np.int32) for values in ([1], [2, 3], [4])]
    assert run(held, *((array,) for array in sent)) == [1, 2, 4]
    assert seen == [(2, 1), (1, 2)]


def test_a_bad_call_fails_alone():
    def check(x):
        if np.any(x == 13):
            raise ValueError("unlucky")
        return x

    found = run(methods(check, INT, batch_max=8), (12,), (13,), (1.5,), (14,))
    assert (found[0], found[3]) == (12, 14)
    assert [found[i].code for i in (1, 2)] == [Code.INVALID_ARGUMENT] * 2
    assert found[1].message.startswith("ValueError: unlucky")


def test_a_batched_function_that_gives_too_few_rows_is_told_so():
    (error, _) = run(methods(lambda x: np.sum(x), INT, batch_max=8), (1,), (2,))
    assert "each tensor that it gives must have 1 rows" in error.message


def pull(held: Methods, inputs: Any = None) -> Any:
    """The next item of stream 1, its end or its error."""
    item = held.pull(Pull(1, "f", None if inputs is None else encode_arguments(inputs))).item
    return decode_result(item, UNKNOWN) if isinstance(item, CallResponse) else item


def test_a_generator_gives_its_items_one_by_one():
    held = methods(lambda n: iter([n, {"n": n}]), INT)
    assert [pull(held, (3,)), pull(held), pull(held), pull(held)] == [3, {"n": 3}, None, None]


def test_a_generator_that_fails_gives_what_it_had():
    def fail(n):
        yield n
        raise ValueError("no")

    held = methods(fail, INT)
    assert pull(held, (1,)) == 1
    assert pull(held).code is Code.INVALID_ARGUMENT
    assert pull(held) is None


def test_an_abandoned_generator_is_closed():
    closed = []

    def forever(n):
        try:
            while True:
                yield n
        finally:
            closed.append(True)

    held = methods(forever, INT)
    pull(held, (1,))
    held.abandon(1)
    assert closed == [True]
    assert pull(held) is None


def test_a_result_is_checked_against_what_was_expected():
    response = CallResponse(encode_arguments((1, 2.5)))
    assert decode_result(response) == [1, 2.5]
    assert decode_result(CallResponse()) is None
    assert decode_result(response, (INT, TensorSpec((), "float32"))) == (1, 2.5)
    with pytest.raises(InvalidArgumentError, match="Incorrect number of output types"):
        decode_result(response, INT)
    with pytest.raises(InvalidArgumentError, match="actual float vs"):
        decode_result(response, [INT, INT])
    with pytest.raises(InternalError):
        decode_result(CallResponse((b"\xff",)), INT)
