"""The demonstration on real processes: three workers tokenise, one is killed half-way, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table

from tfsvc.examples.tally import Tally
from tfsvc.examples.tokens import token_counts
from tfsvc.protocol.dispatcher.machine import DispatcherView
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.service.distribute import distribute
from tfsvc_transports.backends import grpc
from tfsvc_transports.nodes import ServerNode

WORKERS = 3


def run(files: list[str], expected: Tally, plain_seconds: float) -> bool:
    """Streams the blocks of ``files`` to this process; whether they are exactly those ``expected``."""
    console = Console()
    console.print(f"[bold]The same on {WORKERS} worker processes[/], DYNAMIC sharding by file, over gRPC:")
    server = grpc().start_dispatcher("localhost", 0, DispatcherSettings())
    target = f"grpc://localhost:{server.port}"
    with ExitStack() as stack, _worker_processes(target) as workers:
        stack.callback(server.stop)
        _wait_for_workers(server)
        dataset = token_counts(files).apply(distribute(ShardingPolicy.DYNAMIC, target))
        tally = Tally()
        victim: int | None = None
        total = len(expected.seen)
        started = time.monotonic()
        with _progress(console) as progress:
            bars = _Bars(progress, list(workers), total)
            for element in dataset:
                tally.add(element)
                bars.show(tally)
                if victim is None and sum(tally.by_process.values()) >= total // 2:
                    victim = int(element["process"])
                    os.kill(victim, signal.SIGKILL)
                    bars.mark_killed(victim)
        seconds = time.monotonic() - started
        again = sum(_view(server).leased_again.values())
    _print_table(console, tally, victim, again)
    return _print_verdict(console, tally, expected, seconds, plain_seconds)


@contextmanager
def _worker_processes(target: str) -> Iterator[dict[int, subprocess.Popen[bytes]]]:
    """Worker processes by their ids; none is left behind, however this process ends."""
    command = [sys.executable, "-m", "tfsvc", "worker", target, "--with-parent"]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(WORKERS)]
    try:
        yield {process.pid: process for process in running}
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.communicate()


def _view(server: ServerNode) -> DispatcherView:
    view = server.view()
    assert isinstance(view, DispatcherView)
    return view


def _wait_for_workers(server: ServerNode, timeout_s: float = 60.0) -> None:
    until = time.monotonic() + timeout_s
    while len(_view(server).workers) < WORKERS:
        if time.monotonic() > until:
            raise TimeoutError(f"{len(_view(server).workers)} of {WORKERS} workers registered in {timeout_s:g} s")
        time.sleep(0.05)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(40),
        MofNCompleteColumn(),
        console=console,
        refresh_per_second=10,
        disable=not console.is_terminal,
    )


class _Bars:
    """One bar a worker."""

    def __init__(self, progress: Progress, processes: list[int], total: int) -> None:
        self._progress = progress
        self._bars: dict[int, TaskID] = {
            pid: progress.add_task(f"worker {number} (process {pid})", total=total)
            for number, pid in enumerate(processes, 1)
        }

    def show(self, tally: Tally) -> None:
        for pid, bar in self._bars.items():
            self._progress.update(bar, completed=tally.by_process[pid])

    def mark_killed(self, pid: int) -> None:
        bar = self._bars[pid]
        text = self._progress.tasks[bar].description
        self._progress.update(bar, description=f"[red]{text}, killed")


def _print_table(console: Console, tally: Tally, victim: int | None, again: int) -> None:
    table = Table(title="elements delivered")
    table.add_column("worker")
    table.add_column("elements", justify="right")
    for pid, count in sorted(tally.by_process.items()):
        table.add_row(f"process {pid}{' (killed by SIGKILL)' if pid == victim else ''}", f"{count:,}")
    table.add_row("together", f"{sum(tally.by_process.values()):,}", style="bold")
    console.print(table)
    console.print(f"splits leased again after the kill: {again}")


def _print_verdict(console: Console, tally: Tally, expected: Tally, seconds: float, plain_seconds: float) -> bool:
    lost, repeated = tally.lost(expected), tally.repeated(expected)
    same = bool((tally.counts == expected.counts).all())
    console.print(f"lost {lost}, repeated {repeated}")
    console.print(
        f"token counts {'equal' if same else 'DIFFER FROM'} those of the plain loop ({tally.tokens:,} tokens)"
    )
    console.print(
        f"{seconds:.1f} s against {plain_seconds:.1f} s: speed-up {plain_seconds / seconds:.2f} "
        f"on {os.cpu_count()} cores, kill and recovery included\n"
    )
    return lost == 0 and repeated == 0 and same
