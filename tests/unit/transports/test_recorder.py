"""The recorder: what it writes is played again, its files are a ring, and its troubles are its own."""

from __future__ import annotations

import logging
import os

import pytest

from tfsvc.errors import FailedPreconditionError, InvalidArgumentError
from tfsvc.flight.births import WorkerBirth, recovered
from tfsvc.flight.format import read
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Asked, Call, Failed, Woke
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import MILLISECOND, Address, CallId
from tfsvc.protocol.settings import WorkerSettings
from tfsvc_sim.flight.replaying import find, replay
from tfsvc_sim.kernel.network import REFUSED
from tfsvc_transports.recorder import Recorder, Recording, wanted

BIRTH = WorkerBirth(WorkerSettings("w:1", "d:1"), 3, 99)


def live(recorder, events=40, birth=BIRTH):
    """A worker's life on the record, whose dispatcher answers some of its heartbeats."""
    recorder.begin(birth)
    machine = Gate(birth.role(), recovered(birth))
    now, pending = 0, []
    for i in range(events):
        now += 700 * MILLISECOND
        if pending:
            call = pending.pop()
            event = Answered(call, m.WorkerHeartbeatResponse()) if i % 3 else Failed(call, REFUSED)
        elif i % 4 == 3:
            event = Asked(CallId("r", 0, i), Address("r"), m.GetWorkerTasksRequest())
        else:
            event = Woke()
        recorder.event(now, event)
        commands = machine.handle(event, now)
        recorder.commands(machine, commands)
        pending += [command.call for command in commands if isinstance(command, Call)]


def test_a_life_is_played_again(tmp_path):
    recorder = Recorder(Recording(tmp_path))
    live(recorder)
    recorder.close()
    recorder.close()
    (life,) = find([tmp_path])
    found = replay(life)
    assert found.good, (found.difference, found.problems)
    assert found.events == 40
    assert os.stat(life.parts[0].path).st_mode & 0o077 == 0, "it is nobody else's"


def test_long_lives_have_several_files_each_of_which_stands_for_itself(tmp_path):
    recorder = Recorder(Recording(tmp_path, file_bytes=2000))
    live(recorder, 60)
    recorder.close()
    (life,) = find([tmp_path])
    assert len(life.parts) > 3
    assert replay(life).good, "from its birth, without any pickle"
    life.parts[0].path.unlink()
    life.parts[2].path.unlink()
    early, late = find([tmp_path])
    assert [part.header.part for part in early.parts] == [2]
    with pytest.raises(FailedPreconditionError, match="--trust"):
        replay(early)
    for life in (early, late):
        found = replay(life, trust=True)
        assert found.good, (found.difference, found.problems)
        assert found.events > 0


def test_the_directory_is_a_ring(tmp_path):
    recording = Recording(tmp_path, file_bytes=2000, ring_bytes=12_000)
    for incarnation in range(3, 9):
        recorder = Recorder(recording)
        live(recorder, 60, WorkerBirth(BIRTH.settings, incarnation, 99))
        recorder.close()
    files = sorted(tmp_path.iterdir())
    # A line and a pickled machine may go beyond the limit of a file, and nothing else.
    assert sum(path.stat().st_size for path in files) < 2 * recording.ring_bytes
    assert files[-1].name.startswith("worker-w_1-8-")
    assert not [path for path in files if path.name.startswith("worker-w_1-3-")]
    for path in files:
        read(path)


def test_a_disk_that_fails_ends_the_recording_and_nothing_else(tmp_path, monkeypatch, caplog):
    recorder = Recorder(Recording(tmp_path))

    def full(*_):
        raise OSError(28, "No space left on device")

    with caplog.at_level(logging.WARNING, "tfsvc"):
        recorder.begin(BIRTH)
        monkeypatch.setattr("tfsvc_transports.recorder.os.write", full)
        recorder.event(1, Woke())
        recorder.event(2, Woke())
    assert caplog.text.count("w:1 is no longer recorded") == 1


def test_a_directory_that_cannot_be_had_is_told_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidArgumentError, match="cannot record in"):
        Recorder(Recording(tmp_path / "file"))


def test_nothing_is_recorded_unless_asked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("TFSVC_RECORD_DIR", raising=False)
    assert wanted() is None
    monkeypatch.setenv("TFSVC_RECORD_DIR", str(tmp_path))
    assert wanted() == Recording(tmp_path)
    monkeypatch.setenv("TFSVC_RECORD_BODIES", "1")
    assert wanted("elsewhere") == Recording(type(tmp_path)("elsewhere"), bodies=True)
