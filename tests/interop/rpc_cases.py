"""What an RPC client and a server must do together, whoever's they are; run as a script for one pair.

    python tests/interop/rpc_cases.py SERVER CLIENT      # each of them "tensorflow" or "tfsvc"

Most cases are those of TensorFlow's ``rpc_ops_test.py``. With TensorFlow on both sides they show that the cases
themselves are right.
"""

from __future__ import annotations

import importlib
import os
import queue
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

INVALID_ARGUMENT, DEADLINE_EXCEEDED = 3, 4


class Pair:
    """A server's module and a client's.

    Attributes:
      s: with which functions and servers are made.
      c: with which clients are made and values are read.
    """

    def __init__(self, server: str, client: str) -> None:
        self.server, self.client = server, client
        self.s: Any = importlib.import_module(server)
        self.c: Any = importlib.import_module(client)
        self.rpc = self.c.distribute.experimental.rpc

    @contextmanager
    def serving(self, **functions: Any) -> Iterator[str]:
        """A server of ``functions`` at a free address."""
        address = free_address()
        server = self.s.distribute.experimental.rpc.Server.create("grpc", address)
        for name, function in functions.items():
            server.register(name, function)
        server.start()
        try:
            yield address
        finally:
            if hasattr(server, "stop"):
                server.stop()

    def connect(self, address: str, timeout_in_ms: int = 20_000) -> Any:
        return self.rpc.Client.create("grpc", address, timeout_in_ms=timeout_in_ms)

    def multiply(self) -> Any:
        scalar = self.s.TensorSpec([], self.s.int32)
        return self.s.function(lambda a, b: self.s.math.multiply(a, b), input_signature=[scalar, scalar])

    def sleeping(self) -> Any:
        """A function that takes the milliseconds that it is told to."""

        def sleep(ms: Any) -> Any:
            time.sleep(int(ms) / 1000)
            return ms

        spec = self.s.TensorSpec([], self.s.int32)
        return self.s.function(self.python(sleep, "int32"), input_signature=[spec])

    def python(self, function: Callable[[Any], Any], dtype: str) -> Callable[[Any], Any]:
        """A function of one argument that runs as Python at each call."""
        if self.server == "tfsvc":
            return function

        def wrapped(x: Any) -> Any:
            found = self.s.py_function(function, [x], dtype)
            found.set_shape([])
            return found

        return wrapped


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return f"localhost:{probe.getsockname()[1]}"


