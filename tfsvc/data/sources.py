"""The methods that make a dataset out of data."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfsvc import nest
from tfsvc.data.arguments import whole
from tfsvc.data.chain import Chain
from tfsvc.data.elements import as_element, as_leaf, read_only, relax, spec_of_element
from tfsvc.data.ops.array_files import ArrayFile, members_of
from tfsvc.data.ops.counter import Counter
from tfsvc.data.ops.files import Reader
from tfsvc.data.ops.flat_map import FlatMap
from tfsvc.data.ops.generator import Generator, Iterated
from tfsvc.data.ops.list_files import matching_files
from tfsvc.data.ops.npy import NpyRows, spec_of_file
from tfsvc.data.ops.random import Random
from tfsvc.data.ops.range import Range
from tfsvc.data.ops.source import Source
from tfsvc.data.ops.tar_samples import IndexedTarSamples, TarSamples, first_fields
from tfsvc.data.ops.tensor_slices import TensorSlices
from tfsvc.data.ops.tensors import Tensors
from tfsvc.errors import InvalidArgumentError
from tfsvc.random import Seeds, operator_seeds
from tfsvc.specs import TensorSpec, as_dtype
from tfsvc.storage.tar_shards import count_of_index, write_index

if TYPE_CHECKING:
    from tfsvc.data.dataset import Dataset


class Sources(Chain):
    """Where elements can come from."""

    @classmethod
    def range(cls, *args: int, output_type: Any = "int64", name: str | None = None) -> Dataset:
        """Scalars, as Python's ``range(stop)``, ``range(start, stop)`` or ``range(start, stop, step)``.

        Args:
          *args: one to three whole numbers.
          output_type: the dtype, int64 when not given.
          name: a label.

        Raises:
          ValueError: if there are no arguments or more than three.
          InvalidArgumentError: if ``step`` is 0.
        """
        match [whole("args", arg) for arg in args]:
            case [stop]:
                start, step = 0, 1
            case [start, stop]:
                step = 1
            case [start, stop, step]:
                pass
            case _:
                raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        return cls._then(Range(start, stop, step, as_dtype(output_type)))

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Dataset:
        """``tensors`` as the one element.

        Raises:
          TypeError: if a part is neither a number, a string, an array nor a nest of these.
        """
        return cls._then(Tensors(as_element(tensors)))

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Dataset:
        """The rows of ``tensors`` along their first dimension. Arrays are not copied.

        Raises:
          ValueError: if a component is a scalar, or components differ in their number of rows.
          TypeError: as :meth:`from_tensors`.
        """
        return cls._then(TensorSlices(as_element(tensors)))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What iterating ``generator(*args)`` gives; every pass calls it anew.

        Args:
          generator: a function of an iterable.
          output_types: the nest of dtypes of an element, where there is no ``output_signature``.
          output_shapes: the nest of shapes beside ``output_types``; unknown when not given.
          args: arguments of ``generator``, handed over as arrays and NumPy scalars.
          output_signature: the nest of :class:`TensorSpec` of an element.
          name: a label.

        Raises:
          TypeError: if ``generator`` is not callable, or no signature is given, or two are, or it holds no specs.
          InvalidArgumentError: on iteration, if a value does not fit the signature.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if (output_signature is None) == (output_types is None):
            raise TypeError("give either `output_signature` or `output_types` (with `output_shapes`), and not both")
        if output_signature is None:
            output_signature = _signature(output_types, output_shapes)
        for spec in nest.flatten(output_signature):
            if not isinstance(spec, TensorSpec):
                raise TypeError(f"`output_signature` must be a nest of `tf.TensorSpec`, but holds {spec!r}.")
        return cls._then(Generator(generator, tuple(as_leaf(arg) for arg in args or ()), output_signature))

    @classmethod
    def from_iterable(cls, iterable: Any, output_signature: Any = None, name: str | None = None) -> Dataset:
        """The values of a Python iterable: each pass iterates it anew.

        It is one split, so that one worker reads all of it, and a restored pass reads again what it passes over; where
        items can be indexed, :meth:`from_source` is better at both.

        Args:
          iterable: an object that can be iterated again and again, or a function that makes an iterable.
          output_signature: the nest of :class:`TensorSpec` of an element; that of the first value when ``None``.
          name: a label.

        Raises:
          TypeError: if ``iterable`` is none, or an iterator, which can be read once only.
          InvalidArgumentError: if it is empty and has no signature; on iteration, if a value does not fit it.

        Example::

            list(tf.data.Dataset.from_iterable(lambda: (n * n for n in range(3))))  # [0, 1, 4]
        """
        values = Iterated(iterable)
        if output_signature is None:
            for value in values():
                output_signature = spec_of_element(as_element(value))
                break
            else:
                raise InvalidArgumentError(message="an empty iterable needs an `output_signature`")
        return cls._then(Generator(values, (), output_signature))

    @classmethod
    def list_files(
        cls, file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        r"""The names of the files that match, found once, now; a split is one file.

        Args:
          file_pattern: one or more patterns with ``*``, ``?`` and ``[...]``, which match within one part of a path,
            also names that begin with a dot; ``\`` takes the meaning from what follows. A file that matches two
            patterns comes twice.
          shuffle: whether they come in random order, ``True`` when not given; else sorted by name.
          seed: of the order, as for :meth:`shuffle`.
          name: a label.

        Raises:
          InvalidArgumentError: if no file matches.

        Example::

            Path("part-1.txt").touch()
            list(tf.data.Dataset.list_files("part-?.txt"))  # [b"part-1.txt"]
        """
        found = matching_files(text_array(file_pattern).tolist())
        dataset = cls._then(TensorSlices(np.array(found, object)))
        return dataset if shuffle is False else dataset.shuffle(len(found), seed)

    @classmethod
    def from_source(cls, source: Any, output_signature: Any = None, name: str | None = None) -> Dataset:
        """``source[0]``, ``source[1]`` and so on: of a list, a data set of PyTorch's map style, a Grain data source.

        Under dynamic sharding a split is one item. The source is shipped as a pickle, so one of large data should
        hold a path and open it when it is indexed first.

        Args:
          source: any object with ``__len__`` and ``__getitem__``.
          output_signature: the nest of :class:`TensorSpec` of an element; found from the first and the last item
            when ``None``.
          name: a label.

        Raises:
          TypeError: if ``source`` cannot be indexed.

        Example::

            class Squares:  # as a torch.utils.data.Dataset is
                def __len__(self): return 3
                def __getitem__(self, index): return index * index

            list(tf.data.Dataset.from_source(Squares()))  # [0, 1, 4]
        """
        if not (hasattr(source, "__len__") and hasattr(source, "__getitem__")):
            raise TypeError(f"`source` must have `__len__` and `__getitem__`, but a {type(source).__name__} has not.")
        return cls._then(Source(source, len(source), output_signature))

    @classmethod
    def from_npy(cls, filenames: Any, name: str | None = None) -> Dataset:
        """The rows of arrays in ``.npy`` files, which are mapped into memory where the dataset runs.

        Only the files' heads are read now; workers need the files under the same names.

        Args:
          filenames: a name, or a nest of names whose form the elements have.
          name: a label.

        Raises:
          NotFoundError: if a file is missing.
          ValueError: if one is no ``.npy`` file, or they differ in their number of rows.

        Example::

            np.save("images.npy", np.zeros((3, 28, 28)))
            np.save("labels.npy", np.arange(3))
            image, label = next(iter(tf.data.Dataset.from_npy(("images.npy", "labels.npy"))))
        """
        names = tuple(filenames) if isinstance(filenames, list) else filenames
        arrays = nest.map_structure(lambda name: ArrayFile(os.fsdecode(name)), names)
        return cls._then(NpyRows(arrays, nest.map_structure(spec_of_file, arrays)))

    @classmethod
    def from_npz(cls, filename: Any, names: Sequence[str] | None = None, name: str | None = None) -> Dataset:
        """The rows of the arrays in a ``.npz`` file, as dicts from the arrays' names.

        Only the arrays' heads are read now; workers need the file under the same name. What ``np.savez`` wrote is
        mapped into memory. What ``np.savez_compressed`` wrote is decompressed while it is read, and to go on in its
        middle means to decompress all that lies before.

        Args:
          filename: the file.
          names: which arrays are read; all when ``None``.
          name: a label.

        Raises:
          NotFoundError: if the file is missing.
          ValueError: if it is no ``.npz`` file, an array is missing or has objects, or they differ in their number of
            rows.
          UnimplementedError: if an array is compressed and lies there column by column.

        Example::

            np.savez("points.npz", x=np.arange(3), y=np.zeros((3, 2)))
            next(iter(tf.data.Dataset.from_npz("points.npz")))  # {"x": 0, "y": [0.0, 0.0]}
        """
        path = os.fsdecode(filename)
        found = members_of(path)
        missing = sorted(set(names or ()) - set(found))
        if missing:
            raise ValueError(f"{path} has no arrays {missing}; it has {found}")
        arrays = {member: ArrayFile(path, member) for member in (found if names is None else names)}
        return cls._then(NpyRows(arrays, nest.map_structure(spec_of_file, arrays)))

    @classmethod
    def from_webdataset(
        cls,
        shards: Any,
        fields: Sequence[str] | None = None,
        *,
        indexed: bool = False,
        compression_type: str | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The samples of WebDataset's tar shards, as dicts from fields to ``bytes`` with the key as ``"__key__"``.

        Neighbouring files whose names agree up to the first dot are one sample; the rest of their names are its fields.
        A split is a shard. With an index beside each shard a split is one sample: the length is known, few shards feed
        many workers, a shuffle of the whole reads nothing ahead, and any sample is had at once.

        Args:
          shards: one or more paths or URLs; workers need the files under the same names.
          fields: which fields an element has, such as ``["jpg", "cls"]``; those of the first sample when ``None``. A
            sample that has more loses them; one that has less is an error, and the next one follows.
          indexed: whether the indexes are used that ``tf.data.experimental.index_webdataset``, or NVIDIA DALI's
            ``wds2idx``, has written.
          compression_type: ``None`` or "" for plain files, "GZIP" or "ZLIB"; such shards have no index.
          name: a label.

        Raises:
          NotFoundError: if a shard whose fields are looked for, or an index, is missing; on iteration, any shard.
          InvalidArgumentError: if the first shard is empty and ``fields`` is not given, if there are no shards, or for
            an index with compressed shards; on iteration, if a sample misses a field.
          DataLossError: if an index is damaged; on iteration, if a shard is, whose rest is left out.

        Example::

            with tarfile.open("0.tar", "w") as shard:
                for file in ("7.txt", "7.cls"):
                    Path(file).write_text(file)
                    shard.add(file)
            list(tf.data.Dataset.from_webdataset("0.tar"))  # [{"__key__": b"7", "txt": b"7.txt", "cls": b"7.cls"}]
        """
        paths = [os.fsdecode(path) for path in text_array(shards).tolist()]
        compression = compression_type or ""
        if not paths or (indexed and compression):
            raise InvalidArgumentError(message="compressed shards have no index" if paths else "there are no shards")
        found = first_fields(paths[0], compression) if fields is None else tuple(fields)
        if indexed:
            return cls._then(IndexedTarSamples(tuple(paths), tuple(map(count_of_index, paths)), found))
        names = TensorSlices(np.array([os.fsencode(path) for path in paths], object))
        return cls._then(FlatMap(names, Reader(TarSamples, (compression, found))))

    @classmethod
    def random(
        cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """int64 scalars ``0 <= x < 2**32`` without end.

        Args:
          seed: the numbers are TensorFlow's for it; drawn now when neither it nor the global seed is set.
          rerandomize_each_iteration: whether each epoch and repetition has numbers of its own.
          name: a label.
        """
        return cls._then(Random(lasting_seeds(seed), bool(rerandomize_each_iteration)))

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = "int64", name: str | None = None) -> Dataset:
        """Scalars ``start``, ``start + step``, ``start + 2 * step`` and so on without end, of type ``dtype``."""
        return cls._then(Counter(start, step, as_dtype(dtype)))


