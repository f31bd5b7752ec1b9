"""Feeders: the systems that a user could pick, each with one worker process and one reader, in its own usual way.

All give endless or very many elements of so many bytes, of zero work: for 8 bytes int64 scalars, else float32 arrays.
The services have a server process of their own; the others start their worker from the reader's process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from benchmarks.sides import load

PLENTY: Final = 1 << 40
RAY_BYTES: Final = 64 << 30
"""How much a dataset of Ray's holds, which must be finite: more than can be read in a round."""
RAY_ROWS: Final = 50_000_000


@dataclass(frozen=True)
class Feeder:
    """One way to feed a trainer.

    Attributes:
      module: what must be installed for it.
      elements: elements of ``size`` bytes, read from the server at an address.
      served: the service that runs as a server; ``None`` for those that have none.
    """

    module: str
    elements: Callable[[int, str], Iterator[Any]]
    served: str | None = None

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None


def _element(size: int) -> Any:
    return np.random.default_rng(0).random(size // 4, np.float32)


def serve(system: str) -> None:
    """A process with a dispatcher and a worker; says where, and ends with its input."""
    service = load(system).data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
    print(dispatcher.target, flush=True)
    sys.stdin.read()
    del worker
    os._exit(0)


def _service(system: str, transfer: str | None = None) -> Callable[[int, str], Iterator[Any]]:
    def elements(size: int, target: str) -> Iterator[Any]:
        tf = load(system)
        data = tf.data.Dataset
        dataset = data.range(PLENTY) if size == 8 else data.from_tensors(_element(size)).repeat()
        distribute = tf.data.experimental.service.distribute
        made = dataset.apply(distribute("parallel_epochs", target, compression=None, data_transfer_protocol=transfer))
        return iter(made.as_numpy_iterator())

    return elements


def _torch(size: int, target: str) -> Iterator[Any]:
    import torch.utils.data

    class Elements(torch.utils.data.IterableDataset):  # type: ignore[misc, name-defined, unused-ignore]
        def __iter__(self) -> Iterator[Any]:
            if size == 8:
                yield from range(PLENTY)
            tensor = torch.from_numpy(_element(size))
            while True:
                yield tensor.clone()

    return iter(torch.utils.data.DataLoader(Elements(), batch_size=None, num_workers=1))


class _Source:
    """What Grain reads elements from."""

    def __init__(self, size: int) -> None:
        self._element = None if size == 8 else _element(size)

    def __len__(self) -> int:
        return PLENTY

    def __getitem__(self, index: int) -> Any:
        return np.int64(index) if self._element is None else self._element


def _grain(size: int, target: str) -> Iterator[Any]:
    import grain

    dataset = grain.MapDataset.source(_Source(size)).to_iter_dataset()
    return iter(dataset.mp_prefetch(grain.multiprocessing.MultiprocessingOptions(num_workers=1)))


def _ray(size: int, target: str) -> Iterator[Any]:
    import ray.data

    if not ray.is_initialized():
        ray.init(num_cpus=1, log_to_driver=False, include_dashboard=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
    if size == 8:
        dataset = ray.data.range(RAY_ROWS)
    else:
        element = _element(size)
        rows = max(1, (64 << 20) // size)
        dataset = ray.data.range(RAY_BYTES // size).map_batches(
            lambda batch: {"x": np.broadcast_to(element, (len(batch["id"]), *element.shape))}, batch_size=rows
        )
    return iter(dataset.iter_rows())


FEEDERS: Final = {
    "shared memory": Feeder("tfsvc", _service("tfsvc"), served="tfsvc"),
    "gRPC": Feeder("tfsvc", _service("tfsvc", "grpc"), served="tfsvc"),
    "TensorFlow": Feeder("tensorflow", _service("TensorFlow"), served="TensorFlow"),
    "DataLoader": Feeder("torch", _torch),
    "Grain": Feeder("grain", _grain),
    "Ray Data": Feeder("ray", _ray),
}
"""Ours first, in two ways; then the peers."""
OURS: Final = tuple(name for name, feeder in FEEDERS.items() if feeder.served == "tfsvc")
