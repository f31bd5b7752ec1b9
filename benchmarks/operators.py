"""Elements a second of one core through single operators, read from Python, beside tf.data and beside loops.

    python -m benchmarks.operators [--rounds 5] [--seconds 1] [--only shuffle]

Each side runs in a process of its own. They are measured in turns, from the first element of a pass on and for so
many seconds; the table shows medians. Time is that of the processor in all threads of the process, so other work on
the machine and a second core change little. A loop does the same by hand, without any library but NumPy. Python
functions run in tf.data as ``tf.numpy_function``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.sides import MODULES, Child, load

LINE: Final = "the quick brown fox jumps over the lazy dog 0123456789"
LINES: Final = 200_000
IMAGES: Final = np.random.default_rng(0).integers(0, 255, (50_000, 28, 28, 1), np.uint8)


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


def ragged(tf: Any) -> Any:
    """Vectors of 0 to 31 numbers, cut out of one array."""
    vectors = tf.data.Dataset.range(1_000_000).map(lambda n: n % 32)
    if hasattr(tf, "numpy_function"):
        return vectors.map(lambda n: tf.zeros([n], tf.float32))
    return vectors.map(lambda n: np.zeros(n, np.float32))


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
    "`images.shuffle(10**4).batch(64)`": Case(
        lambda tf: tf.data.Dataset.from_tensor_slices(IMAGES).shuffle(10**4).batch(64), rows=64, whole=True
    ),
    "Python `map`, images": Case(
        lambda tf: tf.data.Dataset.from_tensor_slices(IMAGES).map(python(tf, normalize, "float32")),
        lambda: map(normalize, IMAGES),
    ),
    "Python `map`, lines": Case(
        lambda tf: tf.data.TextLineDataset(str(folder() / "lines.txt")).map(python(tf, tokens, "int32")),
        lambda: map(tokens, loop_over_lines()),
    ),
    "Python `map`, `2 * x + 1`": Case(
        lambda tf: tf.data.Dataset.range(10**6).map(python(tf, double, "int64")),
        lambda: map(double, np.arange(10**6)),
    ),
    "Python `filter`, half stay": Case(
        lambda tf: tf.data.Dataset.range(10**6).filter(python(tf, lambda x: x % 2 == 0, "bool")),
        lambda: filter(lambda x: x % 2 == 0, np.arange(10**6)),
    ),
    "`zip` of two ranges": Case(
        lambda tf: tf.data.Dataset.zip((tf.data.Dataset.range(10**6), tf.data.Dataset.range(10**6))),
        lambda: zip(np.arange(10**6), np.arange(10**6), strict=True),
    ),
    "`enumerate`": Case(lambda tf: tf.data.Dataset.range(10**6).enumerate(), lambda: enumerate(np.arange(10**6))),
    "`from_tensor_slices`, images": Case(lambda tf: tf.data.Dataset.from_tensor_slices(IMAGES), lambda: IMAGES),
    "`batch(100).unbatch()`": Case(lambda tf: tf.data.Dataset.range(10**6).batch(100).unbatch()),
    "`padded_batch(64)` of vectors": Case(lambda tf: ragged(tf).padded_batch(64, [None]), rows=64),
    "`interleave` of 16 ranges": Case(
        lambda tf: tf.data.Dataset.range(16).interleave(lambda x: tf.data.Dataset.range(10**5), cycle_length=16)
    ),
    "`TextLineDataset`": Case(
        lambda tf: tf.data.TextLineDataset(str(folder() / "lines.txt")), lambda: loop_over_lines()
    ),
    "`TFRecordDataset`": Case(lambda tf: tf.data.TFRecordDataset(str(folder() / "lines.tfrecord"))),
}


def rate(case: Case, elements: Iterable[Any], seconds: float) -> float:
    """Elements of the input a second of processor time."""
    count, started = 0, time.process_time()
    iterator = iter(elements)
    if not case.whole:
        next(iterator)
        started = time.process_time()
    for _ in iterator:
        count += 1
        if not count % 64 and not case.whole and time.process_time() > started + seconds:
            break
    return count * case.rows / (time.process_time() - started)


def run(side: str) -> None:
    """A process of one side; measures what each line of its input asks for."""
    tf = None if side == "loop" else load(side)
    for line in sys.stdin:
        name, seconds = json.loads(line)
        case = CASES[name]
        if tf is None:
            found = rate(case, case.loop(), seconds) if case.loop else 0.0
        else:
            found = rate(case, case.make(tf).as_numpy_iterator(), seconds)
        print(json.dumps(found), flush=True)


def compare(names: list[str], rounds: int, seconds: float) -> None:
    """Measures all sides in turns and prints a table in Markdown."""
    folder()
    sides = {name: Child("benchmarks.operators", "--side", name) for name in (*MODULES, "loop")}
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {rounds} runs, seconds of one core\n"
    )
    print("| pipeline | tfsvc, elements/s | TensorFlow 2.21, elements/s | ratio | time over a loop's |")
    print("|---|---|---|---|---|")
    try:
        for name in names:
            found = [[side.ask(name, seconds) for side in sides.values()] for _ in range(rounds)]
            ours, theirs, loop = map(statistics.median, zip(*found, strict=True))
            ratio = statistics.median(row[0] / row[1] for row in found)
            beside = f"{statistics.median(row[2] / row[0] for row in found):.2f}" if loop else ""
            print(f"| {name} | {ours:,.0f} | {theirs:,.0f} | {ratio:.1f} | {beside} |", flush=True)
    finally:
        for side in sides.values():
            side.stop()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", default="", help="measure only what has this in its name")
    parser.add_argument("--side", choices=(*MODULES, "loop"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        run(options.side)
    else:
        compare([name for name in CASES if options.only in name], options.rounds, options.seconds)


if __name__ == "__main__":
    main()
