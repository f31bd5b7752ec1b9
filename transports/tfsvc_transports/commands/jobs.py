"""``tfsvc jobs``: what is read, by whom, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from tfsvc.protocol.messages import Description
from tfsvc.protocol.messages.description import IterationDescription, JobDescription
from tfsvc_transports.commands.output import console, json_option, say_json, table
from tfsvc_transports.commands.targets import described, dispatcher_argument, timeout_option

_COLUMNS = ("job", "sharding", "mode", "iteration", "readers", "tasks", "lanes", "splits", "of", "again", "state")
_NUMBERS = ("iteration", "readers", "tasks", "lanes", "splits", "of", "again")


@click.command()
@dispatcher_argument
@timeout_option
@json_option
def jobs(dispatcher: str, timeout: float, as_json: bool) -> None:
    """Shows the jobs of DISPATCHER, and how far their open iterations are.

    An iteration is a pass over the dataset, counted from 0. Splits that went to another worker, since theirs was lost,
    count as "again".
    """
    description = described(dispatcher, timeout)
    if as_json:
        say_json({"dispatcher": dispatcher, "jobs": [_as_json(description, job) for job in description.jobs]})
        return
    out = console()
    if not description.jobs:
        out.print("no jobs")
        return
    out.print(table("", _COLUMNS, [row for job in description.jobs for row in _rows(description, job)], _NUMBERS))
    left = description.census.jobs - len(description.jobs)
    if left:
        out.print(f"... and {left} jobs more")


def _of(description: Description, job: JobDescription) -> list[IterationDescription]:
    return [iteration for iteration in description.iterations if iteration.job_id == job.id]


def _as_json(description: Description, job: JobDescription) -> dict[str, object]:
    found = [
        {
            **asdict(iteration),
            "consumers": [asdict(r) for r in description.readers if r.iteration_id == iteration.id],
        }
        for iteration in _of(description, job)
    ]
    return {**asdict(job), "splits_total": _splits_total(description, job), "iterations": found}


def _splits_total(description: Description, job: JobDescription) -> int | None:
    return next((dataset.splits for dataset in description.datasets if dataset.id == job.dataset_id), None)


def _rows(description: Description, job: JobDescription) -> Iterator[tuple[str, ...]]:
    name = "(anonymous)" if job.anonymous else job.name
    total = _splits_total(description, job)
    open_ = _of(description, job)
    if not open_:
        state = f"{job.finished} iteration{'s' * (job.finished != 1)} read" if job.finished else "not read yet"
        yield name, job.sharding_policy, job.mode, *("",) * 7, state
    for each in open_:
        yield (
            name,
            job.sharding_policy,
            job.mode,
            str(each.repetition),
            str(each.readers),
            str(each.tasks),
            str(each.lanes),
            str(each.splits),
            "?" if total is None else str(total),
            str(each.splits_again),
            _state(each),
        )


def _state(iteration: IterationDescription) -> str:
    if iteration.finished:
        return "finished"
    return "being read" if iteration.readers else "waits for readers"