def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """The items of a list, as ``tf.data.experimental.from_list``; its spec fits every one of them.

    Raises:
      ValueError: if the list is empty.
      TypeError: if the items differ in structure or dtype.
    """
    from tfsvc.data.dataset import Dataset

    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    items = tuple(nest.map_structure(read_only, as_element(element)) for element in elements)
    return Dataset.from_source(items, relax(map(spec_of_element, items)))


def index_webdataset(shards: Any) -> list[int]:
    """Writes an index beside each of some plain tar shards, for ``from_webdataset(..., indexed=True)``.

    Only the heads of a shard's files are read. The index of ``7.tar`` is ``7.idx``, as NVIDIA DALI reads it too.

    Args:
      shards: one or more paths or URLs.

    Returns:
      How many samples each has.

    Raises:
      NotFoundError: if a shard is missing.
      DataLossError: if one is damaged.
      InvalidArgumentError: if a name has a space in it, which no index can hold.
    """
    return [write_index(os.fsdecode(path)) for path in text_array(shards).tolist()]


def lasting_seeds(seed: int | None) -> Seeds:
    """The seeds of an operator whose luck belongs to the dataset, wherever it runs; drawn where none are set."""
    return operator_seeds(seed) or (int.from_bytes(os.urandom(8), "little"), 0)


def _signature(types: Any, shapes: Any) -> Any:
    # Shapes are tuples themselves, so only the types say where the leaves are.
    if not nest.is_nested(types):
        return TensorSpec(shapes, types)
    children = nest.children(types)
    below = [None] * len(children) if shapes is None else nest.children(shapes)
    return nest.rebuild(types, [_signature(t, s) for t, s in zip(children, below, strict=True)])


def text_array(value: Any) -> Any:
    """One or more names or paths as a vector of strings, also when there are none.

    Raises:
      TypeError: if they are no strings.
    """
    names = nest.map_structure(lambda name: os.fspath(name) if isinstance(name, os.PathLike) else name, value)
    if not np.size(names):
        return np.empty(0, object)
    leaf = as_leaf(names)
    if not isinstance(leaf, bytes) and leaf.dtype != object:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements, but got {value!r}.")
    return np.atleast_1d(np.asarray(leaf, object))
