"""The file of a recording: it is read as it was written, and damage anywhere is found, and told where."""

from __future__ import annotations

import pytest

from tfsvc.flight.births import WorkerBirth
from tfsvc.flight.codec import Codec
from tfsvc.flight.format import (
    DamagedRecordingError,
    Header,
    commands_line,
    event_line,
    header_line,
    read,
)
from tfsvc.protocol.contract import Synced, Woke
from tfsvc.protocol.settings import WorkerSettings

CODEC = Codec(b"", bodies=True)
BIRTH = WorkerBirth(WorkerSettings("w:1", "d:1"), 3, 99)
HEADER = Header("worker", "w:1", 3, 1, 0, 1000, 2000, "here", True, BIRTH)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.flight"
    path.write_bytes(
        header_line(HEADER, CODEC)
        + event_line(1, 1001, Woke(), CODEC)
        + commands_line(1, ["Call:1", "Note:2"])
        + event_line(2, 1002, Synced(5), CODEC)
    )
    return path


def test_it_is_read_as_it_was_written(file):
    flight = read(file)
    assert flight.header == HEADER
    assert flight.entries == ((1, 1001, Woke(), ("Call:1", "Note:2")), (2, 1002, Synced(5), None))


def test_damage_at_every_byte_is_found(file):
    whole = file.read_bytes()
    starts = [0] + [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedRecordingError) as caught:
            read(file)
        assert str(file) in caught.value.message
        assert caught.value.offset in starts
        assert caught.value.offset <= place


def test_a_file_that_is_cut_short_is_refused_and_can_be_read_so_far(file):
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        complete = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
        if size in complete[1:]:
            assert read(file).damage is None
        else:
            with pytest.raises(DamagedRecordingError, match=r"cut short|empty"):
                read(file)
            if size > complete[1]:
                flight = read(file, partial=True)
                assert flight.damage is not None
                assert flight.damage.offset == max(end for end in complete if end < size)
                assert len(flight.entries) <= 2


def test_lines_that_are_out_of_place_are_refused(file):
    whole = file.read_bytes()
    head, first, said, second = whole.splitlines(keepends=True)
    for wrong in (head + second, head + said, head + first + first, head + head, first):
        file.write_bytes(wrong)
        with pytest.raises(DamagedRecordingError):
            read(file)


def test_a_recording_of_another_version_is_refused_by_name(file):
    from tfsvc.flight.format import _line

    file.write_bytes(_line({"flight": 99}))
    with pytest.raises(DamagedRecordingError, match="version 99, and this tfsvc reads version 1"):
        read(file)
