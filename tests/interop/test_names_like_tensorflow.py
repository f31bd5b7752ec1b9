"""Every public name of ``tf.data`` is there with TensorFlow's parameters, or is refused with a typed error."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tfsvc

tensorflow = pytest.importorskip("tensorflow")
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]

PLACES = {
    "data": lambda tf: tf.data,
    "data.Dataset": lambda tf: tf.data.Dataset,
    "data.Iterator": lambda tf: tf.data.Iterator,
    "data.Options": lambda tf: tf.data.Options(),
    "data.ThreadingOptions": lambda tf: tf.data.ThreadingOptions(),
    "data.experimental": lambda tf: tf.data.experimental,
    "data.experimental.AutotuneOptions": lambda tf: tf.data.experimental.AutotuneOptions(),
    "data.experimental.DistributeOptions": lambda tf: tf.data.experimental.DistributeOptions(),
    "data.experimental.OptimizationOptions": lambda tf: tf.data.experimental.OptimizationOptions(),
    "data.experimental.service": lambda tf: tf.data.experimental.service,
    "data.experimental.Optional": lambda tf: tf.data.experimental.Optional,
    "data.experimental.Reducer": lambda tf: tf.data.experimental.Reducer(*[lambda x: x] * 3),
    "data.experimental.AutoShardPolicy": lambda tf: tf.data.experimental.AutoShardPolicy,
}

NOT_THERE = {
    "data.IteratorSpec": "no dataset has iterators for elements",
    "data.Options.experimental_deterministic": "deprecated; deterministic is the same",
    "data.Options.experimental_threading": "deprecated; threading is the same",
}
"""Names that are missing, each with its reason."""

REFUSED = {
    "data.Dataset": {"ragged_batch", "sparse_batch"},
    "data.experimental": {
        "DatasetInitializer",
        "SqlDataset",
        "dense_to_ragged_batch",
        "dense_to_sparse_batch",
        "distributed_save",
        "from_variant",
        "get_model_proto",
        "index_table_from_dataset",
        "make_batched_features_dataset",
        "make_saveable_from_iterator",
        "parse_example_dataset",
        "table_from_dataset",
        "to_variant",
    },
}
"""Names that raise ``UnimplementedError`` and name the way out."""

OTHER_PARAMETERS = {
    "data.Dataset.range": "output_type and name are named, and not taken from **kwargs",
}


def names(place: Any) -> list[str]:
    return [name for name in dir(place) if not name.startswith("_")]


@pytest.mark.parametrize("place", PLACES)
def test_every_name_is_there(place: str) -> None:
    ours, theirs = PLACES[place](tfsvc), PLACES[place](tensorflow)
    missing = [name for name in names(theirs) if not hasattr(ours, name) and f"{place}.{name}" not in NOT_THERE]
    assert not missing


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_is_told_as_missing_is(name: str) -> None:
    place, _, last = name.rpartition(".")
    assert hasattr(PLACES[place](tensorflow), last)
    assert not hasattr(PLACES[place](tfsvc), last)


@pytest.mark.parametrize(
    ("place", "name"), [(place, name) for place, refused in REFUSED.items() for name in sorted(refused)]
)
def test_what_is_refused_says_so(place: str, name: str) -> None:
    function = getattr(PLACES[place](tfsvc), name)
    arguments = [tfsvc.data.Dataset.range(3), 1, []] if place == "data.Dataset" else []
    with pytest.raises(tfsvc.errors.UnimplementedError, match=r"[Uu]se|[Mm]ake|[Hh]and|[Rr]ead|[Ss]ave|autotuner"):
        function(*arguments[: len(inspect.signature(function).parameters)])


@pytest.mark.parametrize("place", PLACES)
def test_parameters_are_the_same(place: str) -> None:
    """Parameters of our own come behind TensorFlow's, and may be left out."""
    ours, theirs = PLACES[place](tfsvc), PLACES[place](tensorflow)
    skipped = REFUSED.get(place, set()) - {"ragged_batch", "sparse_batch"}
    different = {}
    for name in names(theirs):
        mine, its = getattr(ours, name, None), getattr(theirs, name)
        if (
            name in skipped
            or mine is None
            or not inspect.isfunction(inspect.unwrap(its))
            or f"{place}.{name}" in OTHER_PARAMETERS
        ):
            continue
        wanted, found = parameters(its), parameters(mine)
        further = found[len(wanted) :]
        if found[: len(wanted)] != wanted or any(default is inspect.Parameter.empty for _, _, default in further):
            different[name] = (found, wanted)
    assert not different


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, plain(p.default)) for p in inspect.signature(function).parameters.values()]


def plain(default: Any) -> Any:
    return getattr(default, "name", default)
