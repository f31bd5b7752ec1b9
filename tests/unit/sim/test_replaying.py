"""Replays find what is not as it was, and what must never be."""

from __future__ import annotations

import pytest

from tfsvc.errors import InvalidArgumentError
from tfsvc.flight.births import DispatcherBirth, ReaderBirth, recovered
from tfsvc.flight.codec import Codec
from tfsvc.flight.format import Header, commands_line, digest, event_line, header_line
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.contract import Answered, Append, Asked, Finish, Step, Synced, Woke
from tfsvc.protocol.dispatcher import workers
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import NEVER, Address, CallId
from tfsvc.protocol.production import Encoding
from tfsvc.protocol.reading import Batch
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings
from tfsvc_sim.flight.incident import write_test
from tfsvc_sim.flight.replaying import find, replay

CODEC = Codec(b"", bodies=True)
DISPATCHER = DispatcherBirth(DispatcherSettings(), "d:1", 1, 7, (), 1000)
HEARTBEAT = m.WorkerHeartbeatRequest("w:1", (m.DataTransferServerInfo("tfsvc", "w:1"),), incarnation=5)


def write(path, birth, events, role="dispatcher"):
    """A recording in which the machine is told of ``events``, one a millisecond; synced as it appends."""
    machine = Gate(birth.role(), recovered(birth))
    lines = [header_line(Header(role, birth.name, birth.incarnation, 1, 0, 0, 0, "here", True, birth), CODEC)]
    todo, number = [Woke(), *events], 0
    while todo:
        event, *todo = todo
        number += 1
        commands = machine.handle(event, number * 1_000_000)
        lines.append(event_line(number, number * 1_000_000, event, CODEC))
        lines.append(commands_line(number, [digest(command, CODEC) for command in commands]))
        todo[:0] = [Synced(command.number) for command in commands if isinstance(command, Append)][-1:]
    path.write_bytes(b"".join(lines))


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "d.flight"
    write(path, DISPATCHER, [Asked(CallId("w", 0, 1), Address("w"), HEARTBEAT), Woke()])
    return path


def test_a_machine_as_it_was_says_the_same(recorded):
    (life,) = find([recorded])
    seen = []
    found = replay(life, watch=seen.append)
    assert found.good, (found.difference, found.problems)
    assert found.events == len(seen) == 5


def test_a_machine_that_has_changed_is_told_by_its_first_difference(recorded, monkeypatch):
    answer = workers.heartbeat
    monkeypatch.setattr(
        workers, "heartbeat", lambda *a: m.WorkerHeartbeatResponse(tasks_to_delete=(99,)) if answer(*a) else None
    )
    (life,) = find([recorded])
    found = replay(life)
    assert (
        "event 4 of dispatcher d:1, life 1, Synced 0.004000 s after its beginning: command 1 differs"
        in found.difference
    )
    assert "tasks_to_delete=(99,)" in found.difference
    assert not found.good


def test_a_machine_that_breaks_is_told_with_the_event(recorded, monkeypatch):
    def broken(*_):
        raise KeyError("worker 1")

    monkeypatch.setattr(workers, "heartbeat", broken)
    (life,) = find([recorded])
    (problem,) = replay(life).problems
    assert "event 3 of dispatcher d:1" in problem
    assert "KeyError: 'worker 1'" in problem


def test_a_dispatcher_that_forgets_to_write_is_found(recorded, monkeypatch):
    heartbeat = workers.heartbeat

    def forgetful(turn, request):
        answer = heartbeat(turn, request)
        turn.updates.clear()
        return answer

    monkeypatch.setattr(workers, "heartbeat", forgetful)
    (life,) = find([recorded])
    assert any("a restart from what it has written would not be where it is" in text for text in replay(life).problems)


def test_an_answer_to_no_call_is_found(tmp_path):
    birth = ReaderBirth(ReadRequest("set", m.ShardingPolicy.DYNAMIC), ClientSettings("d:1"), "r", 1, 7)
    stray = Answered(CallId("r", 1, 99), m.GetVersionResponse(9))
    write(tmp_path / "r.flight", birth, [stray], "reader")
    (life,) = find([tmp_path])
    found = replay(life)
    assert not found.difference
    assert ["call 99 was answered, and was not under way" in text for text in found.problems] == [True]


GAP = (Frame(0, 1), Frame(2, 1))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (ReadRequest("set", m.ShardingPolicy.DYNAMIC), True),
        (ReadRequest("set", m.ShardingPolicy.DATA), True),
        (ReadRequest("set", m.ShardingPolicy.OFF), False),
        (ReadRequest("set", m.ShardingPolicy.DYNAMIC, delivery=m.Delivery.AT_MOST_ONCE), False),
        (ReadRequest("set", m.ShardingPolicy.OFF, coordinated=True), False),
        (ReadRequest("set", m.ShardingPolicy.OFF, trainer_id="a"), False),
    ],
)
def test_gaps_are_found_where_a_reader_has_streams_of_its_own(tmp_path, monkeypatch, wanted, found):
    class Gappy:
        """Hands its application elements 0 and 2."""

        def handle(self, event, now):
            batches = [Batch(1, "w", frame, 0, Encoding.FRAMES) for frame in GAP]
            return Step(words=tuple(Finish(i, batch) for i, batch in enumerate(batches)))

        def deadline(self):
            return NEVER

    monkeypatch.setattr(ReaderBirth, "role", lambda self: Gappy())
    write(tmp_path / "r.flight", ReaderBirth(wanted, ClientSettings("d:1"), "r", 1, 7), [], "reader")
    (life,) = find([tmp_path])
    problems = replay(life).problems
    assert ["element 2 came behind element 0" in text for text in problems] == [True] * found


def test_where_there_is_no_recording_says_what_to_give(tmp_path):
    with pytest.raises(InvalidArgumentError, match="give recordings, or a directory"):
        find([tmp_path / "nowhere"])
    with pytest.raises(InvalidArgumentError, match=r"no recordings \(\*.flight\)"):
        find([tmp_path])


def test_a_recording_becomes_a_test(recorded, tmp_path, monkeypatch):
    lives = find([recorded])
    path = write_test(lives, tmp_path / "tests" / "test_lost_worker.py")
    scope = {"__file__": str(path), "__name__": "incident"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    (life,) = scope["LIVES"]
    scope["test_lost_worker"](life)
    monkeypatch.setattr(workers, "heartbeat", lambda *_: None)
    with pytest.raises(AssertionError, match="the machine broke"):
        scope["test_lost_worker"](life)
    with pytest.raises(InvalidArgumentError, match=r"call it test_<what happened>\.py"):
        write_test(lives, tmp_path / "incident.py")
