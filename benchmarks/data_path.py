"""How fast one worker process feeds one reader over gRPC.

Run ``PYTHONPATH=.:transports python benchmarks/data_path.py``; each line is one size of element under one
policy. Both processes are on this machine.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from tfsvc.data.dataset import Dataset
from tfsvc.execution.encoding import decode_body
from tfsvc.execution.program import pack
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.machine import ReadRequest
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.reading import EndOfData, Taken
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc_transports import backends

SIZES = {"int64 scalar": 0, "4 KiB": 1 << 12, "256 KiB": 1 << 18, "4 MiB": 1 << 22}
SECONDS = 3.0


def serve() -> None:
    """A dispatcher and a worker; prints the dispatcher's address and ends with its input."""
    nodes = backends.grpc()
    dispatcher = nodes.start_dispatcher("localhost", 0, DispatcherSettings())
    address = f"localhost:{dispatcher.port}"
    servers = (m.DataTransferServerInfo("tfsvc", "localhost:%port%"),)
    nodes.start_worker("localhost", 0, WorkerSettings("localhost:%port%", address, transfer_servers=servers))
    print(address, flush=True)
    sys.stdin.read()


def dataset(size: int) -> Dataset:
    """Endless elements of ``size`` bytes, or numbers for 0."""
    if size == 0:
        return Dataset.range(1 << 40)
    element = np.zeros(size // 4, np.float32)
    return Dataset.range(1 << 40).map(lambda _: element)


def read(address: str, size: int, policy: m.ShardingPolicy) -> tuple[int, float]:
    """How many elements came in how many seconds."""
    nodes = backends.grpc()
    operator = dataset(size).operator
    definition = m.DatasetDef(program=pack(operator), plans=operator.plans())
    made = nodes.ask(address, m.GetOrRegisterDatasetRequest(definition), 10 * SECOND)
    assert isinstance(made, m.GetOrRegisterDatasetResponse)
    reader = nodes.open_reader(ReadRequest(made.dataset_id, policy), ClientSettings(address))
    taken: dict[int, int] = {}
    count, started = 0, 0.0
    while True:
        batch = reader.next_batch([Taken(stream, ordinal) for stream, ordinal in taken.items()])
        assert not isinstance(batch, EndOfData)
        if not started:
            started = time.monotonic()
        else:
            count += sum(1 for _ in decode_body(batch.frame.body, batch.encoding, 0).elements(batch.skip))
        taken[batch.stream] = batch.frame.end
        if time.monotonic() - started > SECONDS:
            break
    took = time.monotonic() - started
    reader.close()
    return count, took


def main() -> None:
    command = [sys.executable, __file__, "--serve"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    try:
        for name, size in SIZES.items():
            for policy in (m.ShardingPolicy.OFF, m.ShardingPolicy.DYNAMIC):
                count, took = read(address, size, policy)
                rate = count / took
                mbps = rate * (size or 8) / 1e6
                print(f"{name:>12} {policy.name:8} {rate:12,.0f} elements/s {mbps:7,.0f} MB/s", flush=True)
    finally:
        server.kill()


if __name__ == "__main__":
    serve() if "--serve" in sys.argv else main()
