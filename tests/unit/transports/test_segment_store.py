"""The store of a journal, the same on every shelf: order, recovery, compaction, and one owner at a time."""

from __future__ import annotations

import itertools
import threading
import time

import pytest

from tests.unit.transports.buckets import new_bucket, s3_server
from tests.unit.updates import UPDATES
from tfsvc.errors import DataLossError, FailedPreconditionError, NotFoundError, ResourceExhaustedError
from tfsvc.protocol.dispatcher.history import shorten
from tfsvc.protocol.updates import LoseWorker, RegisterWorker
from tfsvc.wire.segments import Log, Part, parse_name
from tfsvc_transports import compaction
from tfsvc_transports.bucket import BucketShelf
from tfsvc_transports.segment_store import SegmentStore, read_journal
from tfsvc_transports.shelf import MemoryShelf
from tfsvc_transports.sqlite_shelf import SqliteShelf

_names = itertools.count()


@pytest.fixture(scope="session")
def s3():
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture(params=["sqlite", "memory", "memory://", "file://", "s3://"])
def shelf(request, tmp_path):
    """Opens one and the same place, again and again."""
    match request.param:
        case "sqlite":
            return lambda: SqliteShelf(str(tmp_path / "deep" / "er"))
        case "memory":
            objects = {}
            return lambda: MemoryShelf(objects)
        case "memory://":
            url = f"memory://test{next(_names)}"
        case "file://":
            url = f"file://{tmp_path}/deep/er"
        case _:
            url = f"s3://{new_bucket(request.getfixturevalue('s3'))}/some/path"
    return lambda: BucketShelf(url)


def come_and_go(number):
    """Two records that together change nothing."""
    return [RegisterWorker(f"w{number}", 1, (), (), 0), LoseWorker(f"w{number}")]


@pytest.fixture
def quick(monkeypatch):
    """Compacts every few records, in parts of two."""
    monkeypatch.setattr(compaction, "DUE", 60)
    monkeypatch.setattr(compaction, "PART", 2)


def settle():
    """Waits until nothing is being compacted."""
    give_up = time.monotonic() + 10
    while any(thread.name == "tfsvc-compaction" for thread in threading.enumerate()):
        assert time.monotonic() < give_up
        time.sleep(0.001)


def test_a_later_life_reads_what_was_written(shelf):
    for part in (UPDATES[:7], UPDATES[7:8], UPDATES[8:]):
        store = SegmentStore(shelf())
        store.read()
        store.write(part)
        store.close()
    store = SegmentStore(shelf())
    assert store.read() == UPDATES
    store.close()


def test_an_empty_place_is_an_empty_journal(shelf):
    store = SegmentStore(shelf())
    assert store.read() == []
    store.close()


def test_a_journal_is_compacted_while_it_is_written(shelf, quick):
    place = shelf()
    store = SegmentStore(place, shorten)
    store.read()
    everything = []
    for number in range(150):
        some = come_and_go(number) if number % 10 else [RegisterWorker(f"stays{number}", 1, (), (), 0)]
        store.write(some)
        settle()
        everything += some
    assert any(isinstance(parse_name(name), Part) for name in place.names())
    store.close()
    again = SegmentStore(shelf(), shorten)
    records = again.read()
    assert len(records) < 100
    assert list(shorten(records)) == list(shorten(everything))
    again.close()


def test_compacting_goes_on_in_the_next_life(shelf, quick):
    for life in range(4):
        store = SegmentStore(shelf(), shorten)
        assert len(store.read()) < 150
        for number in range(30):
            store.write(come_and_go(f"{life}/{number}"))
            settle()
        store.close()
    place = shelf()
    assert read_journal(place).records == 4 * 30 * 2
    place.close()


def test_objects_of_others_are_left_alone(shelf, quick):
    place = shelf()
    place.put("notes.txt", b"mine")
    store = SegmentStore(place, shorten)
    assert store.read() == list(shorten([]))
    for number in range(60):
        store.write(come_and_go(number))
    store.close()
    place = shelf()
    assert list(place.get(["notes.txt"])) == [b"mine"]
    place.close()


def test_what_is_not_there_is_told(shelf):
    place = shelf()
    with pytest.raises(NotFoundError):
        list(place.get([str(Log(1))]))
    assert not place.has(str(Log(1)))
    place.delete([str(Log(1))])
    place.close()


unlocked = pytest.mark.parametrize("shelf", ["memory", "memory://", "file://", "s3://"], indirect=True)
"""Where a place has no lock, whoever comes last has it."""


@unlocked
def test_the_first_is_fenced_when_it_writes(shelf):
    first = SegmentStore(shelf())
    first.read()
    first.write(UPDATES[:2])
    second = SegmentStore(shelf())
    assert second.read() == UPDATES[:2]
    with pytest.raises(FailedPreconditionError, match=r"another dispatcher \(process \d+ on .*\) has taken over"):
        first.write(UPDATES[2:3])
    second.write(UPDATES[2:4])
    assert SegmentStore(shelf()).read() == UPDATES[:4]


@unlocked
def test_the_first_is_fenced_while_it_is_idle(shelf):
    first = SegmentStore(shelf())
    first.read()
    first.check()
    SegmentStore(shelf()).read()
    with pytest.raises(FailedPreconditionError, match="has taken over"):
        first.check()


