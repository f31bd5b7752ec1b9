"""``tfsvc journal``: what is in it, whether it is whole, and what its exit code says."""

from __future__ import annotations

import json
import threading
import time
from itertools import count

import pytest
from click.testing import CliRunner

from tests.unit.updates import UPDATES
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.history import shorten
from tfsvc.protocol.splits import Lease, Span, SplitPosition
from tfsvc.wire.segments import Log
from tfsvc_transports import compaction
from tfsvc_transports.bucket import BucketShelf
from tfsvc_transports.commands.journal import journal
from tfsvc_transports.segment_store import SegmentStore
from tfsvc_transports.sqlite_shelf import FILE, SqliteShelf

RECORDS = [
    u.RegisterDataset("1000", m.DatasetDef(program=b"p" * 100), m.DataServiceMetadata()),
    u.RegisterWorker("host:1", 1, (), (), 0),
    u.CreateJob(5000, "epochs", "1000", m.ShardingPolicy.DYNAMIC, None, False, m.TargetWorkers.AUTO, ""),
    u.CreateIteration(2000, 5000, 0, 7),
    u.AcquireClient(2000, 3000, ""),
    u.CreateTask(4000, 2000, "host:1"),
    u.OpenLane(6000, 2000, 4000, 3000),
    u.LeaseSplits(6000, Lease(0, SplitPosition(0, 0), (Span(0, 16),))),
]
_names = count()


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(journal, arguments)
    return done.exit_code, done.output


def write(shelf, *groups):
    store = SegmentStore(shelf, shorten)
    store.read()
    for group in groups:
        store.write(group)
    while any(thread.name == "tfsvc-compaction" for thread in threading.enumerate()):
        time.sleep(0.001)
    store.close()


@pytest.fixture
def path(tmp_path):
    write(SqliteShelf(str(tmp_path)), RECORDS[:3], RECORDS[3:])
    return str(tmp_path)


@pytest.fixture
def url():
    name = f"memory://commands{next(_names)}"
    write(BucketShelf(name), RECORDS[:3], RECORDS[3:])
    return name


def test_records_are_printed_in_order_with_their_numbers(path):
    code, out = run("dump", path)
    assert code == 0
    lines = [line.split(maxsplit=2) for line in out.splitlines() if not line.startswith("log/")]
    assert [(int(number), kind) for number, kind, _ in lines] == [
        (number, type(record).__name__) for number, record in enumerate(RECORDS, 1)
    ]
    assert f"program={b'p' * 24!r}... (100 bytes)" in out
    assert "policy=DYNAMIC" in out


def test_every_kind_of_record_can_be_printed(tmp_path):
    write(SqliteShelf(str(tmp_path)), UPDATES)
    code, out = run("dump", "--json", str(tmp_path))
    assert code == 0
    assert [json.loads(line)["kind"] for line in out.splitlines()] == [type(update).__name__ for update in UPDATES]
    assert run("dump", str(tmp_path))[0] == 0


def test_a_snapshot_is_printed_too(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "DUE", 20)
    write(SqliteShelf(str(tmp_path)), RECORDS, [u.DecideCompression("1000", True)])
    code, out = run("dump", "--json", str(tmp_path))
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert (records[-1]["kind"], records[-1]["number"]) == ("ReserveIds", None)
    assert run("verify", str(tmp_path))[0] == 0


def test_a_whole_journal_is_verified_and_what_is_open_is_told(path, url):
    for place in (path, url):
        code, out = run("verify", "--json", place)
        said = json.loads(out)
        assert code == 0
        assert said.pop("last_written_by").startswith("process ")
        assert said == {
            "journal": place,
            "whole": True,
            "segments": 3,
            "records": 8,
            "records_to_recover": 8,
            "datasets": 1,
            "workers": ["host:1"],
            "named_jobs": ["epochs"],
            "open_iterations": 1,
            "readers": 1,
            "open_lanes": 1,
            "leased_splits": 16,
        }
    assert "named jobs: [epochs]\n" in run("verify", path)[1]


def test_a_torn_journal_says_where(url):
    shelf = BucketShelf(url)
    name = str(Log(3))
    (body,) = shelf.get([name])
    shelf.delete([name])
    shelf.put(name, body[:-1])
    code, out = run("verify", "--json", url)
    said = json.loads(out)
    assert code == 1
    assert said["whole"] is False
    assert f"{name}: cannot decode a segment of a journal: it is cut short" in said["problem"]
    assert said["readable"] == f"3 records before {name}"
    code, out = run("dump", url)
    assert code == 1
    assert "RegisterDataset" in out
    assert f"{name}  CANNOT BE READ" in out
    assert json.loads(run("dump", "--json", url)[1].splitlines()[-1])["segment"] == name


def test_a_gap_is_told(url):
    BucketShelf(url).delete([str(Log(2))])
    code, out = run("verify", url)
    assert code == 1
    assert f"{Log(2)} is missing" in out
    assert run("dump", url)[0] == 1


def test_what_is_no_journal_is_refused(tmp_path, path):
    assert run("verify", str(tmp_path / "none")) == (
        2,
        f"Error: there is no journal in '{tmp_path}/none': {FILE} is not there\n",
    )
    assert not (tmp_path / "none").exists()
    assert run("dump", "ftp://host/path")[0] == 2
    holder = SqliteShelf(path)
    code, out = run("verify", path)
    holder.close()
    assert (code, "another dispatcher is using" in out) == (2, True)
