"""Where ``tfsvc`` differs from TensorFlow on purpose; ``docs/differences.md`` tells users, and gives the reasons.

An allowance is given a pipeline and what was seen of it under both, and says whether it explains a difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import tensorflow

import tfsvc
from tests.interop import faults
from tests.interop.seeing import END, Epoch, Seen, is_failure, look
from tests.pipelines.pipeline import Pipeline

Allowance = Callable[[Pipeline, Seen, Seen], bool]

_GATHERS = re.compile(r"\.(batch|padded_batch|rebatch|window|group_by_window|bucket_by_sequence_length)\(")


def found_when_it_runs(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """Functions are not traced, so what is wrong with them is found when they run, or when the spec is asked for."""
    late = (ours.spec, *(failures[0] for epoch in ours.epochs if (failures := list(filter(is_failure, epoch)))))
    return theirs.failure is not None and theirs.failure in late


def negative_size_without_remainder(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """One class of error for batches of no size, with ``drop_remainder`` or without."""
    negative = re.search(r"batch\(-\d+.*drop_remainder=True", pipeline.code)
    return bool(negative) and (ours.failure, theirs.failure) == ("InvalidArgumentError", "ValueError")


def another_fault_first(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """Of two faults in one call, the one that can be told without running functions is found first."""
    return theirs.failure in ("ValueError", "TypeError") and ours.failure == "InvalidArgumentError"


def known_rank(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """Padding needs to know how many dimensions there are, which examples tell and tracing does not."""
    if theirs.failure != "ValueError" or ours.failure or isinstance(ours.spec, str):
        return False
    pads = re.finditer(r"\.(padded_batch|bucket_by_sequence_length)\(", pipeline.code)
    before = [look(Pipeline(pipeline.code[: found.start()]), tensorflow) for found in pads]
    # What stands inside a function is cut in the middle, and cannot be looked at.
    return any(seen.failure == "SyntaxError" or _has_unknown_rank(seen.spec) for seen in before)


def _has_unknown_rank(spec: Any) -> bool:
    match spec:
        case (str(), None):
            return True
        case tuple():
            return any(map(_has_unknown_rank, spec))
        case _:
            return False


def numbers_that_pad_any_type(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """Python's own numbers pad a component of any number type."""
    if "padding_values=" not in pipeline.code:
        return False
    with faults.numbers_of_one_type():
        planted = look(pipeline, tfsvc)
    return planted.failure == theirs.failure or found_when_it_runs(pipeline, planted, theirs)


