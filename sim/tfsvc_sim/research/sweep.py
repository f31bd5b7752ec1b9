"""Sweeps: one experiment in many variants and with many seeds, as a table.

    frame = sweep(Experiment(trainers=4), policy=["Static", "Stealing"], crash_rate=[0, 60], seeds=range(200))
    compare(frame, "policy", "epoch_s", against="Static")

Needs the extra ``research``.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict, fields, replace
from itertools import product
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cloudpickle

from tfsvc_sim.research.cache import Cache
from tfsvc_sim.research.experiment import Experiment
from tfsvc_sim.research.outcome import Outcome
from tfsvc_sim.research.policies import POLICIES
from tfsvc_sim.research.running import run
from tfsvc_sim.research.scaling import SCALERS

if TYPE_CHECKING:
    import pandas as pd

Axis = Sequence[Any] | Mapping[str, Any]
"""The values of a field of the experiment, or values by the labels that they have in the table."""
CHUNK: Final = 8
"""Runs that go to another process at once."""
_NAMED: Final[dict[str, Mapping[str, type]]] = {"policy": POLICIES, "scaling": SCALERS}


def sweep(
    base: Experiment | None = None,
    *,
    seeds: Sequence[int] = range(20),
    processes: int | None = None,
    cache: str | Path | None = ".tfsvc-sweeps",
    **axes: Axis,
) -> pd.DataFrame:
    """Makes ``base`` with every combination of ``axes``, each with every seed.

    All combinations meet the same luck at the same seed: the same element is as costly and the same worker as unlucky.
    So differences are best taken seed by seed, as ``compare`` does.

    Args:
      base: what is the same in all; ``Experiment()`` when not given.
      seeds: of each combination.
      processes: how many work at once; as many as there are processors when not given, 1 for none but this one.
      cache: a folder with the outcomes of earlier sweeps, which is made; ``None`` for none. They are found by code,
        experiment and seed.
      axes: fields of the experiment with the values that they are to take: a list, or a dictionary whose keys are the
        labels in the table. Built-in policies and scalings go by their names.

    Returns:
      A row for each run: its place on the axes, its seed, and the fields of its ``Outcome``.

    Raises:
      ValueError: if an axis is no field of an experiment, or names no policy.
    """
    pandas = _pandas()
    store = None if cache is None else Cache(cache)
    rows = []
    wanted: list[tuple[dict[str, Any], Experiment]] = list(_variants(base or Experiment(), axes, seeds))
    outcomes: list[Outcome | None] = [None if store is None else store.get(made) for _, made in wanted]
    missing = [i for i, outcome in enumerate(outcomes) if outcome is None]
    for i, made in _make(missing, [made for _, made in wanted], processes or multiprocessing.cpu_count()):
        outcomes[i] = made
        if store is not None:
            store.put(wanted[i][1], made)
    for (labels, experiment), outcome in zip(wanted, outcomes, strict=True):
        assert outcome is not None
        rows.append({**labels, "seed": experiment.seed, **asdict(outcome)})
    return pandas.DataFrame(rows)


def compare(frame: pd.DataFrame, axis: str, metric: str, against: Any) -> pd.DataFrame:
    """How each value of an axis differs from one of them, seed by seed.

    Returns:
      A row for each combination of the other axes and value: the mean difference of ``metric``, half the width of its
      95 % interval, the mean ratio, and the number of pairs.
    """
    pandas = _pandas()
    numbers = {field.name for field in fields(Outcome)}
    others = [column for column in frame.columns if column not in numbers and column not in (axis, "seed")]
    rows = []
    for place, part in frame.groupby(others, sort=False) if others else [((), frame)]:
        pairs = part.pivot(index="seed", columns=axis, values=metric)
        for value in pairs.columns:
            difference = (pairs[value] - pairs[against]).dropna()
            spread = difference.std(ddof=1) if len(difference) > 1 else float("nan")
            rows.append(
                {
                    **dict(zip(others, place, strict=True)),
                    axis: value,
                    "difference": difference.mean(),
                    "half_width": 1.96 * spread / sqrt(len(difference)),
                    "ratio": (pairs[value] / pairs[against]).mean(),
                    "pairs": len(difference),
                }
            )
    return pandas.DataFrame(rows)


def _variants(
    base: Experiment, axes: Mapping[str, Axis], seeds: Sequence[int]
) -> Iterator[tuple[dict[str, Any], Experiment]]:
    known = [field.name for field in fields(Experiment)]
    for axis in axes:
        if axis not in known or axis == "seed":
            raise ValueError(f"{axis!r} is no field of an experiment; there are {', '.join(known)}")
    choices = [[(axis, *pair) for pair in _labelled(axis, values)] for axis, values in axes.items()]
    for combination in product(*choices):
        made = replace(base, **{axis: value for axis, _, value in combination})
        for seed in seeds:
            yield {axis: label for axis, label, _ in combination}, replace(made, seed=seed)


def _labelled(axis: str, values: Axis) -> Iterator[tuple[Any, Any]]:
    named = _NAMED.get(axis, {})
    for label, value in values.items() if isinstance(values, Mapping) else ((value, value) for value in values):
        if isinstance(value, str) and named:
            if value not in named:
                raise ValueError(f"there is no {axis} {value!r}; there are {', '.join(named)}, or a class of your own")
            yield label, named[value]
        else:
            yield label.__name__ if isinstance(label, type) else label, value


def _make(missing: Sequence[int], experiments: Sequence[Experiment], processes: int) -> Iterator[tuple[int, Outcome]]:
    if processes == 1 or len(missing) <= 1:
        for i in missing:
            yield i, run(experiments[i])
        return
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    with ProcessPoolExecutor(processes, multiprocessing.get_context(method)) as pool:
        chunks = [missing[at : at + CHUNK] for at in range(0, len(missing), CHUNK)]
        for chunk, made in [(chunk, _submit(pool, [experiments[i] for i in chunk])) for chunk in chunks]:
            yield from zip(chunk, made.result(), strict=True)


def _submit(pool: Executor, experiments: list[Experiment]) -> Future[list[Outcome]]:
    # A policy may be defined in a notebook, which other processes cannot import.
    return pool.submit(_run_all, cloudpickle.dumps(experiments))


def _run_all(pickled: bytes) -> list[Outcome]:
    return [run(experiment) for experiment in cloudpickle.loads(pickled)]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("sweeps give pandas' tables; install tfsvc[research]") from error
    return pandas
