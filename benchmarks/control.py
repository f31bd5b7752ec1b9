"""What the control plane costs: heartbeats of a thousand workers, the first element, and leases beside none.

    python -m benchmarks.control [--rounds 5] [--workers 1000] [--seconds 5]

Dispatcher, workers and readers are processes of their own on this machine. Heartbeats are counted in processor time of
the dispatcher, which other work on the machine disturbs least, in turns with a server of gRPC's that answers the same
calls from a handler which does nothing: what gRPC's own API costs. Everything else is wall time, in medians.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import grpc

import tfsvc as tf
from benchmarks.sides import Child, machine
from tfsvc.data.experimental import service
from tfsvc.errors import RpcError
from tfsvc.protocol.ids import SECOND, Address
from tfsvc.protocol.messages import DataTransferServerInfo, Response, WorkerHeartbeatRequest, WorkerHeartbeatResponse
from tfsvc.wire.messages import METHODS, encode
from tfsvc_transports.grpc.transport import GrpcTransport

MODES: Final = {"off": "parallel_epochs", "dynamic": "distributed_epoch"}


def dispatch() -> None:
    """A process with a dispatcher, which answers how much processor time it has used."""
    server = service.DispatchServer()
    print(server.target, flush=True)
    _tell_time_used()


def _tell_time_used() -> None:
    for _ in sys.stdin:
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps(used.ru_utime + used.ru_stime), flush=True)


def idle(interval_s: float) -> None:
    """A process with a server that answers heartbeats as a dispatcher does, and keeps nothing."""
    answer = encode(WorkerHeartbeatResponse(interval_ns=int(interval_s * SECOND)))
    service, method = METHODS[WorkerHeartbeatRequest].path.strip("/").split("/")
    handlers = {method: grpc.unary_unary_rpc_method_handler(lambda request, context: answer)}
    server = grpc.server(ThreadPoolExecutor(4), handlers=[grpc.method_handlers_generic_handler(service, handlers)])
    print(f"grpc://localhost:{server.add_insecure_port('localhost:0')}", flush=True)
    server.start()
    _tell_time_used()


def work(target: str) -> None:
    """A process with a worker."""
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=target.split("://")[1]))
    print("ready", flush=True)
    sys.stdin.read()
    del worker
    os._exit(0)


def beat(target: str) -> None:
    """A process that speaks for many workers; answers how many heartbeats were answered, and the interval."""
    transport, dispatcher = GrpcTransport(), Address(target.split("://")[1])
    for line in sys.stdin:
        workers, seconds = json.loads(line)
        print(json.dumps(_beat(transport, dispatcher, workers, seconds)), flush=True)


def _beat(transport: GrpcTransport, dispatcher: Address, workers: int, seconds: float) -> tuple[int, float]:
    """Speaks for so long, each worker as often as the dispatcher asks; gives the count and the last interval."""
    answered = itertools.count()
    room = threading.Semaphore(64)
    interval_ns = SECOND

    def done(answer: Response | RpcError) -> None:
        nonlocal interval_ns
        room.release()
        assert isinstance(answer, WorkerHeartbeatResponse), answer
        interval_ns = max(SECOND, answer.interval_ns)
        next(answered)

    began = due = time.monotonic()
    for number in itertools.cycle(range(workers)):
        if due > began + seconds:
            break
        time.sleep(max(0.0, due - time.monotonic()))
        room.acquire()
        address = f"worker{number}:1"
        servers = (DataTransferServerInfo("grpc", address),)
        beat = WorkerHeartbeatRequest(address, servers, worker_uid=number, incarnation=1, interval_ns=interval_ns)
        transport.call(dispatcher, beat, 10 * SECOND, done)
        due += interval_ns / SECOND / workers
    for _ in range(64):
        room.acquire()
    return next(answered), interval_ns / SECOND


def read(target: str) -> None:
    """A process with a reader; answers the seconds to a first element, or to all elements."""
    for line in sys.stdin:
        mode, count, first = json.loads(line)
        dataset = tf.data.Dataset.range(count).apply(service.distribute(MODES[mode], target, compression=None))
        began = time.perf_counter()
        elements = iter(dataset.as_numpy_iterator())
        next(elements)
        if not first:
            assert sum(1 for _ in elements) == count - 1
        print(json.dumps(time.perf_counter() - began), flush=True)
        del elements


def _child(role: str, target: str | None = None) -> Child:
    return Child("benchmarks.control", "--role", role, *([] if target is None else ["--target", target]))


def measure(rounds: int, workers: int, seconds: float) -> None:
    """Measures everything in turns and prints a line each."""
    dispatcher = _child("dispatch")
    target = dispatcher.line()
    worker = _child("work", target)
    worker.line()
    reader = _child("read", target)
    firsts, ratios = [], []
    reader.ask("dynamic", 1000, True)
    for _ in range(rounds):
        firsts += [reader.ask("dynamic", 1000, True) for _ in range(5)]
        took = {mode: reader.ask(mode, 2_000_000, False) for mode in MODES}
        ratios.append(took["dynamic"] / took["off"])
    print(
        f"a first element comes {statistics.median(firsts) * 1000:.1f} ms after it was asked for (up to "
        f"{max(firsts) * 1000:.1f})"
    )
    print(f"DYNAMIC takes {statistics.median(ratios):.2f} times as long as OFF, for 2,000,000 numbers")
    reader.stop()
    worker.stop()
    _measure_heartbeats(dispatcher, target, rounds, workers, seconds)


def _measure_heartbeats(dispatcher: Child, target: str, rounds: int, workers: int, seconds: float) -> None:
    """A dispatcher and a server that does nothing in turns."""
    beating = _child("beat", target)
    _, interval_s = beating.ask(workers, 3.0)
    empty = Child("benchmarks.control", "--role", "idle", "--interval", str(interval_s))
    beating_empty = _child("beat", empty.line())
    used: tuple[list[float], list[float]] = [], []
    for _ in range(rounds):
        for found, server, beats in (used[0], dispatcher, beating), (used[1], empty, beating_empty):
            # Whom it has not heard for long counts as gone, and all of them must have come back before it is measured.
            beats.ask(workers, 1.1 * interval_s)
            before = server.ask()
            count, _ = beats.ask(workers, seconds)
            found.append((server.ask() - before) / count)
    each_s, empty_s = map(statistics.median, used)
    print(
        f"{workers} workers, heard every {interval_s:g} s: {each_s * workers / interval_s:.1%} of a core, "
        f"{each_s * 1e6:.0f} µs each ({min(used[0]) * 1e6:.0f} to {max(used[0]) * 1e6:.0f}); "
        f"an empty handler of gRPC's: {empty_s * 1e6:.0f} µs ({min(used[1]) * 1e6:.0f} to {max(used[1]) * 1e6:.0f}); "
        f"{machine()}"
    )
    for child in (beating, beating_empty, empty, dispatcher):
        child.stop()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--role", choices=["dispatch", "idle", "work", "beat", "read"], help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    parser.add_argument("--interval", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.role:
        case "dispatch":
            dispatch()
        case "idle":
            idle(options.interval)
        case "work":
            work(options.target)
        case "beat":
            beat(options.target)
        case "read":
            read(options.target)
        case _:
            measure(options.rounds, options.workers, options.seconds)


if __name__ == "__main__":
    main()
