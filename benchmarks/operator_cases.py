"""What `benchmarks.operators` measures: a pipeline for each side, and the same by hand where that is worth it.

A loop by hand gives the same elements without any library but NumPy: it calls the function for each element, makes
NumPy's numbers of Python's, and stacks rows where the pipeline makes batches.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

LINE: Final = "the quick brown fox jumps over the lazy dog 0123456789"
LINES: Final = 200_000
IMAGES: Final = np.random.default_rng(0).integers(0, 255, (50_000, 28, 28, 1), np.uint8)
LABELS: Final = np.arange(50_000) % 10


@dataclass(frozen=True)
class Case:
    """What is measured.

    Attributes:
      make: from the side's module to its dataset.
      loop: the same by hand, where it is worth a comparison.
      rows: elements of the input that are in one element read.
      whole: whether the whole pass is measured with what comes before its first element, which is most of the work.
    """

    make: Callable[[Any], Any]
    loop: Callable[[], Iterable[Any]] | None = None
    rows: int = 1
    whole: bool = False


def double(x: Any) -> Any:
    """Works on numbers, arrays and tensors alike."""
    return x * 2 + 1


def is_even(x: Any) -> Any:
    """A predicate."""
    return x % 2 == 0


def digit(x: Any) -> Any:
    """A number of Python's own."""
    return int(x) % 10


def normalize(image: Any) -> Any:
    """An ordinary function of one image."""
    return (image.astype(np.float32) - 127.5) / 127.5


def tokens(line: bytes) -> Any:
    """An ordinary function of one line."""
    return np.array([len(word) for word in line.decode().split()], np.int32)


