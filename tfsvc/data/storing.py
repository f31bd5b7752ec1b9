"""The methods that keep elements in directories: ``save``, ``load`` and ``snapshot``.

The directories are those of TensorFlow, which reads what is written here and the other way round;
:mod:`tfsvc.storage.snapshots` has their layout.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np

from tfsvc import nest
from tfsvc.data.chain import Chain
from tfsvc.data.operator import INFINITE, UNKNOWN, Operator
from tfsvc.data.ops.chunk import Loaded, ReaderFunction, ShardReader, elements_of
from tfsvc.data.ops.snapshot import Snapshot, shard_of
from tfsvc.data.resumable_save import save_with_checkpoints
from tfsvc.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.specs import TensorSpec
from tfsvc.storage.folders import Folder, folder_at
from tfsvc.storage.snapshots import RunWriter, Stored, dtypes_of, find_stored
from tfsvc.wire.specs_codec import encode_spec

if TYPE_CHECKING:
    from tfsvc.data.dataset import Dataset

RETRY_SECONDS = 5.0
"""How often ``load(wait=True)`` looks."""

_NOT_COMPRESSED = (None, "", "NONE")


class Storing(Chain):
    """What keeps a dataset's elements on a disk."""

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: dict[str, Any] | None = None,
    ) -> None:
        """Writes all elements to a directory, here and now; :meth:`load` reads them.

        What was saved there before counts until all has been written, and a crash leaves it as it was.

        Args:
          path: the directory, made if there is none; or a URL in a bucket, ``s3://``, ``gs://`` or ``az://``, which
            needs ``tfsvc[bucket]``.
          compression: "GZIP", "ZLIB" or "SNAPPY"; ``None``, "NONE" and "AUTO" do not compress.
          shard_func: from an element to the number of its shard, an integer scalar; one shard when ``None``.
          checkpoint_args: to go on where a crash stopped an earlier call. ``directory`` is where checkpoints lie,
            ``checkpoint_interval`` the elements from one to the next (1000), ``max_to_keep`` how many stay (1);
            ``step_counter`` is accepted for compatibility.

        Raises:
          InvalidArgumentError: if the dataset is endless, an element cannot be written, or there is no such
            compression.
          TypeError: if ``shard_func`` gives no integer scalar.
          ValueError: if ``checkpoint_args`` has no ``directory``, or anything else in it.

        Example::

            tf.data.Dataset.range(3).save("saved", compression="GZIP")
            list(tf.data.Dataset.load("saved", compression="GZIP"))  # [0, 1, 2]
        """
        folder = folder_at(os.fsdecode(path))
        if self.operator.cardinality() == INFINITE:
            raise InvalidArgumentError(message="Saving an infinite dataset is not allowed; take() some elements first.")
        kind = _compression(compression, "")
        spec = self.operator.spec()
        encode_spec(spec)
        if checkpoint_args is not None:
            save_with_checkpoints(self.operator, folder, kind, shard_func, checkpoint_args)
            return
        writer = RunWriter(folder, kind)
        try:
            for element in self._then(self.operator):
                writer.write(nest.flatten(element), shard_of(shard_func, element))
            writer.commit(dtypes_of(spec), spec)
        except BaseException:
            writer.abandon()
            raise

    @classmethod
    def load(
        cls,
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Dataset:
        """What was written to a directory by :meth:`save`, by :meth:`snapshot` or by TensorFlow.

        The directory is looked at now and its chunks are read where the dataset runs, so workers need them under
        the same names. Under dynamic sharding a split is a shard.

        Args:
          path: the directory, or a URL in a bucket as for :meth:`save`; of a snapshot, the one that holds
            ``snapshot.metadata``.
          element_spec: the nest of :class:`TensorSpec` of an element; the directory's own when ``None``.
          compression: as it was written; a snapshot is "SNAPPY" unless it was told otherwise, and a distributed
            snapshot says so itself.
          reader_func: from a dataset of the shards, each a dataset, to the elements in an order of its own; when
            ``None``, one element of each of 16 shards in turn.
          wait: whether to look every 5 seconds until all has been written.

        Raises:
          NotFoundError: if nothing was saved there, or not to its end, or ``element_spec`` is not known.
          InvalidArgumentError: if ``element_spec`` has other dtypes than were saved; on iteration, if an element
            does not fit it.
          UnimplementedError: if TensorFlow saved ragged or sparse components there.
          ValueError: if a distributed snapshot has another spec or compression.
          FailedPreconditionError: if the save job of a distributed snapshot failed.
          DataLossError: on iteration, if a chunk is damaged or of another compression.

        Example::

            tf.data.Dataset.range(4).save("halves", shard_func=lambda n: n // 2)
            one_by_one = tf.data.Dataset.load("halves", reader_func=lambda shards: shards.flat_map(lambda shard: shard))
            list(one_by_one)  # [0, 1, 2, 3]
        """
        folder = folder_at(os.fsdecode(path))
        stored = _found(folder, wait)
        kind = _agreed_compression(folder, stored, compression)
        spec = _agreed_spec(folder, stored, element_spec)
        order = None if reader_func is None else ReaderFunction(reader_func, cls._then)
        elements = elements_of(stored, ShardReader(stored.shards, kind, spec), order)
        count = UNKNOWN if stored.count is None else stored.count
        return cls._then(Loaded(elements, count, spec) if order is None else elements)

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The same elements; the first whole pass writes them to a directory, and later ones read them there.

        What is written belongs to this very pipeline, down to the code of its functions: after a change it is
        made anew, beside the old. A pass that is given up leaves nothing. It cannot be split for dynamic sharding.

        Args:
          path: the directory, on the machines that run the dataset, or a URL in a bucket as for :meth:`save`.
          compression: "AUTO" and "SNAPPY", "GZIP" or "ZLIB"; ``None`` and "NONE" do not compress.
          reader_func: as for :meth:`load`.
          shard_func: as for :meth:`save`.
          name: a label.

        Raises:
          InvalidArgumentError: if there is no such compression, or a function cannot be pickled.
          TypeError: on iteration, if ``shard_func`` gives no integer scalar.

        Example::

            slow = tf.data.Dataset.range(3).map(lambda x: x + 1).snapshot("kept")
            list(slow), list(slow)  # the second pass reads what the first has written
        """
        key = _fingerprint(self.operator)
        directory = os.path.join(os.fsdecode(path), key)
        order = None if reader_func is None else ReaderFunction(reader_func, self._then)
        return self._then(
            Snapshot(self.operator, directory, key, _compression(compression, "SNAPPY"), order, shard_func)
        )

    def fingerprint(self) -> Any:
        """A uint64 for the graph and the code of its functions; equal ones give equal elements.

        The same script gives the same in every process of one Python version, unless code holds a set of strings.

        Raises:
          InvalidArgumentError: if a function cannot be pickled.
        """
        return np.uint64(int(_fingerprint(self.operator)))


def _compression(name: str | None, automatic: str) -> str:
    if name in _NOT_COMPRESSED:
        return ""
    if name == "AUTO":
        return automatic
    if name not in ("GZIP", "ZLIB", "SNAPPY"):
        raise InvalidArgumentError(message=f"there is no compression {name!r}; use GZIP, ZLIB, SNAPPY, AUTO or NONE")
    return name


def _found(folder: Folder, wait: bool) -> Stored:
    while True:
        try:
            return find_stored(folder)
        except NotFoundError:
            if not wait:
                raise
        time.sleep(RETRY_SECONDS)


def _agreed_compression(folder: Folder, stored: Stored, given: str | None) -> str:
    if stored.compression is None:
        return _compression(given, "")
    if given and given != stored.compression:
        raise ValueError(
            f"Failed to load tf.data snapshot at {folder}. User specified compression {given}, but the actual "
            f"compression is {stored.compression}."
        )
    return stored.compression


def _agreed_spec(folder: Folder, stored: Stored, given: Any) -> Any:
    if stored.dtypes is None and given is not None and given != stored.element_spec:
        raise ValueError(
            f"Failed to load tf.data snapshot at {folder}. User specified element_spec {given}, but the actual "
            f"element_spec is {stored.element_spec}."
        )
    spec = stored.element_spec if given is None else given
    if spec is None:
        raise NotFoundError(
            message=f"tf.data snapshot element_spec file not found: {folder.address('dataset_spec.pb')}. "
            "Give element_spec, the spec of the dataset that was saved."
        )
    strange = [leaf for leaf in nest.flatten(spec) if not isinstance(leaf, TensorSpec)]
    if strange:
        raise UnimplementedError(message=f"{folder} holds elements with components that are no tensors: {strange}")
    if stored.dtypes is not None and dtypes_of(spec) != list(stored.dtypes):
        raise InvalidArgumentError(
            message=f"{folder} holds elements of the dtypes {list(stored.dtypes)}, but element_spec is {spec}"
        )
    return spec


class _Digest:
    """A file that keeps nothing but a digest of what is written."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return len(data)


def _fingerprint(operator: Operator) -> str:
    """A number for the graph and the code of its functions, as text.

    The same script gives the same in every process of one Python version, unless code holds a set of strings.
    """
    digest = _Digest()
    try:
        cloudpickle.Pickler(digest).dump(operator)
    except Exception as error:
        raise InvalidArgumentError(
            message=f"a snapshot needs a dataset that can be pickled, and this one cannot: {error}"
        ) from error
    return str(int.from_bytes(digest.sha256.digest()[:8], "little"))
