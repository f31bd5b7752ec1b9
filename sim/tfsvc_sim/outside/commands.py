"""``tfsvc sim``: scenarios are listed, played, swept over seeds, shrunk and played again."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

import click

from tfsvc.units import DURATION
from tfsvc_sim.judging.claims import Claim
from tfsvc_sim.outside.auditor import AmbientError
from tfsvc_sim.outside.proof import prove
from tfsvc_sim.playing.files import KINDS, Story, found, load, to_file
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.scenario import Scenario
from tfsvc_sim.playing.script import to_script
from tfsvc_sim.playing.seeds import ENGINES, SWARM, Source, Tally, heap_world, problems_of, sweep
from tfsvc_sim.playing.show import options, show
from tfsvc_sim.playing.shrink import Shrunk, shrink, still_fails
from tfsvc_sim.playing.swarm import draw

T = TypeVar("T")

GALLERY: Final = Path("scenarios/gallery")
_ELSEWHERE: Final = "The gallery is in a checkout of tfsvc: go there, or name another folder."
SHOWN: Final = 3
"""Failing seeds that are told in full."""

gallery_option = click.option(
    "--gallery",
    type=click.Path(path_type=Path, file_okay=False),
    default=GALLERY,
    show_default=True,
    help="Where scenarios are found by name.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def sim() -> None:
    """Plays clusters that crash, in a world that is a function of a seed.

    SCENARIO is a file (.py, .toml or .json), the name of one in the gallery, or the number of a random one.
    """


@sim.command("list")
@click.argument("folder", type=click.Path(path_type=Path), default=GALLERY)
def list_(folder: Path) -> None:
    """Lists the scenarios in FOLDER, with what each must come to."""
    if folder == GALLERY and not folder.is_dir():
        raise _Unusable(f"there is no folder {folder}. {_ELSEWHERE}")
    stories = _checked(lambda: list(found(folder)))
    width = max((len(story.name) for story in stories), default=0)
    for story in stories:
        click.echo(f"{story.name:{width}}  [{story.scenario.outcome.value}]  {story.title}")


@sim.command()
@click.argument("scenario")
@gallery_option
@click.option("--seed", type=int, help="Another seed than the scenario's own.")
@click.option("--trace", is_flag=True, help="Tell every event.")
@click.option("--prove", "proof", is_flag=True, help="Play it again in other places too: the trace must be the same.")
@click.option("--page", "page_path", type=click.Path(path_type=Path), help="Write the run's page there.")
def run(scenario: str, gallery: Path, seed: int | None, trace: bool, proof: bool, page_path: Path | None) -> None:
    """Plays SCENARIO and tells what happened.

    Exits with 1 if anything was not as it must be.
    """
    story = _find(scenario, gallery)
    chosen = story.scenario if seed is None else replace(story.scenario, seed=seed)
    click.echo(f"{story.title}\n")
    code = _checked(lambda: show(chosen, story.claims, trace, page_path, story.title))
    sys.exit(code or (_proved(chosen) if proof else 0))


@sim.command("report")
@click.argument("scenario")
@gallery_option
@click.option("--seed", type=int, help="Another seed than the scenario's own.")
@click.option("--output", type=click.Path(path_type=Path), help="Where to write it; SCENARIO.html here if not given.")
def report_(scenario: str, gallery: Path, seed: int | None, output: Path | None) -> None:
    """Plays SCENARIO and writes a page for a browser: who said what to whom, who held and took what.

    Exits with 1 if anything was not as it must be.
    """
    story = _find(scenario, gallery)
    chosen = story.scenario if seed is None else replace(story.scenario, seed=seed)
    path = output or Path(f"{story.name}.html")
    sys.exit(_checked(lambda: show(chosen, story.claims, page_path=path, title=story.title)))


def _proved(scenario: Scenario) -> int:
    try:
        problems = prove([scenario])
    except AmbientError as error:
        problems = [str(error)]
    for problem in problems:
        click.echo(problem)
    if not problems:
        click.echo("proved: the same trace again, on the other engine, and in another process with another hash seed")
    return 1 if problems else 0


@sim.command("sweep")
@click.argument("scenario", required=False)
@gallery_option
@click.option("--seeds", type=click.IntRange(min=1), default=1000, show_default=True, help="How many.")
@click.option("--start", type=click.IntRange(min=0), default=0, help="The first seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Processes.")
@click.option("--engine", type=click.Choice(sorted(ENGINES)), default="heap", show_default=True, help="Whose time.")
def sweep_(scenario: str | None, gallery: Path, seeds: int, start: int, jobs: int, engine: str) -> None:
    """Plays SCENARIO under many seeds; without one, another random cluster, workload and faults for each.

    Exits with 1 if a run fails, or if a kind of fault, a mark or a claim that should have been met never was: what
    did not happen was not shown.
    """
    source = Source(None if scenario is None else _file(scenario, gallery))
    sys.exit(0 if report(range(start, start + seeds), jobs, engine, source) else 1)


def report(seeds: range, jobs: int, engine: str, source: Source = SWARM) -> bool:
    """Sweeps and prints what came of it; whether every run was clean and everything was met."""
    began = time.monotonic()
    total = Tally()
    for tally in sweep(seeds, jobs, engine, source):
        total.add(tally)
        for seed, problems in list(tally.failed.items())[: max(0, SHOWN + len(tally.failed) - len(total.failed))]:
            _print_failure(seed, problems, source)
    spent = time.monotonic() - began
    click.echo(
        f"{total.clean} seeds clean, {len(total.failed)} failed, in {spent:.0f} s: {len(seeds) / spent:.0f} seeds/s"
    )
    if len(total.failed) > SHOWN:
        click.echo(f"failed: {', '.join(map(str, sorted(total.failed)))}")
    click.echo(f"{total.events} events, {total.taken} elements taken\n")
    for name in source.wanted():
        click.echo(f"  {total.seen[name]:7} seeds: {name}")
    missing = total.missing(source)
    if missing:
        click.echo(f"\nnever met in {len(seeds)} seeds, and so not shown: {', '.join(missing)}. Play more seeds.")
    return not total.failed and not missing


def _print_failure(seed: int, problems: Sequence[str], source: Source) -> None:
    click.echo(f"seed {seed} FAILED")
    for problem in problems:
        click.echo(f"  {problem}")
    again = f"run {source.file} --seed {seed}" if source.file is not None else f"run {seed}"
    click.echo(f"  see it again: tfsvc sim {again}; make it small: tfsvc sim {again.replace('run', 'shrink', 1)}")


@sim.command("shrink")
@click.argument("scenario")
@gallery_option
@click.option("--seed", type=int, help="Another seed than the scenario's own.")
@click.option("--seconds", type=DURATION, default="60s", show_default=True, help="How long to try.")
@click.option("--output", type=click.Path(path_type=Path), help="Write OUTPUT.py and OUTPUT.json.")
def shrink_(scenario: str, gallery: Path, seed: int | None, seconds: float, output: Path | None) -> None:
    """Finds the smallest scenario that fails as SCENARIO does, and prints it as a script that runs.

    Exits with 2 if it does not fail.
    """
    story = _find(scenario, gallery)
    chosen = story.scenario if seed is None else replace(story.scenario, seed=seed)
    problems = problems_of(chosen, claims=story.claims)
    if not problems:
        raise _Unusable("nothing is wrong with it, so there is nothing to shrink")
    small = shrink_for(chosen, problems, seconds, story.claims)
    script, record = left_behind(small.scenario, story)
    if output is None:
        click.echo(script)
    else:
        for suffix, text in ((".py", script), (".json", record)):
            output.with_suffix(suffix).write_text(text)
            click.echo(f"wrote {output.with_suffix(suffix)}")
    click.echo(f"# {small.runs} runs{'' if small.finished else '; time ran out, and it may be smaller still'}")


def shrink_for(
    scenario: Scenario,
    problems: Sequence[str],
    seconds: float,
    claims: Sequence[Claim] = (),
    play_it: Callable[[Scenario], Sequence[str]] | None = None,
) -> Shrunk:
    """The smallest scenario found in so many seconds that has a problem of the same kind."""
    ends = time.monotonic() + seconds
    fails = still_fails(problems, play_it or (lambda candidate: problems_of(candidate, claims=claims)))
    return shrink(scenario, fails, lambda: time.monotonic() < ends)


def left_behind(scenario: Scenario, story: Story) -> tuple[str, str]:
    """A failing scenario as a script and as a JSON file, with the claims of the story that it came from."""
    problems = problems_of(scenario, claims=story.claims)
    title = problems[0].splitlines()[0] if problems else "Nothing is wrong here any more."
    try:
        digest = play(scenario, heap_world).digest
    except Exception:
        digest = ""  # a run that a machine's own check ended
    return (
        to_script(scenario, title, problems, story.claims_of),
        to_file(scenario, title, problems, digest, story.claims_of),
    )


@sim.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def replay(file: Path) -> None:
    """Plays a run again that was left behind in FILE; it must come to the same, event by event.

    Exits with 1 if it fails as it did, with 0 if it is clean, and with 3 if it is another run by now.
    """
    story = _checked(lambda: load(file))
    click.echo(f"{story.title}\n")
    code = show(story.scenario, story.claims)
    try:
        digest = play(story.scenario, heap_world).digest
    except Exception:
        digest = ""
    if story.digest and digest != story.digest:
        click.echo(f"the code has changed since: its trace was {story.digest[:16]}")
        code = 3
    sys.exit(code)


class _Unusable(click.ClickException):
    """What was asked for makes no sense; the message says why."""

    exit_code = 2


def _checked(do: Callable[[], T]) -> T:
    try:
        return do()
    except ValueError as error:
        raise _Unusable(str(error)) from error


def _file(scenario: str, gallery: Path) -> Path:
    """The file that is meant."""
    for path in (Path(scenario), *(gallery / f"{scenario}{suffix}" for suffix in KINDS)):
        if path.is_file():
            return path
    shows = "`tfsvc sim list` shows what there is." if gallery.is_dir() else f"There is no such folder. {_ELSEWHERE}"
    raise _Unusable(f"there is no file {scenario}, and no scenario of that name in {gallery}. {shows}")


def _find(scenario: str, gallery: Path) -> Story:
    if scenario.isdecimal():
        drawn = draw(int(scenario))
        return Story(scenario, "\n".join((f"What seed {scenario} drew:", *options(drawn))), drawn)
    path = _file(scenario, gallery)
    return _checked(lambda: load(path))