def too_long_where_it_is_built(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """As ``too_long_for_its_bucket``, in a pipeline that reads elements when it is built."""
    known = "pad_to_bucket_boundary" in pipeline.code and ".get_single_element()" in pipeline.code
    return known and (ours.failure, theirs.failure) == ("InvalidArgumentError", "InternalError")


def more_exact(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """A spec read off examples may know a dimension that tracing does not; every element must still fit it."""
    if "lambda" not in pipeline.code or not _narrows(ours.spec, theirs.spec):
        return False
    elements = [event for epoch in ours.epochs for event in epoch if event != END and not is_failure(event)]
    return "f.fill" in pipeline.code or all(_fits(ours.spec, element) for element in elements)


def _fits(spec: Any, element: Any) -> bool:
    if isinstance(spec, str):
        return bool(spec == element)
    if len(spec) != 2 or not isinstance(spec[0], str) or not _is_leaf(spec):
        return len(spec) == len(element) and all(map(_fits, spec, element))
    dtype, shape = spec
    name, sizes = ("object", ()) if isinstance(element, bytes) else element[1:3]
    return dtype == name.replace("object", "string") and (
        shape is None or (len(shape) == len(sizes) and all(a in (None, b) for a, b in zip(shape, sizes, strict=True)))
    )


def _narrows(ours: Any, theirs: Any) -> bool:
    match ours, theirs:
        case ((str(), tuple() | None), (str(), tuple() | None)) if _is_leaf(ours) and _is_leaf(theirs):
            one, two = ours[1], theirs[1]
            return ours[0] == theirs[0] and (
                two is None
                or (
                    one is not None
                    and len(one) == len(two)
                    and all(b in (a, None) for a, b in zip(one, two, strict=True))
                )
            )
        case (tuple(), tuple()):
            return len(ours) == len(theirs) and all(map(_narrows, ours, theirs))
        case _:
            return bool(ours == theirs)


def _is_leaf(spec: tuple[Any, ...]) -> bool:
    return spec[1] is None or all(dim is None or isinstance(dim, int) for dim in spec[1])


def example_fails(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """A spec is read off examples, so it cannot be had where the function fails for them."""
    return isinstance(ours.spec, str) and ("f.unless" in pipeline.code or any(map(_fails, ours.epochs)))


def example_fails_for_the_count(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """How many rows there are to unbatch is read off the spec."""
    return ours.cardinality == ours.spec and ".unbatch()" in pipeline.code and example_fails(pipeline, ours, theirs)


def only_the_failed_is_missing(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """A failure costs one element; TensorFlow also loses what it had gathered for a batch or a window."""
    if not _GATHERS.search(pipeline.code):
        return False
    ignored = ".ignore_errors()"
    if ignored in pipeline.code:
        heeded = replace(pipeline, steps=tuple(step.replace(ignored, "") for step in pipeline.steps))
        return any(map(_fails, look(heeded, tfsvc).epochs))
    passes = list(_passes(ours, theirs))
    if ".cache(" in pipeline.code:
        # What comes behind a failure is in the cache too, and is what later passes give.
        failed = next((place for place, (epoch, _) in enumerate(passes) if _fails(epoch)), len(passes))
        passes = passes[: failed + 1]
    return _same_up_to_failure(passes)


def too_long_for_its_bucket(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """The same class of error as for other bad elements."""
    if "pad_to_bucket_boundary" not in pipeline.code:
        return False
    pairs = [(_up_to_failure(a), _up_to_failure(b)) for a, b in _passes(ours, theirs)]
    return all(a[:-1] == b[:-1] and (a[-1], b[-1]) == ("InvalidArgumentError", "InternalError") for a, b in pairs)


def unlike_rows_of_one_size(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """Rows of unlike shapes are not put together, as if their numbers had no places."""
    if not re.search(r"\.(map|rebatch)\(", pipeline.code):
        return False
    for soonest in range(4):
        with faults.unlike_rows_of_one_size(soonest):
            if look(pipeline, tfsvc).epochs == theirs.epochs:
                return True
    return False


def skip_that_counts_anew(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """As many good elements are skipped as was said, whatever fails among them."""
    if not re.search(r"\.(skip|shard)\(", pipeline.code):
        return False
    with faults.skip_that_counts_anew():
        return look(pipeline, tfsvc).epochs == theirs.epochs


def failures_left_out_with_a_window(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """A failure is told, also where the window in which it happened is left out."""
    if not re.search(r"\.window\([^)]*drop_remainder=True", pipeline.code):
        return False
    with faults.failures_left_out_with_a_window():
        return _same_up_to_failure(_passes(look(pipeline, tfsvc), theirs))


def short_batch_that_fails_before_a_window(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """A failure is told, also where it is that of a last, short batch which a window reads."""
    if not re.search(r"batch\(.*\.window\(", pipeline.code):
        return False
    with faults.short_batch_that_fails_before_a_window():
        return _same_up_to_failure(_passes(look(pipeline, tfsvc), theirs))


def unlike_rows_of_a_dropped_batch(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """Rows that ``drop_remainder`` leaves out may be as unlike as they are."""
    if not re.search(r"\.map\(.*\.batch\([^)]*drop_remainder=True", pipeline.code):
        return False
    with faults.unlike_rows_of_a_dropped_batch():
        return look(pipeline, tfsvc).epochs == theirs.epochs


def padded_where_no_trace_shows_a_size(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """A size that a function makes of values counts as fixed where all examples agree on it, and is not padded."""
    if not re.search(r"f\.fill\(.*pad_to_bucket_boundary", pipeline.code):
        return False
    with faults.sizes_that_no_trace_shows():
        return look(pipeline, tfsvc).epochs == theirs.epochs


def unlike_where_no_trace_shows_a_size(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """The same of rows that are cut: examples may have unlike numbers of them, where elements need not."""
    if ours.spec != "ValueError" or not re.search(r"f\.fill\(.*\.(unbatch|rebatch)\(", pipeline.code):
        return False
    with faults.sizes_that_no_trace_shows():
        planted = look(pipeline, tfsvc)
    same = (planted.cardinality, planted.length) == (theirs.cardinality, theirs.length)
    return same and _narrows(planted.spec, theirs.spec)


def _passes(ours: Seen, theirs: Seen) -> Iterator[tuple[Epoch, Epoch]]:
    """The passes that both made: there is no second one where the first was given up."""
    return zip(ours.epochs, theirs.epochs, strict=False)


def _fails(epoch: Epoch) -> bool:
    return any(map(is_failure, epoch))


def _same_up_to_failure(passes: Iterable[tuple[Epoch, Epoch]]) -> bool:
    return all(_up_to_failure(a) == _up_to_failure(b) for a, b in passes)


def _up_to_failure(epoch: Epoch) -> Epoch:
    """The epoch to its first failure; without one, ``END`` keeps it apart from one that has."""
    first = next((place for place, event in enumerate(epoch) if is_failure(event)), None)
    return (*epoch, END) if first is None else epoch[: first + 1]


def iterator_that_tensorflow_cannot_make(pipeline: Pipeline, ours: Seen, theirs: Seen) -> bool:
    """TensorFlow 2.21 loses shapes of what is drawn or chosen and concatenated; it fuses ``shuffle``, ``repeat(0)``."""
    lost = ("no iterator: InvalidArgumentError",)
    known = re.search(
        r"(choose|sample)_from_datasets|\.random\(.*\.concatenate|\.shuffle\(.*\.repeat\((0|-)", pipeline.code
    )
    return bool(known) and all(epoch == lost for epoch in theirs.epochs)


ALLOWANCES: dict[str, tuple[Allowance, ...]] = {
    "failure": (
        found_when_it_runs,
        negative_size_without_remainder,
        another_fault_first,
        known_rank,
        numbers_that_pad_any_type,
        too_long_where_it_is_built,
    ),
    "spec": (more_exact, example_fails, unlike_where_no_trace_shows_a_size),
    "cardinality": (example_fails_for_the_count, unlike_where_no_trace_shows_a_size),
    "length": (example_fails_for_the_count, unlike_where_no_trace_shows_a_size),
    "epochs": (
        only_the_failed_is_missing,
        too_long_for_its_bucket,
        iterator_that_tensorflow_cannot_make,
        unlike_rows_of_one_size,
        skip_that_counts_anew,
        failures_left_out_with_a_window,
        short_batch_that_fails_before_a_window,
        unlike_rows_of_a_dropped_batch,
        padded_where_no_trace_shows_a_size,
    ),
}
"""What may explain a difference in each aspect of :class:`Seen`."""
