"""JAX: elements as global arrays on devices, some of them ahead. Needs JAX: ``pip install 'tfsvc[jax]'``.

Each process of a trainer reads its own consumer's part of a job, and hands it over for its own devices::

    me = tfsvc.jax.consumer()
    dataset = dataset.batch(32, drop_remainder=True).apply(service.distribute(
        "distributed_epoch", target, job_name="train", deterministic=True, remainder="drop",
        consumer_index=me.index, num_consumers=me.count))
    mesh = jax.make_mesh((jax.device_count(),), ("batch",))
    for batch in tfsvc.jax.DeviceDataset(dataset, NamedSharding(mesh, PartitionSpec("batch"))):
        ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data import Dataset, DatasetIterator
from tfsvc.errors import InvalidArgumentError
from tfsvc.trainers.consumers import Consumer

try:
    import jax
except ImportError as error:
    raise ImportError("tfsvc.jax needs JAX, which is not installed here; pip install 'tfsvc[jax]'") from error


def consumer() -> Consumer:
    """The consumer that this process is, of all that JAX trains with; call ``jax.distributed.initialize()`` before."""
    return Consumer(jax.process_index(), jax.process_count())


class DeviceDataset:
    """The elements of a dataset as nests of ``jax.Array``, laid out over devices by a sharding.

    Each process hands over its own elements, which make the global arrays together: so all processes must read equally
    many elements of equal shapes, as with ``remainder="drop"`` and ``batch(..., drop_remainder=True)``. Types are
    JAX's: without ``jax_enable_x64`` numbers of 64 bits become numbers of 32.

    Args:
      dataset: what is read; in each process its own part.
      sharding: of every component, or a nest of shardings like an element. Without one the arrays lie whole on the
        default device.
      prefetch: how many elements are on their way to the devices before they are asked for; 0 for none.

    Raises:
      InvalidArgumentError: if ``prefetch`` is negative; on iteration, for text, and for arrays that cannot be divided
        as the sharding says. The message names the component.
    """

    def __init__(self, dataset: Dataset, sharding: Any = None, *, prefetch: int = 2) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a `tf.data.Dataset`. Got {type(dataset)}.")
        if prefetch < 0:
            raise InvalidArgumentError(message=f"`prefetch` must be 0 or more; got {prefetch}")
        self._dataset = dataset
        self._sharding = sharding
        self._prefetch = prefetch

    def __iter__(self) -> DeviceIterator:
        return DeviceIterator(iter(self._dataset), self._sharding, self._prefetch)

    def __len__(self) -> int:
        return len(self._dataset)

    def __bool__(self) -> bool:
        return True


class DeviceIterator(Iterator[Any]):
    """One pass over a :class:`DeviceDataset`. Made by ``iter`` of one.

    Elements that are on their way count as taken by this process, but not in its state: they come again after a resume.
    """

    def __init__(self, iterator: DatasetIterator, sharding: Any, prefetch: int) -> None:
        self._iterator = iterator
        self._sharding = sharding
        self._prefetch = prefetch
        self._ahead: deque[tuple[Any, Any]] = deque()
        self._failure: Exception | None = None
        self._behind = iterator.mark()

    def __next__(self) -> Any:
        # What went wrong ahead is told when all before it was given.
        while len(self._ahead) <= self._prefetch and self._failure is None:
            try:
                element = next(self._iterator)
                self._ahead.append((to_devices(element, self._sharding), self._iterator.mark()))
            except Exception as error:
                self._failure = error
        if not self._ahead:
            failure, self._failure = self._failure, None
            assert failure is not None
            raise failure
        arrays, self._behind = self._ahead.popleft()
        return arrays

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator stands behind the last element that it gave; as :meth:`DatasetIterator.state_dict`."""
        return self._behind()

    def load_state_dict(self, state: Any) -> None:
        """As :meth:`DatasetIterator.load_state_dict`; only before the first element."""
        self._iterator.load_state_dict(state)
        self._behind = self._iterator.mark()


def to_devices(element: Any, sharding: Any = None) -> Any:
    """An element of this process as its part of global arrays.

    Args:
      element: a nest of arrays and numbers.
      sharding: as for :class:`DeviceDataset`.

    Raises:
      InvalidArgumentError: for text, and for what cannot be divided as ``sharding`` says.
    """
    leaves = nest.flatten(element)
    shardings = nest.flatten(sharding) if nest.is_nested(sharding) else [sharding] * len(leaves)
    if len(shardings) != len(leaves):
        raise InvalidArgumentError(
            message=f"An element has {len(leaves)} components ({', '.join(_paths(element))}), and there are "
            f"{len(shardings)} shardings; give one for all, or one for each."
        )
    return nest.pack_sequence_as(
        element, [_to_device(*one) for one in zip(leaves, shardings, _paths(element), strict=True)]
    )


def _to_device(leaf: Any, sharding: Any, path: str) -> Any:
    array = np.asarray(leaf)
    if array.dtype.kind in "OS":
        raise InvalidArgumentError(
            message=f"{path} is text, which JAX has not; leave it out with map, or encode it as numbers."
        )
    if sharding is None:
        return jax.device_put(array)
    try:
        return jax.make_array_from_process_local_data(sharding, array)
    except ValueError as error:
        raise InvalidArgumentError(
            message=f"{path} of shape {array.shape} cannot be laid out as {sharding}: {error} Batches must be of one "
            "size that the devices can share: batch(..., drop_remainder=True)."
        ) from error


def _paths(element: Any, path: str = "element") -> Iterator[str]:
    """What its components are called in Python, in the order of ``nest.flatten``."""
    if not nest.is_nested(element):
        yield path
        return
    names = sorted(element) if isinstance(element, Mapping) else range(len(element))
    for name in names:
        yield from _paths(element[name], f"{path}[{name!r}]")
