"""Timers, threads and the pool: what runs when, and that nothing stuck holds up the rest."""

from __future__ import annotations

import threading
import time
import weakref
from functools import partial

import pytest

from tests import soon
from tfsvc.protocol.contract import Produce, Produced
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.production import Production, Ready
from tfsvc_transports import timers
from tfsvc_transports.pool import Pool
from tfsvc_transports.threads import Threads, keep, lend

until = partial(soon.until, seconds=5.0, every=0.002)


def test_timers_run_in_the_order_of_their_instants() -> None:
    ran: list[tuple[int, int]] = []
    start = time.monotonic_ns() + 300 * MILLISECOND  # when all are planned
    for delay in (40, 10, 20, 0):
        due = start + delay * MILLISECOND
        timers.at(due, lambda delay=delay, due=due: ran.append((delay, time.monotonic_ns() - due)))  # type: ignore[misc]
    until(lambda: len(ran) == 4)
    assert [delay for delay, _ in ran] == [0, 10, 20, 40]
    assert all(late >= 0 for _, late in ran)


def test_a_timer_that_fails_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    ran = threading.Event()

    def fail() -> None:
        raise ValueError("no good")

    timers.soon(fail)
    timers.soon(ran.set)
    assert ran.wait(5)
    assert "no good" in caplog.text


def test_results_and_errors_of_calls() -> None:
    threads = Threads("test", 1, 2)
    assert threads.submit(lambda a, b: a + b, 1, b=2).result(5) == 3
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(5)
    threads.shutdown()


def test_threads_come_at_once_without_patience() -> None:
    threads = Threads("test", 1, 10)
    all_there = threading.Barrier(10)
    for future in [threads.submit(all_there.wait) for _ in range(10)]:
        future.result(5)
    threads.shutdown()


def test_work_that_flows_needs_no_more_than_the_base() -> None:
    threads = Threads("test", 2, 10, patience_ns=500 * MILLISECOND)
    seen: set[int] = set()
    for future in [threads.submit(lambda: seen.add(threading.get_ident())) for _ in range(200)]:
        future.result(5)
    assert len(seen) <= 2
    threads.shutdown()


def test_a_queue_that_is_never_empty_flows_all_the_same() -> None:
    threads = Threads("test", 1, 10, patience_ns=100 * MILLISECOND)
    seen: set[int] = set()
    ends = time.monotonic() + 0.5

    def again() -> None:
        seen.add(threading.get_ident())
        time.sleep(0.001)
        if time.monotonic() < ends:
            threads.run(again)

    for _ in range(5):
        threads.run(again)
    time.sleep(0.6)
    assert len(seen) == 1
    threads.shutdown()


def test_stuck_work_holds_up_nothing() -> None:
    threads = Threads("test", 1, 10, patience_ns=20 * MILLISECOND)
    stuck = threading.Event()
    for _ in range(3):
        threads.submit(stuck.wait)
    assert threads.submit(lambda: "done").result(5) == "done"
    stuck.set()
    threads.shutdown()


def test_threads_end_with_their_executor() -> None:
    threads = Threads("ending", 3, 3)
    barrier = threading.Barrier(3)
    for future in [threads.submit(barrier.wait) for _ in range(3)]:
        future.result(5)
    threads.shutdown()
    until(lambda: not any(thread.name.startswith("ending") for thread in threading.enumerate()))


class Pipelines:
    """Stands for the runner: a producer with an odd number blocks until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.log: list[tuple[str, int]] = []
        self.inside: dict[int, int] = {}

    def run(self, command: Produce) -> Production:
        producer = command.producer
        self.inside[producer] = self.inside.get(producer, 0) + 1
        assert self.inside[producer] == 1, "one at a time"
        if producer % 2:
            self.go.wait(10)
        self.log.append(("run", producer))
        self.inside[producer] -= 1
        return Production((), Ready())

    def discard(self, producer: int) -> None:
        assert not self.inside.get(producer)
        self.log.append(("discard", producer))


def test_a_blocked_pipeline_blocks_no_other() -> None:
    pipelines = Pipelines()
    pool = Pool(pipelines)
    done: list[Produced] = []
    for producer in range(1, 40, 2):
        pool.produce(Produce(producer, None, (), 1, 1), done.append)
    pool.produce(Produce(2, None, (), 1, 1), done.append)
    until(lambda: [produced.producer for produced in done] == [2], seconds=10)
    pipelines.go.set()
    until(lambda: len(done) == 21)
    pool.close()


def test_a_pipeline_is_dropped_after_its_run() -> None:
    pipelines = Pipelines()
    pool = Pool(pipelines)
    done: list[Produced] = []
    pool.produce(Produce(1, None, (), 1, 1), done.append)
    pool.discard(1)
    time.sleep(0.02)
    assert pipelines.log == []
    pipelines.go.set()
    until(lambda: pipelines.log == [("run", 1), ("discard", 1)])
    pool.close()


def test_what_follows_runs_on_the_lent_thread_when_the_action_has_ended() -> None:
    pool = Threads("t", 1, 4)
    told: list[tuple[str, threading.Thread]] = []

    def action() -> None:
        pool.follow(lambda: told.append(("followed", threading.current_thread())))
        pool.follow(lambda: told.append(("elsewhere", threading.current_thread())))
        told.append(("ended", threading.current_thread()))

    lend(action)
    until(lambda: len(told) == 3)
    here = threading.current_thread()
    assert ("followed", here) in told
    assert told.index(("ended", here)) < told.index(("followed", here))
    assert next(thread for what, thread in told if what == "elsewhere") is not here
    pool.shutdown()


def test_followers_have_followers_and_a_thread_that_is_not_lent_has_none() -> None:
    pool = Threads("t", 1, 4)
    told: list[threading.Thread | None] = []

    def count(left: int) -> None:
        told.append(threading.current_thread())
        if left:
            lend(lambda: pool.follow(lambda: count(left - 1)))

    lend(lambda: count(3))
    assert told == [threading.current_thread()] * 4
    pool.follow(lambda: told.append(None))
    until(lambda: len(told) == 5)
    pool.shutdown()


def test_what_may_wait_for_what_it_brings_about_does_not_hold_it_up() -> None:
    pool = Threads("t", 1, 4)
    happened = threading.Event()

    def action() -> None:
        pool.follow(happened.set)
        assert happened.wait(5)

    lend(lambda: keep(action))
    pool.shutdown()


def test_a_thread_keeps_nothing_of_what_it_did() -> None:
    threads = Threads("once", 1, 1)

    class Work:
        def __call__(self) -> None:
            done.set()

    done, work = threading.Event(), Work()
    gone = weakref.ref(work)
    threads.run(work)
    assert done.wait(10)
    del work
    until(lambda: gone() is None)
    threads.shutdown()
