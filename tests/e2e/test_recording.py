"""Flight recorders of real processes, one of which is killed: everything is played again, seen and made a test."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from tfsvc.service.config import DispatcherConfig, WorkerConfig
from tfsvc.service.servers import DispatchServer, WorkerServer
from tfsvc_sim import page
from tfsvc_sim.flight.replay_commands import replay as command
from tfsvc_sim.flight.replaying import find, replay
from tfsvc_sim.page.recording import Fate, SpanKind

READER = """
import os, signal, sys
import tfsvc as tf

service = tf.data.experimental.service
dataset = tf.data.Dataset.range(3000).map(lambda x: x * 3)
dataset = dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, sys.argv[1]))
taken = []
for value in dataset:
    taken.append(int(value))
    if len(taken) == 50:
        os.kill(int(sys.argv[2]), signal.SIGKILL)
assert sorted(taken) == [3 * i for i in range(3000)], len(taken)
"""


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, "-m", "tfsvc", *arguments], stdout=subprocess.PIPE, text=True)
        self.said = self.process.stdout.readline()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The recordings of a dispatcher with a journal, two workers and a reader that kills one of them."""
    folder = tmp_path_factory.mktemp("flight")
    journal = tmp_path_factory.mktemp("journal")
    record = ("--record", str(folder))
    dispatcher = Server("dispatcher", "--port", "0", "--work-dir", str(journal), *record)
    target = re.search(r"grpc://(\S+)", dispatcher.said)[0]
    workers = [Server("worker", target.removeprefix("grpc://"), *record) for _ in range(2)]
    try:
        done = subprocess.run(
            [sys.executable, "-c", READER, target, str(workers[1].process.pid)],
            env={**os.environ, "TFSVC_RECORD_DIR": str(folder)},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
    finally:
        for server in (*workers, dispatcher):
            server.end()
    return folder


def test_all_lives_are_the_same_again(recorded):
    lives = find([recorded], partial=True)
    roles = Counter(life.header.role for life in lives)
    assert (roles["dispatcher"], roles["worker"], roles["reader"]) == (1, 2, 1)
    assert roles["caller"] >= 1
    for life in lives:
        found = replay(life)
        assert found.good, (str(life), found.difference, found.problems)
        assert found.events > 1
    reader = next(life for life in lives if life.header.role == "reader")
    assert len(replay(reader).takings) == 3000


def test_what_belongs_to_users_is_not_in_the_files(recorded):
    for path in recorded.iterdir():
        assert b"cloudpickle" not in path.read_bytes()
        assert b"program" not in path.read_bytes()


def test_the_page_shows_what_happened(recorded, tmp_path):
    recording, _ = page.recording_of(find([recorded], partial=True))
    assert not recording.problems
    arrived = [message for message in recording.messages if message.fate is Fate.ARRIVED]
    assert len(arrived) > len(recording.messages) / 2, "both ends of most calls were recorded"
    assert all(message.heard for message in arrived)
    workers = {i for i, node in enumerate(recording.nodes) if node.role == "worker"}
    lanes = {span.node for span in recording.spans if span.kind is SpanKind.LANE}
    assert lanes
    assert lanes <= workers
    assert sum(taking.count for taking in recording.takings) == 3000
    assert any("leased_again" in belief.text for belief in recording.beliefs)
    assert page.write(recording, tmp_path / "run.html").stat().st_size > 10_000


def test_the_command_replays_shows_and_makes_a_test(recorded, tmp_path):
    told = CliRunner().invoke(
        command,
        [str(recorded), "--partial", "--page", str(tmp_path / "run.html"), "--perfetto", str(tmp_path / "run.json")]
        + ["--to-test", str(tmp_path / "test_killed_worker.py")],
    )
    assert told.exit_code == 0, told.output
    lives = len(find([recorded], partial=True))
    assert told.output.count("the same again") == lives
    assert "3,000 elements given" in told.output
    assert "traceEvents" in json.loads((tmp_path / "run.json").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "test_killed_worker.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert f"{lives} passed" in done.stdout, done.stdout


def test_damage_is_told_with_its_place(recorded, tmp_path):
    path = next(recorded.glob("reader-*"))
    copy = tmp_path / path.name
    whole = path.read_bytes()
    copy.write_bytes(whole[: len(whole) // 2])
    told = CliRunner().invoke(command, [str(copy)])
    assert told.exit_code == 2
    assert re.search(r"the recording \S+ is damaged in line \d+, from byte \d+ on: it is cut short", told.output)
    told = CliRunner().invoke(command, [str(copy), "--partial"])
    assert told.exit_code == 0
    assert "up to damage" in told.output


def test_a_dispatcher_in_a_process_of_its_own_is_recorded(tmp_path):
    config = DispatcherConfig(own_process=True, worker_addresses=["localhost:%port%"], record_dir=str(tmp_path))
    server = DispatchServer(config)
    worker = WorkerServer(WorkerConfig(server.target.removeprefix("grpc://"), record_dir=str(tmp_path)))
    worker.stop()
    server.stop()
    lives = find([tmp_path])
    assert {life.header.role for life in lives} == {"dispatcher", "worker"}
    assert all(replay(life).good for life in lives)
    assert lives[0].header.birth.settings.worker_addresses == ("localhost:%port%",)


def test_the_command_is_installed():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    module, name = project["project"]["entry-points"]["tfsvc.commands"]["replay"].split(":")
    assert getattr(import_module(module), name) is command
