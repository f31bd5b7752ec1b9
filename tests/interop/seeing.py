"""What can be seen of a dataset from outside, under ``tfsvc`` or under TensorFlow."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.pipelines.elements import plain
from tests.pipelines.pipeline import Pipeline

READ = 12
"""Elements of each epoch that are looked at."""

FAILURES = 3
"""Failures in a row after which an epoch is given up."""

END = "the end"

Epoch = tuple[Any, ...]
"""Elements as :func:`plain` has them, class names of errors in their place, and ``END``."""


@dataclass(frozen=True)
class Seen:
    """A dataset from outside.

    Attributes:
      failure: the class of the error that building it raised, and then there is nothing else.
      spec: as :func:`plain_spec` has it, or the class of an error.
      cardinality: as ``cardinality()`` gives it, or the class of an error.
      length: as ``len()`` gives it, or the class of an error.
      epochs: a pass, or two.
    """

    failure: str | None = None
    spec: Any = None
    cardinality: Any = None
    length: Any = None
    epochs: tuple[Epoch, ...] = ()


def look(pipeline: Pipeline, tf: Any) -> Seen:
    """Builds the pipeline with the module ``tf``, and reads it; twice where it keeps something, and now and then."""
    twice = ".cache()" in pipeline.code or len(pipeline.code) % 4 == 0
    # Looking for the source of functions would take a tenth of the time, and they have none.
    build = tf.autograph.experimental.do_not_convert(pipeline.build) if hasattr(tf, "autograph") else pipeline.build
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            dataset = build(tf)
        except Exception as error:
            return Seen(failure=_name(error))
        return Seen(
            None,
            _attempt(lambda: plain_spec(dataset.element_spec)),
            _attempt(lambda: int(dataset.cardinality())),
            _attempt(lambda: len(dataset)),
            tuple(_epochs(dataset, twice)),
        )


def _epochs(dataset: Any, twice: bool) -> Iterator[Epoch]:
    """What a second pass gives after one that was given up depends on how far TensorFlow had read ahead."""
    first = tuple(_epoch(dataset))
    yield first
    if twice and first[-1] == END:
        yield tuple(_epoch(dataset))


def _name(error: Exception) -> str:
    return type(error).__name__


def is_failure(event: Any) -> bool:
    """Whether an event of an epoch is an error."""
    return isinstance(event, str) and event != END


def _attempt(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as error:
        return _name(error)


def _epoch(dataset: Any) -> Iterator[Any]:
    try:
        iterator = dataset.as_numpy_iterator()
    except Exception as error:
        yield f"no iterator: {_name(error)}"
        return
    failures = 0
    for _ in range(READ):
        try:
            element = next(iterator)
        except StopIteration:
            yield END
            return
        except Exception as error:
            yield _name(error)
            failures += 1
            if failures == FAILURES:
                return
        else:
            failures = 0
            yield plain(element)


def plain_spec(spec: Any) -> Any:
    """A spec as something that can be compared: a pair of a dtype's name and a shape for each component."""
    if isinstance(spec, Mapping):
        return tuple((key, plain_spec(value)) for key, value in spec.items())
    if isinstance(spec, (tuple, list)):
        return type(spec).__name__, *map(plain_spec, spec)
    if hasattr(spec, "element_spec"):
        return "dataset", plain_spec(spec.element_spec)
    shape = spec.shape
    if shape is not None and hasattr(shape, "rank"):
        shape = None if shape.rank is None else tuple(shape)
    return spec.dtype.name, shape
