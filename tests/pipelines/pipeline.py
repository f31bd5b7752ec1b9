"""A pipeline as data: an expression that makes a dataset, and up to six calls that make another of it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any

from tests.pipelines.functions import names

OPERATORS = (
    "range", "from_tensors", "from_tensor_slices", "from_generator", "from_list", "counter",
    "map", "filter", "flat_map", "interleave", "batch", "padded_batch", "rebatch", "unbatch", "repeat", "take", "skip",
    "shard", "zip", "concatenate", "enumerate", "prefetch", "cache", "window", "scan", "take_while", "reduce",
    "group_by_window", "bucket_by_sequence_length", "choose_from_datasets", "unique", "ignore_errors", "with_options",
    "apply", "get_single_element", "shuffle", "sample_from_datasets",
)  # fmt: skip
"""The names of ``tf.data`` that pipelines are made of."""

_CALL = re.compile(r"\.(\w+)\(")


@dataclass(frozen=True)
class Pipeline:
    """``source`` makes a dataset, each of ``steps`` is a call on the one before; both are Python, for either module.

    They may name ``tf``, ``np``, ``ml_dtypes``, ``f`` (the functions of :mod:`tests.pipelines.functions`) and
    ``Point``, a named tuple of ``x`` and ``y``.
    """

    source: str
    steps: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """One expression."""
        return self.source + "".join(self.steps)

    @property
    def operators(self) -> tuple[str, ...]:
        """The names of all operators in it, each as often as it stands there."""
        return tuple(name for name in _CALL.findall(self.code) if name in OPERATORS)

    def build(self, tf: Any) -> Any:
        """The dataset; raises what building it raises."""
        return eval(self.code, names(tf))

    def __str__(self) -> str:
        return "\n    ".join((self.source, *self.steps))


def program(pipeline: Pipeline, module: str) -> str:
    """A script that prints what the pipeline gives under ``tfsvc`` or ``tensorflow``."""
    return f"""\
import {module} as tf
from tests.pipelines.functions import names
globals().update(names(tf))
dataset = (
    {pipeline}
)
print(dataset.element_spec, int(dataset.cardinality()), list(dataset.take(12).as_numpy_iterator()))
"""


def replay(pipeline: Pipeline) -> str:
    """The command that compares one pipeline."""
    return f"python -m tests.interop.random_pipelines --replay {shlex.quote(pipeline.code)}"
