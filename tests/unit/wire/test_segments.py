"""Segments: what was written is read, whatever else is refused, and the journal is found among names."""

from __future__ import annotations

import pytest

from tests.unit.updates import UPDATES
from tfsvc.errors import DataLossError
from tfsvc.wire.segments import Life, Log, Part, Segment, checksum, decode_segment, encode_segment, parse_name, plan

SEGMENT = Segment(7, 1000, 2**32 - 1, "process 1 on a host", tuple(UPDATES))
BODY = encode_segment(SEGMENT)


def found(*names):
    return plan([str(name) for name in names], "here")


def test_every_kind_of_record_is_read_as_it_was_written():
    assert decode_segment(BODY) == SEGMENT


def test_equal_segments_have_equal_bytes():
    assert encode_segment(SEGMENT) == BODY
    assert checksum(BODY) == int.from_bytes(BODY[8:12], "little")


def test_a_segment_cut_at_any_byte_is_refused():
    for size in range(len(BODY)):
        with pytest.raises(DataLossError, match="cannot decode a segment of a journal"):
            decode_segment(BODY[:size])


def test_a_segment_with_a_bit_changed_is_refused():
    for at in range(len(BODY)):
        changed = bytearray(BODY)
        changed[at] ^= 1 << at % 8
        with pytest.raises(DataLossError):
            decode_segment(bytes(changed))


@pytest.mark.parametrize("name", [Log(1), Life(10**19), Part(3, 2, 0, False), Part(3, 2, 999_999, True)])
def test_a_name_says_what_it_is(name):
    assert parse_name(str(name)) == name


@pytest.mark.parametrize("name", ["", "log/1", "log/0000000000000000000x", "snapshot/1", f"{Log(1)}~", "notes.txt"])
def test_a_name_of_something_else_is_none(name):
    assert parse_name(name) is None


def test_names_sort_in_the_order_of_the_journal():
    assert sorted(map(str, [Log(10), Log(9), Log(100)])) == [str(Log(9)), str(Log(10)), str(Log(100))]


def test_an_empty_place_is_an_empty_journal():
    assert found() == (0, (), (), ())


def test_a_journal_is_the_newest_whole_snapshot_and_the_logs_behind_it():
    old, new = Part(2, 1, 0, True), [Part(4, 1, 0, False), Part(4, 1, 1, True)]
    unfinished = Part(5, 1, 0, False)
    names = [Log(6), unfinished, *reversed(new), old, Log(5), Log(4), Log(3), Life(1), "notes.txt"]
    assert found(*names) == (4, tuple(new), (Log(5), Log(6)), (Log(3), Log(4), old))


def test_a_snapshot_without_one_of_its_parts_is_none():
    parts = [Part(2, 1, 0, False), Part(2, 1, 1, False), Part(2, 1, 2, True)]
    for missing in parts:
        rest = [part for part in parts if part != missing]
        assert found(Log(1), Log(2), *rest) == (0, (), (Log(1), Log(2)), ())


def test_parts_of_two_lives_make_no_snapshot():
    assert found(Log(1), Log(2), Part(2, 1, 0, False), Part(2, 2, 1, True)).base == 0


def test_the_first_log_of_a_life_is_never_stale():
    assert found(Life(2), Log(1), Log(2), Log(3), Part(3, 2, 0, True)).stale == (Log(1), Log(3))


@pytest.mark.parametrize("names", [[Log(2)], [Log(1), Log(3)], [Log(3), Part(1, 1, 0, True)]])
def test_a_missing_log_is_told(names):
    with pytest.raises(DataLossError, match=r"is missing, and log/0+[23] is there"):
        found(*names)