@unlocked
def test_one_that_slept_long_is_fenced_although_all_it_knew_was_compacted(shelf, quick):
    sleeper = SegmentStore(shelf(), shorten)
    sleeper.read()
    sleeper.write(UPDATES[2:3])
    second = SegmentStore(shelf(), shorten)
    second.read()
    for number in range(20):
        second.write(come_and_go(number))
        settle()
    assert str(Log(3)) in shelf().names(), "the first log of a life stays"
    assert str(Log(4)) not in shelf().names()
    with pytest.raises(FailedPreconditionError, match="has taken over"):
        sleeper.write(UPDATES[:1])
    with pytest.raises(FailedPreconditionError, match="has taken over"):
        sleeper.check()


def written(*groups):
    """The objects of a journal of these groups."""
    place = MemoryShelf()
    store = SegmentStore(place)
    store.read()
    for group in groups:
        store.write(group)
    return place.objects


def test_a_put_whose_answer_was_lost_is_not_a_second_owner():
    class Forgetful(MemoryShelf):
        def put(self, name, body):
            super().put(name, body)
            return False

    store = SegmentStore(Forgetful())
    store.read()
    store.write(UPDATES[:2])
    store.check()


def test_a_journal_cut_at_any_byte_is_refused():
    """A shelf takes an object whole or not at all, so that half of one is damage and no unfinished write."""
    objects = written(UPDATES[2:4], UPDATES[:2])
    for name in [name for name in objects if name.startswith("log")]:
        for size in range(len(objects[name])):
            with pytest.raises(DataLossError, match=f"the journal in this process is damaged: {name}"):
                SegmentStore(MemoryShelf({**objects, name: objects[name][:size]})).read()


def test_a_journal_without_its_last_segments_is_what_it_was_before():
    """That is how it looks when a dispatcher dies before a write: a prefix, group by group."""
    groups = [UPDATES[:2], UPDATES[2:4], UPDATES[4:6]]
    objects = written(*groups)
    for kept in range(4):
        names = [str(Log(number)) for number in range(1, kept + 2)]
        some = {name: objects[name] for name in names}
        assert SegmentStore(MemoryShelf(some)).read() == [update for group in groups[:kept] for update in group]


@pytest.mark.parametrize("change", ["lose", "swap", "repeat"])
def test_segments_out_of_place_are_told(change):
    objects = written(*([update] for update in UPDATES[:4]))
    second, third = str(Log(2)), str(Log(3))
    if change == "lose":
        del objects[second]
    elif change == "swap":
        objects[second], objects[third] = objects[third], objects[second]
    else:
        objects[third] = objects[second]
    with pytest.raises(DataLossError, match="damaged"):
        SegmentStore(MemoryShelf(objects)).read()


def test_a_segment_of_another_journal_is_told():
    mine, other = written(UPDATES[:1], UPDATES[1:2]), written(UPDATES[2:3], UPDATES[3:4])
    name = str(Log(3))
    with pytest.raises(DataLossError, match=f"{name} does not go on from what is before it"):
        SegmentStore(MemoryShelf({**mine, name: other[name]})).read()


def test_a_place_that_is_full_for_a_while_is_compacted_later(quick, caplog):
    class Full(MemoryShelf):
        full = True

        def put(self, name, body):
            if self.full and isinstance(parse_name(name), Part):
                raise ResourceExhaustedError(message="no room")
            return super().put(name, body)

    place = Full()
    store = SegmentStore(place, shorten)
    store.read()
    for number in range(20):
        store.write(come_and_go(number))
        settle()
    assert "the journal in this process could not be compacted: no room. It is whole, but it grows" in caplog.text
    place.full = False
    for number in range(40):
        store.write(come_and_go(number))
        settle()
    store.close()
    assert any(isinstance(parse_name(name), Part) for name in place.names())
    assert SegmentStore(place).read()


def test_an_error_of_our_own_is_told_and_the_journal_goes_on_whole(quick, caplog):
    """It is tried again when there are as many records once more, not with each that comes."""
    tried = []

    def failing(updates):
        tried.append(len(updates))
        if len(tried) < 4:
            raise KeyError(6000)
        return shorten(updates)

    place = MemoryShelf()
    store = SegmentStore(place)
    store.read()
    store.close()
    store = SegmentStore(place, lambda updates: failing(updates) if isinstance(updates, list) else shorten(updates))
    store.read()
    everything = []
    for number in range(40):
        group = [update for each in range(50) for update in come_and_go(f"{number}/{each}")]
        store.write(group)
        settle()
        everything += group
    store.close()
    told = [record for record in caplog.records if "could not be compacted" in record.message]
    assert len(told) == 3
    text = "the journal in this process could not be compacted: KeyError: 6000 (an error of tfsvc's own). It is whole"
    assert text in told[0].message
    assert told[0].exc_info
    assert tried[:4] == [101, 201, 401, 801], "an empty state has one record"
    assert any(isinstance(parse_name(name), Part) for name in place.names()), "it succeeds in the end"
    assert list(shorten(SegmentStore(place).read())) == list(shorten(everything))


@pytest.mark.parametrize("steps", range(9))
def test_a_crash_at_any_step_of_compacting_loses_nothing(quick, steps):
    """The compacting life ends at its ``steps``-th change, be it a part or something that goes."""

    class Dying(MemoryShelf):
        left = steps

        def step(self):
            if not self.left:
                raise DataLossError(message="it is dead")
            self.left -= 1

        def put(self, name, body):
            if isinstance(parse_name(name), Part):
                self.step()
            return super().put(name, body)

        def delete(self, names):
            for name in names:
                self.step()
                super().delete([name])

    place = Dying()
    store = SegmentStore(place, shorten)
    store.read()
    everything = []
    for number in range(12):
        group = [RegisterWorker(f"w{number % 5}", number, (), (), 0)]
        store.write(group)
        settle()
        everything += group
    store.close()
    assert list(shorten(SegmentStore(place).read())) == list(shorten(everything))
