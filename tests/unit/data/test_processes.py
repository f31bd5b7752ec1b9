"""map in processes: what comes out, what fails, what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, plain, start
from tfsvc.data import AUTOTUNE, Dataset
from tfsvc.data.experimental import in_processes, seeded
from tfsvc.data.processes import pool as pools
from tfsvc.data.processes.pool import Packed, Pool, Share, shared
from tfsvc.errors import InvalidArgumentError, UnavailableError
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPosition, Starved
from tfsvc.specs import TensorSpec

pytestmark = pytest.mark.xdist_group("processes")


def mapped(count: int, function: Any, calls: int | None = 2) -> Dataset:
    return Dataset.range(count).map(in_processes(function), calls)


def test_results_keep_their_order_and_come_from_other_processes() -> None:
    found = elements(mapped(300, lambda x: (x * 2, os.getpid())), 300)
    assert [x for x, _ in found] == list(range(0, 600, 2))
    assert os.getpid() not in {pid for _, pid in found}
    assert mapped(3, lambda x: (x * 2, "a")).element_spec == (TensorSpec((), "int64"), TensorSpec((), "string"))


def test_any_element_travels() -> None:
    rows: list[Any] = [
        (1, {"a": b"text", "b": np.zeros((2, 0), np.float32)}),
        (np.arange(6).reshape(2, 3).T, {"a": "é", "b": np.array(["x", "yz"], object)}),
        (np.ones(100_000)[::2], {"a": b"", "b": np.float16(1)}),
    ]
    for row in rows:
        dataset = Dataset.from_tensors(row)
        assert elements(dataset.map(in_processes(lambda *e: e))) == elements(dataset)
    windows = Dataset.range(4).window(2).map(in_processes(lambda w: w.map(lambda x: x + 1)), 1)
    assert [elements(window) for window in windows] == [[1, 2], [3, 4]]


def test_results_of_one_call_do_not_hold_those_of_others() -> None:
    first = next(iter(mapped(50, lambda x: np.full(8, x))))
    assert first.base is None or first.base.nbytes < 1000


def fragile(x: Any) -> Any:
    if x == 2:
        raise KeyError("two")
    return x + 1


def test_a_failure_stands_in_its_place_and_says_where_it_was_raised() -> None:
    iterator = start(mapped(4, fragile))
    assert [plain(iterator.next()) for _ in range(2)] == [1, 2]
    with pytest.raises(KeyError, match="two") as caught:
        iterator.next()
    (note,) = caught.value.__notes__
    assert "test_processes.py" in note
    assert "in fragile" in note
    assert drain(iterator) == [4]
    behind = Dataset.range(4).map(fragile).map(in_processes(lambda x: x), AUTOTUNE)
    assert drain(start(behind)) == [1, 2, "KeyError", 4]


class LocalError(Exception):
    def __init__(self, one: Any, two: Any) -> None:
        super().__init__(f"{one} and {two}")


def test_what_cannot_be_sent_is_a_failure_of_its_elements() -> None:
    def unpicklable(x: Any) -> Any:
        raise LocalError(x, 1)

    def stops(x: Any) -> Any:
        raise StopIteration

    def ends(x: Any) -> Any:
        sys.exit("enough")

    with pytest.raises(Exception, match="0 and 1"):
        start(mapped(1, unpicklable)).next()
    with pytest.raises(InvalidArgumentError, match="raised StopIteration"):
        start(mapped(1, stops)).next()
    with pytest.raises(SystemExit, match="enough"):
        start(mapped(1, ends)).next()


def test_a_function_that_needs_what_the_process_has_not_says_so() -> None:
    class Unreadable:
        def __reduce__(self) -> Any:
            return eval, ("1 / 0",)

    obstacle = Unreadable()
    with pytest.raises(InvalidArgumentError, match="cannot be read in its process: ZeroDivisionError"):
        start(mapped(1, lambda x: (obstacle, x)[1])).next()


def test_elements_on_their_way_are_saved() -> None:
    dataset = Dataset.range(40).map(fragile).map(in_processes(lambda x: x * 10), 2)
    iterator = start(dataset)
    assert plain(iterator.next()) == 10
    restored = start(dataset)
    restored.load(iterator.save())
    rest = [20, *range(40, 401, 10)]
    assert drain(restored) == [rest[0], "UnknownError", *rest[1:]]
    assert drain(iterator) == [rest[0], "KeyError", *rest[1:]]


def test_a_chunk_that_was_given_in_part_is_saved_in_part() -> None:
    dataset = mapped(2000, lambda x: x)
    iterator = start(dataset)
    for _ in range(700):
        iterator.next()
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator) == list(range(700, 2000))


def test_blocks_and_single_elements_mix() -> None:
    iterator = start(mapped(3000, lambda x: x))
    found: list[Any] = []
    while len(found) < 2990:
        block = iterator.block(5)
        found.extend([plain(iterator.next())] if block is None else map(plain, block.elements()))
        found.append(plain(iterator.next()))
    assert found + drain(iterator) == list(range(3000))


def test_what_is_ready_comes_before_more_splits_are_asked_for() -> None:
    feed = SplitFeed(0)
    feed.add(Lease(0, SplitPosition(0, 0), (Span(0, 2),)))
    iterator = start(Dataset.range(9).map(in_processes(lambda x: x), 4), feed)
    assert [plain(iterator.next()) for _ in range(2)] == [0, 1]
    with pytest.raises(Starved):
        iterator.next()
    feed.add(Lease(0, SplitPosition(0, 2), (Span(5, 6),), ended=True))
    assert drain(iterator) == [5]


def test_random_numbers_are_the_elements_own_in_any_process() -> None:
    def draw(x: Any, rng: np.random.Generator) -> Any:
        return x, rng.integers(1 << 30)

    source = Dataset.range(50)
    expected = elements(source.map(seeded(draw, 3)))
    assert elements(source.map(in_processes(seeded(draw, 3)), 2)) == expected
    assert elements(source.map(seeded(in_processes(draw), 3))) == expected


def test_the_first_ready_comes_first_where_that_is_wished() -> None:
    def slow_first(x: Any) -> Any:
        time.sleep(1.5 * (x == 0))
        return x

    found = elements(Dataset.range(2).map(in_processes(slow_first), 2, deterministic=False))
    assert sorted(found) == [0, 1]


def test_a_process_that_ends_is_replaced_and_its_elements_are_tried_again(tmp_path: Any) -> None:
    def dies_once(x: Any) -> Any:
        mark = tmp_path / "died"
        if x == 20 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    assert elements(mapped(40, dies_once)) == list(range(40))


def test_a_function_that_ends_every_process_is_reported() -> None:
    def dies(x: Any) -> Any:
        if x == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    assert drain(start(mapped(6, dies))) == [0, 1, 2, "UnavailableError", 4, 5]
    with pytest.raises(UnavailableError, match=r"'dies' \(test_processes.py:\d+\) .* killed by signal 9, 3 times"):
        list(mapped(6, dies))


def test_a_killed_process_is_no_hang() -> None:
    def slow(x: Any) -> Any:
        time.sleep(0.05)
        return x

    iterator = iter(mapped(20, slow))
    found = [plain(next(iterator))]
    for pid in shared().processes:
        os.kill(pid, signal.SIGKILL)
    assert found + list(map(plain, iterator)) == list(range(20))


def test_processes_are_shared_and_end_when_there_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(idle_s=0.3)
    monkeypatch.setattr(pools, "_pool", pool)
    datasets = [iter(mapped(30, lambda x: x, 2)) for _ in range(3)]
    for iterator in datasets:
        next(iterator)
    assert 1 <= len(pool.processes) <= 2
    pids = pool.processes
    deadline = time.monotonic() + 20
    while pool.processes and time.monotonic() < deadline:
        time.sleep(0.05)
    assert pool.processes == ()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert [plain(x) for x in datasets[0]] == list(range(1, 30))
    pool.close()


def test_nobody_has_more_processes_than_were_asked_for() -> None:
    def pid(x: Any) -> int:
        time.sleep(0.02)
        return os.getpid()

    assert len(set(elements(mapped(12, pid, 2)))) == 2
    assert len(set(elements(mapped(12, pid, 1)))) == 1


def test_what_was_asked_for_and_is_not_wanted_any_more_is_not_done() -> None:
    pool = Pool()
    function = Packed.of(lambda x: time.sleep(0.5))
    running, waiting = (pool.submit(Share(1), function, [[(1,)]], False) for _ in range(2))
    assert waiting.cancel()
    assert running.result(30).failed
    pool.close()


def alive(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            continue
        if state != "Z":
            found.append(pid)
    return found


SCRIPT = """
    import os, signal, sys, time
    import grpc
    import tfsvc as tf
    from tfsvc.data.processes.pool import shared

    channel = grpc.insecure_channel("localhost:1")
    grpc.channel_ready_future(channel)
    # No `if __name__ == "__main__"`: the script is not run again in the processes.
    def f(x):
        time.sleep({sleep})
        return x

    it = iter(tf.data.Dataset.range(100).map(tf.data.experimental.in_processes(f), 2))
    if {sleep} < 1:
        print(next(it), flush=True)
    else:
        # Two that are in the middle of a call.
        import threading
        threading.Thread(target=next, args=(it,), daemon=True).start()
        while len(shared().processes) < 2:
            time.sleep(0.05)
        time.sleep(0.5)
    print(*shared().processes, flush=True)
    {end}
"""


@pytest.mark.parametrize("sleep", [0.01, 60])
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)"])
def test_nothing_is_left_behind(end: str, sleep: float) -> None:
    script = textwrap.dedent(SCRIPT.format(end=end, sleep=sleep))
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert not ran.stderr
    pids = [int(word) for word in ran.stdout.splitlines()[-1].split()]
    assert pids
    deadline = time.monotonic() + 10
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(pids) == []


def test_a_fork_leaves_the_processes_to_its_parent() -> None:
    iterator = iter(mapped(200, lambda x: x))
    next(iterator)
    child = os.fork()
    if not child:
        code = 1
        try:
            found = [int(x) for x in mapped(5, lambda x: x)]
            code = 0 if found == list(range(5)) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [plain(x) for x in iterator] == list(range(1, 200))
