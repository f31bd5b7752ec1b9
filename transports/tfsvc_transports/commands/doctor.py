"""``tfsvc doctor``: what is wrong with a cluster's network and machines, and what to do."""

from __future__ import annotations

import sys
from typing import Final

import click
from rich.console import Console

from tfsvc.service.discovery import DISPATCHER_VARIABLE
from tfsvc_transports.commands.credentials import credentials
from tfsvc_transports.commands.exits import BAD, FINE, refusals_told
from tfsvc_transports.commands.output import console, json_option, say_json
from tfsvc_transports.commands.targets import timeout_option
from tfsvc_transports.commands.verdict import problems
from tfsvc_transports.doctor.checks import Finding, Level
from tfsvc_transports.doctor.examination import Result, examine
from tfsvc_transports.doctor.facts import Facts
from tfsvc_transports.doctor.gathering import gather

_STYLES: Final = {Level.WARNING: "yellow", Level.BAD: "red"}


@click.command()
@click.argument("dispatcher", envvar=DISPATCHER_VARIABLE, required=False)
@click.option(
    "--port", "ports", type=click.IntRange(1, 65535), multiple=True, help="A port that a server is to bind here."
)
@timeout_option
@json_option
@credentials
def doctor(dispatcher: str | None, ports: tuple[int, ...], timeout: float, as_json: bool) -> None:
    """Looks at this machine, at DISPATCHER and at its workers, as they are seen from here, for what usually goes wrong.

    Run it where the trainer or the worker runs that has the problem. It says for each finding what to do, and changes
    nothing. A line with `-` had nothing to look at. Exits with 0 if nothing is bad, and with 1 otherwise.
    """
    with refusals_told():
        facts = gather(dispatcher, ports, timeout)
    results = [*examine(facts), _of_cluster(facts)]
    if as_json:
        say_json(
            {
                "dispatcher": dispatcher,
                "workers": [worker.address for worker in facts.workers],
                "checks": [_as_json(result) for result in results],
            }
        )
    else:
        _show(console(), facts, results)
    sys.exit(BAD if any(result.bad for result in results) else FINE)


def _as_json(result: Result) -> dict[str, object]:
    findings = [{"level": f.level.value, "what": f.what, "advice": f.advice} for f in result.findings]
    return {"name": result.name, "looked": result.looked, "findings": findings}


def _of_cluster(facts: Facts) -> Result:
    """What the dispatcher itself finds wrong."""
    told = () if facts.description is None else problems(facts.description)
    findings = tuple(Finding(Level.WARNING, text, "`tfsvc status` shows the rest.") for text in told)
    return Result("cluster", facts.description is not None, findings)


def _show(out: Console, facts: Facts, results: list[Result]) -> None:
    whole = "this machine" if facts.dispatcher is None else f"dispatcher {facts.dispatcher.address}"
    workers = f" and {len(facts.workers)} workers" if facts.workers else ""
    out.print(f"looked at {whole}{workers}", markup=False)
    for result in results:
        if not result.findings:
            out.print(f"  {'ok' if result.looked else '-':8} {result.name}", markup=False)
        for finding in result.findings:
            out.print(f"  [{_STYLES[finding.level]}]{finding.level.value:8}[/] ", end="")
            out.print(f"{result.name}: {finding.what}", markup=False)
            out.print(f"           {finding.advice}", markup=False)