def plain(value: Any) -> Any:
    """A value without the types of either side."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    value = value.numpy() if hasattr(value, "numpy") else value
    return value.tolist() if hasattr(value, "tolist") else value


def array_of(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def code(result: Any) -> int:
    return int(plain(result.get_error()[0]))


def message(result: Any) -> str:
    text = plain(result.get_error()[1])
    return text.decode() if isinstance(text, bytes) else text


def raises(kind: Any, do: Callable[[], Any]) -> Any:
    try:
        do()
    except kind as error:
        return error
    raise AssertionError(f"{kind} was not raised")


# --- the cases of rpc_ops_test.py ---


def static_factory(pair: Pair) -> None:
    with pair.serving(multiply=pair.multiply()) as address:
        client = pair.connect(address)
        scalar = pair.c.TensorSpec((), pair.c.int32)
        a, b = pair.c.constant(2, dtype=pair.c.int32), pair.c.constant(3, dtype=pair.c.int32)
        result = client.call(args=[a, b], method_name="multiply", output_specs=scalar)
        assert plain(result.is_ok()) is True
        assert plain(result.get_value()) == 6
        assert plain(result.get_value()) == 6, "a value may be had again"
        assert code(result) == 0
        assert message(result) == ""
        other = pair.rpc.Client.create("grpc", address, "other")
        assert plain(other.multiply(a, b).get_value()) == 6
        assert plain(other.multiply_blocking(a, b)) == 6
        assert other.multiply.__doc__ == f"RPC Call for multiply method to server {address}"


def wrapper_classes(pair: Pair) -> None:
    ours = pair.rpc if pair.client == "tfsvc" else None
    client_ops = ours or importlib.import_module("tensorflow.python.distribute.experimental.rpc.rpc_ops")
    scalar = pair.s.TensorSpec([], pair.s.int32)
    add = pair.s.function(lambda a, b: pair.s.add(a, b)).get_concrete_function(scalar, scalar)
    with pair.serving(multiply=pair.multiply(), add=add) as address:
        client = client_ops.GrpcClient(address, name="plain", timeout_in_ms=20_000)
        assert not hasattr(client, "multiply")
        spec = pair.c.TensorSpec((), pair.c.int32)
        assert plain(client.call("multiply", [2, 3], spec).get_value()) == 6
        listing = client_ops.GrpcClient(address, name="listing", list_registered_methods=True, timeout_in_ms=20_000)
        assert plain(listing.add(2, 3).get_value()) == 5


def output_specs(pair: Pair) -> None:
    s = pair.s
    functions = {
        "as_dict": lambda a: {"key": s.add(a, a)},
        "as_bool": lambda a: s.constant(True),
        "nested": lambda a: {"t": (a, [s.multiply(a, a)]), "l": [a, s.add(a, a)]},
        "nothing": lambda a: None,
        "empty": lambda a: [],
    }
    spec = [s.TensorSpec([], s.int32)]
    with pair.serving(**{name: s.function(f, input_signature=spec) for name, f in functions.items()}) as address:
        client = pair.connect(address)
        assert plain(client.as_dict(2).get_value()) == {"key": 4}
        assert plain(client.as_bool(2).get_value()) is True
        assert plain(client.nested(3).get_value()) == {"t": (3, [9]), "l": [3, 6]}
        assert client.nothing_blocking(1) is None
        assert client.empty_blocking(1) == []


def input_specs(pair: Pair) -> None:
    s = pair.s
    spec = {"a": s.TensorSpec([], s.int32), "b": s.TensorSpec([], s.int32)}
    with pair.serving(total=s.function(lambda d: s.add(d["a"], d["b"]), input_signature=[spec])) as address:
        client = pair.connect(address)
        assert plain(client.total({"a": 1, "b": 2}).get_value()) == 3
        raises(TypeError, lambda: client.total([1, 2]))
        raises(ValueError, lambda: client.total({"a": 1, "c": 2}))
        raises(ValueError, lambda: client.total())
        raises(AttributeError, lambda: client.unheard_of)


def call_before_start(pair: Pair) -> None:
    address = free_address()
    error = raises(pair.c.errors.DeadlineExceededError, lambda: pair.connect(address, 50))
    assert str(error)
    server = pair.s.distribute.experimental.rpc.Server.create("grpc", address)
    total = pair.s.Variable(0, dtype=pair.s.int32)
    spec = [pair.s.TensorSpec([], pair.s.int32)]

    def add(x: Any) -> None:
        total.assign_add(x)

    server.register("add", pair.s.function(add, input_signature=spec))

    def start() -> None:
        time.sleep(1)
        server.start()

    starting = threading.Thread(target=start)
    starting.start()
    client = pair.connect(address)
    client.add_blocking(6)
    starting.join()
    assert plain(total.read_value()) == 6
    multiply = pair.multiply()
    raises(pair.s.errors.FailedPreconditionError, lambda: server.register("late", multiply))


def client_timeouts(pair: Pair) -> None:
    with pair.serving(sleep=pair.sleeping()) as address:
        client = pair.connect(address)
        late = client.sleep(1500, timeout_in_ms=100)
        assert plain(late.is_ok()) is False
        assert code(late) == DEADLINE_EXCEEDED
        assert message(late).startswith("Deadline Exceeded")
        raises(pair.c.errors.DeadlineExceededError, late.get_value)
        raises(pair.c.errors.DeadlineExceededError, lambda: client.sleep_blocking(1500, timeout_in_ms=100))
        spec = pair.c.TensorSpec((), pair.c.int32)
        assert plain(client.call("sleep", [10], spec, timeout_in_ms=20_000).get_value()) == 10
        raises(TypeError, lambda: client.sleep(1, timeout_in_ms=1.5))
        raises(TypeError, lambda: client.sleep(1, patience=1))


def overlapping_calls(pair: Pair) -> None:
    total = pair.s.Variable(0, dtype=pair.s.int32)
    spec = [pair.s.TensorSpec([], pair.s.int32)]

    def assign_add(x: Any) -> None:
        total.assign_add(x)

    functions = {
        "assign_add": pair.s.function(assign_add, input_signature=spec),
        "read": pair.s.function(lambda: [total.read_value()]),
    }
    with pair.serving(**functions) as address:
        client = pair.connect(address)
        for result in [client.assign_add(2) for _ in range(10)]:
            result.get_value()
        specs = [pair.c.TensorSpec((), pair.c.int32)]
        assert plain(client.call("read", output_specs=specs).get_value()) == [20]
        assert plain(total.read_value()) == 20


def captured_queue(pair: Pair) -> None:
    items: queue.SimpleQueue[int] = queue.SimpleQueue()
    if pair.server == "tensorflow":
        held = pair.s.queue.FIFOQueue(300, [pair.s.int32], shapes=[()])
        put, get = held.enqueue, lambda: plain(held.dequeue())
    else:
        put, get = items.put, lambda: items.get(timeout=20)

    @pair.s.function
    def populate() -> None:
        for i in range(200):
            put(i)

    with pair.serving(populate=populate) as address:
        client = pair.connect(address)
        while not items.empty():
            items.get()  # An effect of Python happens when a function is traced, too.
        client.call("populate").get_value()
        assert [get() for _ in range(200)] == list(range(200))


def within_a_function(pair: Pair) -> None:
    with pair.serving(multiply=pair.multiply()) as address:
        client = pair.connect(address)
        specs = [pair.c.TensorSpec((), pair.c.int32)]

        @pair.c.function
        def calls() -> Any:
            return client.call("multiply", [2, 3], specs).get_value()

        assert plain(calls()) == [6]


def errors_of_arguments(pair: Pair) -> None:
    def fail(x: Any) -> Any:
        raise ValueError("by itself")

    failing = pair.s.function(pair.python(fail, "int32"), input_signature=[pair.s.TensorSpec([], pair.s.int32)])
    with pair.serving(multiply=pair.multiply(), fail=failing) as address:
        client = pair.connect(address)
        unknown = client.call("divide", [1, 2])
        assert (code(unknown), message(unknown)[:25]) == (INVALID_ARGUMENT, "divide is not registered.")
        error = raises(pair.c.errors.InvalidArgumentError, unknown.get_value)
        assert error.message
        error = raises(pair.c.errors.InvalidArgumentError, lambda: client.fail_blocking(1))
        assert error.message
        if pair.client == "tfsvc":
            assert "by itself" in str(error), "where TensorFlow's own client raises a TypeError"
        assert code(client.call("multiply", [])) == INVALID_ARGUMENT
        assert message(client.call("multiply", [1])).startswith("index 1 is out of range [0, 1)")
        wrong = client.call("multiply", [1, 2.0])
        assert code(wrong) == INVALID_ARGUMENT
        assert "Expects arg[1] to be int32 but float is provided" in message(wrong)
        spec = pair.c.TensorSpec((), pair.c.int32)
        assert plain(client.call("multiply", [3, 4, 5], spec).get_value()) == 12, "what is too much is ignored"
        raises(
            pair.c.errors.InvalidArgumentError,
            lambda: client.call("multiply", [1, 2], pair.c.TensorSpec((), pair.c.float32)).get_value(),
        )
        raises(pair.c.errors.InvalidArgumentError, lambda: client.call("multiply", [1, 2], [spec, spec]).get_value())
        raises(ValueError, lambda: client.multiply([1], 2))


def registering(pair: Pair) -> None:
    server = pair.s.distribute.experimental.rpc.Server.create("grpc", free_address())
    server.register("multiply", pair.multiply())
    again = pair.multiply()
    error = raises(pair.s.errors.InvalidArgumentError, lambda: server.register("multiply", again))
    assert "multiply is already registered." in error.message
    unsigned = pair.s.function(lambda x: x)
    error = raises(ValueError, lambda: server.register("unsigned", unsigned))
    assert "Input signature not specified for the function." in str(error)
    server.register("without_arguments", pair.s.function(lambda: pair.s.constant(1)))
    raises(ValueError, lambda: server.register("python", lambda: 1))
    raises(ValueError, lambda: pair.s.distribute.experimental.rpc.Server.create("http", "localhost:1"))
    raises(ValueError, lambda: pair.rpc.Client.create("http", "localhost:1"))
    raises(NotImplementedError, lambda: pair.rpc.Server().start())


# --- what it does not cover ---


def every_type(pair: Pair) -> None:
    names = (
        "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128 float16 bfloat16"
    )
    arrays = {
        name: (np.arange(6) % 2).astype(pair.c.as_dtype(name).as_numpy_dtype).reshape(2, 3) for name in names.split()
    }
    functions = {name: pair.s.function(lambda x: x, input_signature=[pair.s.TensorSpec(None, name)]) for name in arrays}
    functions["text"] = pair.s.function(lambda x: x, input_signature=[pair.s.TensorSpec(None, pair.s.string)])
    with pair.serving(**functions) as address:
        client = pair.connect(address)
        for name, array in arrays.items():
            for sent in (array, array[0, 1], array[:, :0]):
                got = array_of(getattr(client, name)(pair.c.constant(sent)).get_value())
                assert got.dtype == array.dtype
                np.testing.assert_array_equal(got, sent)
        text = [[b"\0\xff", "Gr\u00fc\u00dfe".encode()], [b"", b"x" * 5000]]
        assert plain(client.text(pair.c.constant(text)).get_value()) == text
        assert plain(client.text(pair.c.constant("one")).get_value()) == b"one"


def large_arrays(pair: Pair) -> None:
    double = pair.s.function(
        lambda x: pair.s.add(x, x), input_signature=[pair.s.TensorSpec([None, None], pair.s.float32)]
    )
    with pair.serving(double=double) as address:
        client = pair.connect(address)
        array = np.random.default_rng(0).random((500, 1500), np.float32)
        np.testing.assert_array_equal(array_of(client.double(pair.c.constant(array)).get_value()), array * 2)
        huge = client.double(pair.c.constant(np.zeros((1500, 1500), np.float32)))
        if "tensorflow" in (pair.server, pair.client):
            assert code(huge) == 8, "TensorFlow takes messages of 4 MiB at the most"
        else:
            assert array_of(huge.get_value()).shape == (1500, 1500)


def errors_of_functions(pair: Pair) -> None:
    kinds: dict[int, tuple[type[Exception], int]] = {
        1: (ValueError, 3),
        2: (TypeError, 3),
        3: (NotImplementedError, 12),
        4: (MemoryError, 8),
        5: (RuntimeError, 2),
        6: (KeyError, 2),
    }

    def fail(which: Any) -> Any:
        raise kinds[int(which)][0]("by itself")

    spec = [pair.s.TensorSpec([], pair.s.int32)]
    with pair.serving(fail=pair.s.function(pair.python(fail, "int32"), input_signature=spec)) as address:
        client = pair.connect(address)
        for which, (kind, expected) in kinds.items():
            result = client.fail(which)
            assert code(result) == expected
            assert f"{kind.__name__}: " in message(result)
            assert "by itself" in message(result)


def several_clients(pair: Pair) -> None:
    with pair.serving(multiply=pair.multiply()) as address:
        clients = [pair.rpc.Client.create("grpc", address, f"client{i}", 20_000) for i in range(4)]
        results = [(i, client.multiply(i, i)) for i in range(10) for client in clients]
        assert all(plain(result.get_value()) == i * i for i, result in results)
        del clients[0]
        assert plain(clients[0].multiply_blocking(3, 3)) == 9


CASES = [
    static_factory,
    wrapper_classes,
    output_specs,
    input_specs,
    call_before_start,
    client_timeouts,
    overlapping_calls,
    captured_queue,
    within_a_function,
    errors_of_arguments,
    registering,
    every_type,
    large_arrays,
    errors_of_functions,
    several_clients,
]


def main() -> int:
    """Runs every case for the pair that the command line names; tells those that fail."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    pair = Pair(*sys.argv[1:3])
    failed = 0
    for case in CASES:
        try:
            case(pair)
            print(f"{case.__name__}: passed")
        except Exception:
            failed += 1
            print(f"{case.__name__}: FAILED\n{traceback.format_exc()}")
    print(f"{len(CASES)} cases, {failed} failed", flush=True)
    return failed


if __name__ == "__main__":
    os._exit(main())  # TensorFlow's servers cannot be stopped in order
