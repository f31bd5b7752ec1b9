"""What the control plane costs: heartbeats of a thousand workers, the first element, and leases beside none.

    python -m benchmarks.control [--rounds 5] [--workers 1000] [--seconds 10]

Dispatcher, workers and readers are processes of their own on this machine. Heartbeats are counted in processor time of
the dispatcher, which other work on the machine disturbs least; everything else is wall time, in medians.
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
from typing import Final

import tfsvc as tf
from benchmarks.sides import Child
from tfsvc.data.experimental import service
from tfsvc.errors import RpcError
from tfsvc.protocol.ids import SECOND, Address
from tfsvc.protocol.messages import DataTransferServerInfo, Response, WorkerHeartbeatRequest, WorkerHeartbeatResponse
from tfsvc_transports.grpc.transport import GrpcTransport

MODES: Final = {"off": "parallel_epochs", "dynamic": "distributed_epoch"}


def dispatch() -> None:
    """A process with a dispatcher, which answers how much processor time it has used."""
    server = service.DispatchServer()
    print(server.target, flush=True)
    for _ in sys.stdin:
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps(used.ru_utime + used.ru_stime), flush=True)


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
    beating = _child("beat", target)
    beating.ask(workers, 3.0)
    before, began = dispatcher.ask(), time.monotonic()
    count, interval_s = beating.ask(workers, seconds)
    took_s, used_s = time.monotonic() - began, dispatcher.ask() - before
    print(
        f"{workers} workers, heard every {interval_s:g} s: {used_s / took_s:.1%} of a core, "
        f"{used_s / count * 1e6:.0f} µs each"
    )
    beating.stop()
    dispatcher.stop()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--role", choices=["dispatch", "work", "beat", "read"], help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.role:
        case "dispatch":
            dispatch()
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
