"""``tfsvc top``: throughput and waiting times, live."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict

import click
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from tfsvc.protocol.messages import Description
from tfsvc.units import DURATION, show_duration, show_size
from tfsvc_transports.commands.exits import Unreachable
from tfsvc_transports.commands.output import console, json_option, say_json, table
from tfsvc_transports.commands.rates import Rates, rates
from tfsvc_transports.commands.status import heard
from tfsvc_transports.commands.targets import described, dispatcher_argument, timeout_option

_SIDES = {
    "workers": "readers wait for their workers: add workers, or make the pipeline faster",
    "trainers": "workers wait for the trainers: more of them would not help",
    "nothing": "nobody reads",
}


@click.command()
@dispatcher_argument
@click.option("--interval", type=DURATION, default="1s", show_default=True, help="How often it looks.")
@click.option("--once", is_flag=True, help="Look for one interval, print and end, as without a terminal.")
@timeout_option
@json_option
def top(dispatcher: str, interval: float, once: bool, timeout: float, as_json: bool) -> None:
    """Shows how fast the cluster of DISPATCHER is, and who waits for whom, until Ctrl-C.

    Readers whose applications wait most come first. Readers tell how they are once a second, so that shorter intervals
    show little more. Without a terminal, or with --json, it looks for one interval, prints and ends.
    """
    if interval <= 0:
        raise click.BadParameter("it must be longer than nothing", param_hint="--interval")
    first = described(dispatcher, timeout)
    out = console()
    if once or as_json or not out.is_terminal:
        time.sleep(interval)
        after = described(dispatcher, timeout)
        rate = rates(first, after)
        if as_json:
            say_json({"dispatcher": dispatcher, **asdict(rate), "census": asdict(after.census)})
        else:
            out.print(_page(dispatcher, after, rate))
        return
    try:
        with Live(console=out, screen=True, auto_refresh=False) as live:
            for page in _pages(dispatcher, first, interval, timeout):
                live.update(page, refresh=True)
    except KeyboardInterrupt:
        pass


def _pages(dispatcher: str, before: Description, interval: float, timeout: float) -> Iterator[RenderableType]:
    yield Text(f"looking at {dispatcher} for {show_duration(interval)} ...")
    while True:
        time.sleep(interval)
        try:
            after = described(dispatcher, timeout)
        except Unreachable as error:
            yield Text(f"{error.message}\n\nstill trying; Ctrl-C ends this", style="red")
            continue
        yield _page(dispatcher, after, rates(before, after))
        before = after


def _page(dispatcher: str, told: Description, rate: Rates) -> RenderableType:
    census = told.census
    head = Text.assemble(
        (f"dispatcher {dispatcher}", "bold"),
        f"  up {show_duration(told.up_ns / 1e9)}, {census.workers} workers, {census.readers} readers\n",
        f"{rate.elements_per_s:,.0f} elements/s, {show_size(rate.bytes_per_s)}/s, {rate.leases_per_s:,.1f} leases/s; ",
        (_SIDES[rate.bottleneck], "red" if rate.bottleneck == "workers" else ""),
        "\n",
    )
    readers = [
        (str(r.id), r.job, _share(r.waiting), f"{r.elements_per_s:,.0f}", f"{show_size(r.bytes_per_s)}/s")
        for r in rate.readers
    ]
    workers = [
        (w.address, w.state, heard(w.silent_ns), str(w.tasks), str(w.lanes), str(w.leased)) for w in told.workers
    ]
    numbers = ("waits", "elements/s", "bytes/s", "tasks", "lanes", "splits")
    return Group(
        head,
        table("readers", ("reader", "job", "waits", "elements/s", "bytes/s"), readers, numbers),
        Text(),
        table("workers", ("worker", "state", "heard", "tasks", "lanes", "splits"), workers, numbers),
    )


def _share(waiting: float | None) -> str:
    return "?" if waiting is None else f"{waiting:.0%}"