def vectorized(tf: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as each side wants it."""
    mark = getattr(tf.data.experimental, "vectorized", None)
    return mark(function) if mark else function


def python(tf: Any, function: Callable[..., Any], dtype: str) -> Callable[..., Any]:
    """A function of Python's as each side wants it."""
    if not hasattr(tf, "numpy_function"):
        return function
    return lambda x: tf.numpy_function(function, [x], dtype)


def images(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(IMAGES)


def pairs(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices((IMAGES, LABELS))


def ragged(tf: Any) -> Any:
    """Vectors of 0 to 31 numbers, cut out of one array."""
    vectors = tf.data.Dataset.range(1_000_000).map(lambda n: n % 32)
    if hasattr(tf, "numpy_function"):
        return vectors.map(lambda n: tf.zeros([n], tf.float32))
    return vectors.map(lambda n: np.zeros(n, np.float32))


def normalized(tf: Any) -> Any:
    """Images beside their labels, the images normalized."""
    if hasattr(tf, "numpy_function"):
        function = python(tf, normalize, "float32")
        return pairs(tf).map(lambda image, label: (function(image), label))
    return pairs(tf).map(lambda image, label: (normalize(image), label))


def named(tf: Any) -> Any:
    """The same by name."""
    if hasattr(tf, "numpy_function"):
        function = python(tf, normalize, "float32")
        return pairs(tf).map(lambda image, label: {"image": function(image), "label": label})
    return pairs(tf).map(lambda image, label: {"image": normalize(image), "label": label})


def chosen(tf: Any) -> Any:
    """A function, a predicate and a function."""
    numbers = tf.data.Dataset.range(10**6).map(python(tf, double, "int64"))
    return numbers.filter(python(tf, lambda x: x % 3 == 0, "bool")).map(python(tf, double, "int64"))


def loop_over_chosen() -> Iterator[Any]:
    for x in np.arange(10**6):
        y = double(x)
        if y % 3 == 0:
            yield double(y)


def batches(rows: Iterable[Any], size: int) -> Iterator[Any]:
    """Batches by hand."""
    iterator = iter(rows)
    while held := list(islice(iterator, size)):
        yield np.stack(held) if isinstance(held[0], np.ndarray) else np.array(held)


def folder() -> Path:
    """Where the files of this benchmark are; written when asked for first."""
    path = Path(tempfile.gettempdir()) / "tfsvc-benchmark"
    path.mkdir(exist_ok=True)
    text = path / "lines.txt"
    if not text.exists():
        text.write_text(f"{LINE}\n" * LINES)
        import tfsvc

        lines = tfsvc.data.Dataset.from_tensors(LINE).repeat(LINES)
        tfsvc.data.experimental.TFRecordWriter(path / "lines.tfrecord").write(lines)
    return path


def text(tf: Any) -> Any:
    return tf.data.TextLineDataset(str(folder() / "lines.txt"))


def loop_over_lines() -> Iterator[bytes]:
    with (folder() / "lines.txt").open("rb") as file:
        for line in file:
            yield line.removesuffix(b"\n")


CASES: Final[dict[str, Case]] = {
    "`range(10**7)`": Case(lambda tf: tf.data.Dataset.range(10**7), lambda: np.arange(10**7)),
    "`range(10**7).map(vectorized).batch(1024)`": Case(
        lambda tf: tf.data.Dataset.range(10**7).map(vectorized(tf, double)).batch(1024), rows=1024
    ),
    "`range(10**6).map(vectorized)`": Case(lambda tf: tf.data.Dataset.range(10**6).map(vectorized(tf, double))),
    "`range(10**6).shuffle(10**4)`": Case(lambda tf: tf.data.Dataset.range(10**6).shuffle(10**4)),
    "`range(10**5).shuffle(10**5)`": Case(lambda tf: tf.data.Dataset.range(10**5).shuffle(10**5), whole=True),
    "`images.shuffle(10**4).batch(64)`": Case(lambda tf: images(tf).shuffle(10**4).batch(64), rows=64, whole=True),
    "Python `map`, `2 * x + 1`": Case(
        lambda tf: tf.data.Dataset.range(10**6).map(python(tf, double, "int64")),
        lambda: map(double, np.arange(10**6)),
    ),
    "Python `map`, `int(x) % 10`": Case(
        lambda tf: tf.data.Dataset.range(10**6).map(python(tf, digit, "int64")),
        lambda: map(np.int32, map(digit, np.arange(10**6))),
    ),
    "Python `map`, lines": Case(
        lambda tf: text(tf).map(python(tf, tokens, "int32")), lambda: map(tokens, loop_over_lines())
    ),
    "Python `map`, images": Case(
        lambda tf: images(tf).map(python(tf, normalize, "float32")), lambda: map(normalize, IMAGES)
    ),
    "Python `map`, `(image, label)`": Case(
        normalized, lambda: ((normalize(image), label) for image, label in zip(IMAGES, LABELS, strict=True))
    ),
    "Python `map`, `{image, label}`": Case(
        named,
        lambda: ({"image": normalize(image), "label": label} for image, label in zip(IMAGES, LABELS, strict=True)),
    ),
    "Python `map`, `2 * x + 1`, then `batch(1024)`": Case(
        lambda tf: tf.data.Dataset.range(10**6).map(python(tf, double, "int64")).batch(1024),
        lambda: batches(map(double, np.arange(10**6)), 1024),
        rows=1024,
    ),
    "Python `map`, images, then `batch(64)`": Case(
        lambda tf: images(tf).map(python(tf, normalize, "float32")).batch(64),
        lambda: batches(map(normalize, IMAGES), 64),
        rows=64,
    ),
    "Python `filter`, half stay": Case(
        lambda tf: tf.data.Dataset.range(10**6).filter(python(tf, is_even, "bool")),
        lambda: filter(is_even, np.arange(10**6)),
    ),
    "Python `map`, `filter`, `map`": Case(chosen, loop_over_chosen),
    "`zip` of two ranges": Case(
        lambda tf: tf.data.Dataset.zip((tf.data.Dataset.range(10**6), tf.data.Dataset.range(10**6))),
        lambda: zip(np.arange(10**6), np.arange(10**6), strict=True),
    ),
    "`enumerate`": Case(lambda tf: tf.data.Dataset.range(10**6).enumerate(), lambda: enumerate(np.arange(10**6))),
    "`from_tensor_slices`, images": Case(images, lambda: IMAGES),
    "`batch(100).unbatch()`": Case(lambda tf: tf.data.Dataset.range(10**6).batch(100).unbatch()),
    "`padded_batch(64)` of vectors": Case(lambda tf: ragged(tf).padded_batch(64, [None]), rows=64),
    "`interleave` of 16 ranges": Case(
        lambda tf: tf.data.Dataset.range(16).interleave(lambda x: tf.data.Dataset.range(10**5), cycle_length=16)
    ),
    "`TextLineDataset`": Case(text, loop_over_lines),
    "`TFRecordDataset`": Case(lambda tf: tf.data.TFRecordDataset(str(folder() / "lines.tfrecord"))),
}
