"""Commands that show a cluster: what they print, and with what they exit."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tfsvc.errors import FailedPreconditionError, UnavailableError, UnimplementedError
from tfsvc.protocol.messages import Description
from tfsvc.protocol.messages import description as d
from tfsvc_transports.commands import targets
from tfsvc_transports.commands.jobs import jobs
from tfsvc_transports.commands.snapshot import snapshot
from tfsvc_transports.commands.status import status
from tfsvc_transports.commands.top import top
from tfsvc_transports.commands.verdict import problems

S = 10**9
WELL = Description(
    incarnation=1,
    up_ns=60 * S,
    recommended_workers=3,
    census=d.Census(workers=2, jobs=2, iterations=1, readers=1, lanes=2),
    workers=(
        d.WorkerDescription("w1:1", 1, True, "live", ("gpu",), silent_ns=S // 2, tasks=1, lanes=1, leased=7),
        d.WorkerDescription("w2:1", 1, True, "draining", silent_ns=None),
    ),
    datasets=(d.DatasetDescription("1000", True, 100, 1, 64),),
    jobs=(
        d.JobDescription(5000, "train", False, "1000", "DYNAMIC", "independent", "EXACTLY_ONCE", "AUTO", None, 2),
        d.JobDescription(5001, "anonymous_job_5001_7", True, "1000", "OFF", "independent", "EXACTLY_ONCE", "AUTO"),
    ),
    iterations=(d.IterationDescription(2000, 5000, 2, readers=1, tasks=2, lanes=2, splits=14, splits_again=3),),
    readers=(d.ReaderDescription(3000, 2000, True, S),),
)


@pytest.fixture
def told(monkeypatch):
    """Has commands be told of a cluster; an error is raised."""

    def tell(*answers):
        asked = []

        def describe(service, rows_max, timeout):
            asked.append((service, timeout))
            answer = answers[min(len(asked), len(answers)) - 1]
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(targets, "describe", describe)
        return asked

    return tell


def run(command, *arguments, **environment):
    done = CliRunner().invoke(command, arguments, env={"TFSVC_DISPATCHER": None, **environment})
    return done.exit_code, done.output


def test_status_of_a_cluster_that_is_well(told):
    told(WELL)
    code, said = run(status, "d:1")
    assert code == 0
    assert "dispatcher d:1 up 1 min" in said
    assert "2 workers (3 would keep all readers busy), 2 jobs, 1 open iterations, 1 readers" in said
    rows = [line.split() for line in said.splitlines()]
    assert ["w1:1", "live", "500", "ms", "ago", "1", "1", "7", "gpu"] in rows
    assert ["w2:1", "draining", "not", "yet", "0", "0", "0"] in rows


def test_json_has_all_that_the_dispatcher_tells(told):
    told(WELL)
    code, said = run(status, "d:1", "--json")
    assert code == 0
    found = json.loads(said)
    assert found["dispatcher"] == "d:1"
    assert found["problems"] == []
    assert found["workers"][0]["address"] == "w1:1"
    assert found["census"]["workers"] == 2


def test_the_dispatcher_may_be_in_the_environment(told):
    asked = told(WELL)
    assert run(status, "--timeout", "250ms", TFSVC_DISPATCHER="e:1")[0] == 0
    assert asked == [("e:1", 0.25)]
    code, said = run(status)
    assert (code, "Missing argument 'DISPATCHER'. Give an address" in said, "TFSVC_DISPATCHER" in said) == (
        2,
        True,
        True,
    )


SILENT = replace(WELL.workers[0], state="silent", silent_ns=8 * S)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(WELL, workers=(SILENT,)), ("worker w1:1 has not been heard for 8 s", "no live worker")),
        (replace(WELL, workers=()), ("job train is read and there is no live worker",)),
        (
            replace(WELL, snapshots=(d.SnapshotDescription("/s", "failed", "disk full"),)),
            ("the snapshot at /s has failed: disk full",),
        ),
        (
            replace(WELL, iterations=(replace(WELL.iterations[0], shards=4, shards_lost=1),)),
            ("job train has lost 1 of 4 shards",),
        ),
        (replace(WELL, iterations=(replace(WELL.iterations[0], splits_given_up=5),)), ("given up 5 splits",)),
    ],
)
def test_what_is_wrong_is_told_and_is_the_exit_code(told, wrong, words):
    found = problems(wrong)
    assert len(found) == len(words)
    for text, word in zip(found, words, strict=True):
        assert word in text
    told(wrong)
    code, said = run(status, "d:1")
    assert (code, said.count("problem:")) == (1, len(words))


def test_status_waits_for_workers(told):
    asked = told(WELL, replace(WELL, workers=(WELL.workers[0], replace(WELL.workers[1], state="live"))))
    assert run(status, "d:1", "--workers", "2", "--timeout", "5s")[0] == 0
    assert len(asked) == 2
    code, said = run(status, "d:1", "--workers", "9", "--timeout", "200ms")
    assert (code, "2 of 9 workers are there after 200 ms" in said) == (4, True)


@pytest.mark.parametrize("command", [status, jobs, top])
@pytest.mark.parametrize(
    ("error", "expected", "word"),
    [
        (UnavailableError(message="connection refused"), 3, "`tfsvc doctor d:1`"),
        (FailedPreconditionError(message="not now"), 1, "not now"),
        (ValueError("Malformed address"), 1, "Malformed"),
        (UnimplementedError(message=""), 1, "d:1 is TensorFlow's dispatcher, an older one, or a worker"),
    ],
)
def test_who_does_not_answer_is_told_in_one_line(told, command, error, expected, word):
    told(error)
    code, said = run(command, "d:1")
    assert (code, said.count("\n")) == (expected, 1)
    assert said.startswith("Error: ")
    assert word in said


def test_jobs(told):
    told(WELL)
    code, said = run(jobs, "d:1")
    rows = [line.split() for line in said.splitlines()]
    assert code == 0
    assert ["train", "DYNAMIC", "independent", "2", "1", "2", "2", "14", "64", "3", "being", "read"] in rows
    assert ["(anonymous)", "OFF", "independent", "not", "read", "yet"] in rows
    (first, second) = json.loads(run(jobs, "d:1", "--json")[1])["jobs"]
    assert (first["name"], first["splits_total"], first["iterations"][0]["consumers"][0]["id"]) == ("train", 64, 3000)
    assert second["iterations"] == []
    told(replace(WELL, iterations=(), jobs=tuple(replace(job, finished=n) for n, job in enumerate(WELL.jobs, 1))))
    assert [line.split()[-3:] for line in run(jobs, "d:1")[1].splitlines()[1:]] == [
        ["1", "iteration", "read"],
        ["2", "iterations", "read"],
    ]
    told(Description())
    assert run(jobs, "d:1") == (0, "no jobs\n")


def test_top_without_a_terminal_prints_once(told):
    told(WELL, replace(WELL, up_ns=61 * S, tally=d.Tally(elements=500)))
    code, said = run(top, "d:1", "--interval", "1ms")
    assert code == 0
    assert "500 elements/s" in said
    assert "\x1b" not in said
    told(WELL, replace(WELL, up_ns=61 * S, tally=d.Tally(elements=500)))
    found = json.loads(run(top, "d:1", "--interval", "1ms", "--json")[1])
    assert (found["elements_per_s"], found["bottleneck"], found["readers"][0]["job"]) == (500.0, "nothing", "train")
    assert run(top, "d:1", "--interval", "0")[0] == 2


def test_snapshots_of_a_dispatcher(told):
    told(replace(WELL, snapshots=(d.SnapshotDescription("/a", "writing", "", 2, 1, 3, 30, 6, 12),)))
    code, said = run(snapshot, "-d", "d:1")
    assert code == 0
    assert ["/a", "writing", "1", "of", "2", "3", "30", "6", "of", "12"] in [line.split() for line in said.splitlines()]
    told(replace(WELL, snapshots=(d.SnapshotDescription("/a", "failed", "disk full"),)))
    code, said = run(snapshot, "-d", "d:1", "--json")
    assert (code, json.loads(said)["snapshots"][0]["error"]) == (1, "disk full")
    told(WELL)
    assert run(snapshot, "-d", "d:1") == (0, "no snapshots\n")
    assert run(snapshot)[0] == 2


def test_a_directory_without_a_snapshot_is_refused(tmp_path):
    code, said = run(snapshot, str(tmp_path))
    assert (code, "There is no distributed snapshot" in said) == (1, True)
