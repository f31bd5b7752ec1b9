"""Values of the protocol as JSON: what comes back is what was, but for what belongs to users."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import pytest

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.flight.codec import WITHHELD, Codec, Withheld, _all_types, _names, decode
from tfsvc.flight.format import digest
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Asked, Call, Failed, Produced, Reply, Wanted
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.production import Hungry, Production
from tfsvc.protocol.reading import Taken
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPosition

OPEN = Codec(b"", bodies=True)
SHUT = Codec(b"a key")
CALL = CallId("reader0", 2, 7)
FAILED = Frame(2, 1, error=RpcError(Code.UNKNOWN, "x"))


def through(value, codec=OPEN):
    return decode(json.loads(json.dumps(codec.encode(value))))


@pytest.mark.parametrize(
    "value",
    [
        Asked(CALL, Address("reader0"), m.GetFramesRequest(1, 2, 3, 4, 5, 6)),
        Answered(CALL, m.LeaseSplitsResponse(Lease(1, SplitPosition(0, 4), (Span(4, 8), Span(9, 10)), True))),
        Failed(CALL, RpcError(Code.UNAVAILABLE, "gone", Outcome.UNREACHED)),
        Produced(3, Production((Frame(0, 2, b"abc"), FAILED), Hungry(0, SplitPosition(0, 2)))),
        Wanted(9, (Taken(1, 20),)),
        Call(CALL, Address("w"), m.CallRequest("f", (b"\x00\xff", b""), 1, 2), 10),
        Reply(CALL, m.GetElementResponse(b"", end_of_sequence=True)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_comes_back_as_it_was(value):
    assert through(value) == value


def test_what_belongs_to_users_is_withheld():
    event = Answered(CALL, m.GetFramesResponse((Frame(0, 2, b"secret"), Frame(2, 2, memoryview(b"secret"))), True))
    text = json.dumps(SHUT.encode(event))
    assert "secret" not in text
    assert OPEN.encode(event.response.frames[0].body)["b"] not in text
    one, other = through(event, SHUT).response.frames
    assert one.body == other.body
    assert (len(one.body), one.size) == (6, 70)
    assert isinstance(bytes(one.body), Withheld), "a machine that copies a body keeps what it stands for"
    assert one.body != b"secret"


def test_tags_tell_bodies_apart_and_mean_nothing_elsewhere():
    def frame(body, codec=SHUT):
        return through(Frame(0, 1, body), codec).body

    assert frame(b"a") == frame(b"a")
    assert frame(b"a") != frame(b"b")
    assert frame(b"a") != frame(b"a", Codec(b"another key"))
    long = bytes(200_000)
    assert frame(long) == frame(long)
    assert frame(long) != frame(long[:-1] + b"x")
    assert frame(b"") == b"", "machines make empty ones too"


def test_the_digest_of_a_command_is_the_same_with_stand_ins():
    said = Reply(CALL, m.GetFramesResponse((Frame(0, 2, b"secret"),), True))
    assert digest(through(said, SHUT), Codec(b"", bodies=True)) == digest(said, SHUT)
    assert digest(said, SHUT).startswith("Reply:")
    other = Reply(CALL, m.GetFramesResponse((Frame(0, 2, b"secreT"),), True))
    assert digest(other, SHUT) != digest(said, SHUT)


def test_fields_that_a_later_version_adds_get_their_defaults():
    assert decode({"t": ["GetFramesRequest", 1, 2]}) == m.GetFramesRequest(1, 2)
    assert OPEN.encode(Checkpoint()) == {"t": ["Checkpoint"]}


@pytest.mark.parametrize("data", [{"t": ["Nobody"]}, {"t": []}, {"x": 1}, {"t": ["Frame", 1, 2, 3, 4, 5, 6, 7]}])
def test_what_is_no_value_is_refused(data):
    with pytest.raises((TypeError, ValueError)):
        decode(data)


@pytest.mark.parametrize("value", [{1: 2}, object(), [1], 1j])
def test_what_is_not_the_protocols_is_not_recorded(value):
    with pytest.raises(TypeError):
        OPEN.encode(value)


def test_every_message_can_be_recorded():
    modules = [import_module(found.name) for found in walk_packages(m.__path__, f"{m.__name__}.")]
    told = {
        kind for module in modules for kind in vars(module).values() if isinstance(kind, type) and is_dataclass(kind)
    }
    assert len(told) > 100
    assert told - {*_all_types()} == set()


def test_what_is_withheld_is_there():
    kinds = {kind.__name__: kind for kind in _all_types()}
    for name, hidden in WITHHELD.items():
        assert set(hidden) <= set(_names(kinds[name]))
