"""``distributed_save``: all workers of a service write a dataset to a directory; and how far they are."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import Any

from tfsvc.data.dataset import Dataset
from tfsvc.data.operator import INFINITE
from tfsvc.errors import InvalidArgumentError, UnimplementedError, to_exception
from tfsvc.execution.program import define
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND
from tfsvc.service.backend import Service
from tfsvc.service.config import split_target
from tfsvc.service.kinds import PATIENCE_NS, is_ours
from tfsvc.service.security import Security
from tfsvc.storage.compression import check_compression
from tfsvc.storage.folders import absolute
from tfsvc.wire.specs_codec import encode_spec


def distributed_save(
    dataset: Dataset,
    path: Any,
    data_service_address: str,
    compression: str | None = "AUTO",
    *,
    security: Security | None = None,
) -> None:
    """Has the workers of a data service write all elements to a directory, each once, and returns as they begin.

    ``tf.data.Dataset.load(path, wait=True)`` waits for the end and reads them, as TensorFlow does, and
    :func:`snapshot_progress` tells how far it is. It survives the loss of any worker and restarts of the dispatcher.

    Args:
      dataset: what to write; its input is divided among the workers, as by ``ShardingPolicy.DYNAMIC``.
      path: the directory, which must not exist yet, on a file system that dispatcher, workers and readers share; or
        in a bucket, ``s3://``, ``gs://`` or ``az://``, if all of them have ``tfsvc[bucket]`` and credentials in their
        environment.
      data_service_address: ``host:port`` of the dispatcher, with or without ``protocol://`` in front.
      compression: of the chunks: "AUTO" and "SNAPPY", "GZIP", or ``None`` for none.
      security: as in ``service.distribute``.

    Raises:
      ValueError: if the address is none.
      tf.errors.InvalidArgumentError: if the dataset is endless or cannot be shipped, there is no such compression, or
        the dispatcher forgets at its end (``fault_tolerant_mode``).
      tf.errors.AlreadyExistsError: if there is something at ``path``, or a snapshot was begun there before.
      tf.errors.UnimplementedError: if the dataset cannot be split, or the dispatcher is TensorFlow's.
      tf.errors.FailedPreconditionError: if ``path`` is in a bucket that the dispatcher does not reach, or it lacks
        ``tfsvc[bucket]``.

    Example::

        tf.data.experimental.distributed_save(tf.data.Dataset.range(10), "/shared/ten", dispatcher.target)
        sorted(tf.data.Dataset.load("/shared/ten", wait=True))  # 0, 1, ... 9
    """
    service = _target(data_service_address, security)
    if dataset.operator.cardinality() == INFINITE:
        raise InvalidArgumentError(message="Saving an infinite dataset is not allowed; take() some elements first.")
    kind = {"AUTO": "SNAPPY", None: ""}.get(compression, compression)
    assert kind is not None
    check_compression(kind)
    metadata = m.DistributedSnapshotMetadata(encode_spec(dataset.element_spec), kind)
    if not is_ours(service):
        raise UnimplementedError(
            message=f"{service.address} is a dispatcher of TensorFlow's; saving needs one of tfsvc's."
        )
    request = m.SnapshotRequest(define(dataset.operator), _absolute(path), metadata, secrets.token_hex(16))
    service.ask(request, PATIENCE_NS)


@dataclass(frozen=True)
class SnapshotProgress:
    """How far a distributed snapshot is.

    Attributes:
      done: whether all has been written.
      elements: how many are safe already; 0 throughout where TensorFlow's workers write.
      chunks: in how many files.
      streams: how many workers have taken part.
      streams_done: how many of them have come to their end.
      splits: how many parts of the input were handed out.
      splits_total: how many there are in one pass over all sources; ``None`` if that is not known.
    """

    done: bool
    elements: int
    chunks: int
    streams: int
    streams_done: int
    splits: int
    splits_total: int | None


def snapshot_progress(path: Any, data_service_address: str, *, security: Security | None = None) -> SnapshotProgress:
    """Asks the dispatcher how far a snapshot is.

    Args:
      path: as :func:`distributed_save` was given.
      data_service_address: as there.
      security: as there.

    Raises:
      tf.errors.NotFoundError: if the dispatcher knows of none at ``path``.
      tf.errors.OpError: why the snapshot has failed, if it has.
    """
    service = _target(data_service_address, security)
    answer = service.ask(m.GetSnapshotStreamsRequest(_absolute(path)), 60 * SECOND)
    assert isinstance(answer, m.GetSnapshotStreamsResponse)
    if answer.error is not None:
        raise to_exception(answer.error)
    return SnapshotProgress(
        answer.ended,
        sum(stream.elements for stream in answer.streams),
        sum(stream.chunks for stream in answer.streams),
        len(answer.streams),
        sum(stream.state is m.StreamState.DONE for stream in answer.streams),
        answer.splits,
        answer.splits_total,
    )


def _target(address: Any, security: Security | None) -> Service:
    if not isinstance(address, str):
        raise ValueError(f"`data_service_address` must be a string, but was {type(address)}: {address!r}.")
    if not address:
        raise ValueError("`data_service_address` must not be empty.")
    return Service(*split_target(address), security)


def _absolute(path: Any) -> str:
    return absolute(os.fsdecode(path))
