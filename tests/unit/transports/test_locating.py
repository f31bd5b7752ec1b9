"""A peer that is looked up: once, and again when it was not reached."""

from __future__ import annotations

from typing import Any

import pytest

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.ids import Address
from tfsvc.protocol.messages import GetVersionRequest, GetVersionResponse
from tfsvc_transports.locating import Locating

FINE = GetVersionResponse(1)


class Scripted:
    """A transport that notes whom it was to call, and answers as it was told to."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.answer: Any = FINE

    def serve(self, host, port, handler):
        return port

    def call(self, peer, request, timeout_ns, done):
        self.called.append(peer)
        done(self.answer)

    def close(self):
        self.called.append("closed")


@pytest.fixture
def file(tmp_path):
    found = tmp_path / "address"
    found.write_text("d:1\n")
    return found


def ask(locating, peer):
    answers = []
    locating.call(Address(peer), GetVersionRequest(), 1, answers.append)
    (answer,) = answers
    return answer


def test_an_address_is_called_as_it_is():
    direct = Scripted()
    assert ask(Locating(direct), "d:7") is FINE
    assert direct.called == ["d:7"]


@pytest.mark.parametrize("outcome", [Outcome.UNREACHED, Outcome.UNKNOWN])
def test_a_peer_that_was_not_reached_is_looked_up_again(file, outcome):
    direct = Scripted()
    locating = Locating(direct)
    assert ask(locating, f"file:{file}") is FINE
    file.write_text("d:2\n")
    direct.answer = RpcError(Code.UNAVAILABLE, "gone", outcome)
    assert ask(locating, f"file:{file}") == direct.answer
    direct.answer = FINE
    assert ask(locating, f"file:{file}") is FINE
    assert direct.called == ["d:1", "d:1", "d:2"]


def test_a_peer_that_refuses_is_where_it_was_thought_to_be(file):
    direct = Scripted()
    locating = Locating(direct)
    direct.answer = RpcError(Code.NOT_FOUND, "no such job")
    ask(locating, f"file:{file}")
    file.write_text("d:2\n")
    ask(locating, f"file:{file}")
    assert direct.called == ["d:1", "d:1"]


def test_a_file_that_is_away_for_a_while_changes_nothing(file):
    direct = Scripted()
    locating = Locating(direct)
    direct.answer = RpcError(Code.UNAVAILABLE, "gone", Outcome.UNREACHED)
    ask(locating, f"file:{file}")
    file.unlink()
    ask(locating, f"file:{file}")
    file.write_text("d:2\n")
    ask(locating, f"file:{file}")
    assert direct.called == ["d:1", "d:1", "d:2"]


def test_a_peer_of_which_nothing_is_known_was_not_reached(tmp_path):
    direct = Scripted()
    answer = ask(Locating(direct), f"file:{tmp_path}/none")
    assert (answer.code, answer.outcome) == (Code.UNAVAILABLE, Outcome.UNREACHED)
    assert answer.retriable
    assert not ask(Locating(direct), "env:NOBODY_SETS_THIS").retriable
    assert direct.called == []
