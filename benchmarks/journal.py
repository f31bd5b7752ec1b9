"""What a dispatcher's journal costs: recovery of a million records, and leased splits a second with it on.

    python -m benchmarks.journal [--records 1000000] [--rounds 5] [--bucket s3://bucket/path]

The journals lie in a temporary directory, or in the bucket. Printed are medians, and the range.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from queue import SimpleQueue

from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import Append, Asked, Event, Reply, Synced
from tfsvc.protocol.dispatcher.history import shorten
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPlan, SplitPosition
from tfsvc_transports.compaction import Shorten
from tfsvc_transports.journal import GroupJournal
from tfsvc_transports.places import open_shelf
from tfsvc_transports.segment_store import SegmentStore, read_journal

GROUP = 64
"""How many records become durable together."""
LANES = 64
SPLITS = 16
"""How many a lane is leased at a time."""


def opening() -> list[u.Update]:
    """A dataset, a worker, a job, a reader, and lanes for it."""
    definition = m.DatasetDef(program=b"p" * 1000, plans=(SplitPlan(None),))
    lanes = [u.OpenLane(6000 + lane, 2000, 4000, 3000) for lane in range(LANES)]
    return [
        u.RegisterDataset("1000", definition, m.DataServiceMetadata()),
        u.RegisterWorker("worker:1", 1, (), (), 0),
        u.CreateJob(5000, "job", "1000", m.ShardingPolicy.DYNAMIC, None, False, m.TargetWorkers.AUTO, ""),
        u.CreateIteration(2000, 5000, 0, 7),
        u.AcquireClient(2000, 3000, ""),
        u.CreateTask(4000, 2000, "worker:1"),
        *lanes,
    ]


def reading() -> Iterator[u.Update]:
    """What is recorded while lanes are read: a lease, a checkpoint behind it, and that it was taken."""
    for turn in count():
        for lane in range(LANES):
            lo, at = (turn * LANES + lane) * SPLITS, SplitPosition(0, turn * SPLITS)
            yield u.LeaseSplits(6000 + lane, Lease(0, at, (Span(lo, lo + SPLITS),)))
            yield u.SaveCheckpoint(6000 + lane, Checkpoint(turn * SPLITS, (at,)))
            yield u.AdvanceLane(6000 + lane, turn * SPLITS, False)


def write(work_dir: str, records: int, shorten_: Shorten | None) -> float:
    """Writes a journal of so many records; gives the seconds that it took."""
    store = SegmentStore(open_shelf(work_dir), shorten_)
    store.read()
    began = time.monotonic()
    store.write(opening())
    rest, left = reading(), records - len(opening())
    while left > 0:
        store.write(list(islice(rest, min(GROUP, left))))
        left -= GROUP
    taken = time.monotonic() - began
    store.close()
    return taken


def recover(work_dir: str) -> tuple[float, int]:
    """Seconds until a dispatcher is folded from a journal, and from how many records."""
    gc.collect()
    began = time.monotonic()
    shelf = open_shelf(work_dir)
    found = read_journal(shelf, lambda updates: list(shorten(updates)))
    Dispatcher(DispatcherSettings(), "d", 1, Luck(0, "d"), found.updates)
    taken = time.monotonic() - began
    shelf.close()
    return taken, found.snapshot + found.tail


class Leasing:
    """A dispatcher with its journal, and workers that ask for more as soon as they are answered.

    The journal begins with what the dispatcher knows, so that it is compacted meanwhile like any other.

    Args:
      work_dir: where the journal lies, which must be empty.
    """

    def __init__(self, work_dir: str) -> None:
        self.leased = 0
        store = SegmentStore(open_shelf(work_dir))
        store.read()
        store.write(opening())
        store.close()
        self._journal = GroupJournal(SegmentStore(open_shelf(work_dir), shorten))
        found = self._journal.recover()
        self._machine = Gate(Dispatcher(DispatcherSettings(), "d", 1, Luck(0, "d"), found), len(found))
        self._synced: SimpleQueue[Synced] = SimpleQueue()
        self._at = dict.fromkeys(range(LANES), 0)

    def run(self, seconds: float) -> float:
        """Leased splits a second, counted when the worker is told of them."""
        self._journal.open(lambda upto: self._synced.put(Synced(upto)), lambda error: print(error.message))
        for lane in range(LANES):
            self._ask(lane)
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            self._handle(self._synced.get())
        taken = time.monotonic() - began
        self._journal.close()
        return self.leased / taken

    def _ask(self, lane: int) -> None:
        at = SplitPosition(0, self._at[lane])
        request = m.LeaseSplitsRequest(6000 + lane, 1, 0, at, SPLITS, Checkpoint(self._at[lane], (at,)))
        self._handle(Asked(CallId("w", 1, lane), Address("w"), request))

    def _handle(self, event: Event) -> None:
        for command in self._machine.handle(event, time.monotonic_ns()):
            match command:
                case Append(number, update):
                    self._journal.append(number, update)
                case Reply(call, m.LeaseSplitsResponse(lease)):
                    got = sum(span.size for span in lease.spans)
                    self.leased += got
                    self._at[call.seq] += got
                    self._ask(call.seq)
                case _:
                    raise AssertionError(command)


def told(title: str, measure: Callable[[], float], rounds: int, unit: str) -> None:
    """Measures so many times, and prints the median and the range."""
    found = sorted(measure() for _ in range(rounds))
    print(f"{title:<62} {statistics.median(found):>10,.2f} {unit} ({found[0]:,.2f} to {found[-1]:,.2f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="long enough that the journal is compacted")
    parser.add_argument(
        "--bucket", help="measure there and not in a directory; a path below it is made for each journal"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        places = (f"{asked.bucket or directory}/journal{number}" for number in count())
        for name, short in (("compacted as it is written", shorten), ("never compacted", None)):
            place = next(places)
            seconds = write(place, asked.records, short)
            _, kept = recover(place)
            title = f"{asked.records:,} records, {name}"
            print(f"{title}: written in {seconds:.1f} s; {kept:,} of them are left")
            told("  recovery", lambda place=place: recover(place)[0], asked.rounds, "s")
        title = f"{LANES} lanes, {SPLITS} splits a lease"
        told(title, lambda: Leasing(next(places)).run(asked.seconds), asked.rounds, "splits/s")


if __name__ == "__main__":
    main()
