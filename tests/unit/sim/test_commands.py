"""``tfsvc sim``: what people type, and what they get."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tfsvc_sim.outside.commands import sim
from tfsvc_sim.playing.files import load

ROOT = Path(__file__).parents[3]
GALLERY = ROOT / "scenarios" / "gallery"

HALF_WAY = '''"""A worker dies half-way."""
from tfsvc_sim.judging.claims import sometimes
from tfsvc_sim.faults import Crash, Fault, Taken
from tfsvc_sim.playing.scenario import Scenario, workers
from tfsvc_sim.playing.workloads import Workload

SCENARIO = Scenario(
    workload=Workload("range", 30),
    workers=workers(2),
    faults=(Fault(Crash("worker1"), upon=Taken(15), for_ms=None),),
)
CLAIMS = (sometimes("the first worker dies", lambda world: not world.nodes["worker0"].alive),)
'''
NO_SERVICE = """
title = "Nothing is wrong, and yet no service is expected"
outcome = "no service"
workers = 3
readers = 2

[[faults]]
what = { kind = "Crash", node = "worker2" }
at_ms = 300
upon = { kind = "Taken", nth = 20 }

[[faults]]
what = { kind = "Lose" }
at_ms = 20
"""


def tfsvc_sim(*arguments: object) -> Result:
    return CliRunner().invoke(sim, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def half_way(tmp_path: Path) -> Path:
    path = tmp_path / "half_way.py"
    path.write_text(HALF_WAY)
    return path


def test_a_scenario_is_run_from_a_file_by_name_and_by_number(half_way: Path) -> None:
    done = tfsvc_sim("run", half_way)
    assert done.exit_code == 0
    assert done.output.startswith("A worker dies half-way\n")
    assert "fault: Crash(node=worker1) for good" in done.output
    assert "clean: 30 elements" in done.output
    assert tfsvc_sim("run", "half_way", "--gallery", half_way.parent).output == done.output
    number = tfsvc_sim("run", "7", "--trace")
    assert "What seed 7 drew:" in number.output
    assert "  tempo " in number.output
    assert "GetFrames" in number.output


def test_a_run_tells_which_faults_never_began(half_way: Path) -> None:
    late = half_way.with_name("late.py")
    late.write_text(HALF_WAY.replace("Taken(15)", "Taken(99)"))
    assert "never met, and so not shown: faults[0]" in tfsvc_sim("run", late).output
    assert '"nth": 99' in tfsvc_sim("run", late).output
    assert "never met" not in tfsvc_sim("run", half_way).output


@pytest.mark.parametrize("arguments", [["list"], ["run", "worker_killed_half_way"]])
def test_away_from_a_checkout_the_gallery_is_said_to_be_there(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = tfsvc_sim(*arguments)
    assert done.exit_code == 2
    assert "The gallery is in a checkout of tfsvc" in done.output


def test_a_run_is_proved_elsewhere(half_way: Path) -> None:
    done = tfsvc_sim("run", half_way, "--prove")
    assert done.exit_code == 0, done.output
    assert "proved: the same trace again" in done.output


def test_a_sweep_of_a_file_fails_when_a_claim_is_never_met(half_way: Path) -> None:
    done = tfsvc_sim("sweep", half_way, "--seeds", 3, "--jobs", 1)
    assert done.exit_code == 1
    assert "3 seeds clean, 0 failed" in done.output
    assert "      3 seeds: Crash worker\n" in done.output
    assert "never met in 3 seeds, and so not shown: the first worker dies" in done.output


def test_a_failing_scenario_shrinks_to_files_that_fail_again(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(NO_SERVICE)
    assert tfsvc_sim("run", path).exit_code == 1
    done = tfsvc_sim("shrink", path, "--output", tmp_path / "small")
    assert done.exit_code == 0, done.output
    small = (tmp_path / "small.py").read_text()
    assert "every reader had its end, although there was no service" in small
    assert "Crash" not in small
    again = tfsvc_sim("replay", tmp_path / "small.json")
    assert again.exit_code == 1
    assert "every reader had its end" in again.output
    assert tfsvc_sim("run", tmp_path / "small.py").exit_code == 1


def test_a_report_is_a_page(half_way: Path, tmp_path: Path) -> None:
    done = tfsvc_sim("report", half_way, "--output", tmp_path / "run.html")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "run.html").read_text()
    assert "<html" in page
    assert "A worker dies half-way" in page
    assert "GetFrames" in page


def test_what_is_left_behind_keeps_its_claims(tmp_path: Path) -> None:
    path = tmp_path / "claim.py"
    path.write_text(HALF_WAY.replace("sometimes", "always").replace("not world.nodes", "world.now < 1 and world.nodes"))
    done = tfsvc_sim("shrink", path, "--output", tmp_path / "small")
    assert done.exit_code == 0, done.output
    for suffix in (".py", ".json"):
        again = tfsvc_sim("run", tmp_path / f"small{suffix}")
        assert again.exit_code == 1
        assert "not always: the first worker dies" in again.output


def test_a_record_of_another_run_says_so(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text('{"title": "An old one", "problems": [], "digest": "0123456789abcdef00"}')
    done = tfsvc_sim("replay", path)
    assert done.exit_code == 3
    assert "the code has changed since: its trace was 0123456789abcdef" in done.output


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["run", "no_such"], "no scenario of that name"),
        (["list", "no_such"], "there is no folder no_such"),
        (["shrink", "7"], "nothing is wrong with it"),
        (["replay", "no_such.json"], "there is no file no_such.json"),
    ],
)
def test_what_makes_no_sense_is_refused_with_advice(arguments: list[str], error: str) -> None:
    done = tfsvc_sim(*arguments)
    assert done.exit_code == 2
    assert error in done.output


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        (
            "a.toml",
            "[[faults]]\nwhat = {kind = 'Crahs'}",
            "faults[0].what: there is no kind 'Crahs' (did you mean 'Crash'?)",
        ),
        ("a.toml", "[[faults", "a.toml: "),
        ("a.json", "[]", "it holds no scenario"),
        ("a.json", "{", "a.json: "),
        ("a.py", "'nothing'", "it binds no SCENARIO"),
        ("a.txt", "", "it must end in .py, .toml, .json"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong(tmp_path: Path, name: str, text: str, error: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    done = tfsvc_sim("run", path)
    assert done.exit_code == 2
    assert error in done.output


def test_both_forms_in_the_guide_are_one_scenario(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "scenarios.md").read_text()
    for suffix, language in ((".py", "python"), (".toml", "toml")):
        (tmp_path / f"mine{suffix}").write_text(guide.split(f"```{language}\n")[1].split("```")[0])
    assert load(tmp_path / "mine.py").scenario == load(tmp_path / "mine.toml").scenario
    assert tfsvc_sim("run", tmp_path / "mine.py").exit_code == 0


def test_the_gallery_is_listed_with_its_outcomes() -> None:
    done = tfsvc_sim("list", GALLERY)
    assert done.exit_code == 0
    assert "journal_wiped" in done.output
    assert "[state lost]" in done.output
    assert done.output.count("\n") >= 25
