"""Finalizers: they may run on any thread, in the middle of anything."""

from __future__ import annotations

import threading

from tfsvc.service.finalizer import finish
from tfsvc.service.lifecycle import ServerLifecycle


def test_the_main_thread_returns_when_it_is_done():
    done = []
    finish(lambda: done.append(threading.current_thread()))
    assert done
    assert done[0] is not threading.main_thread()


def test_another_thread_does_not_wait():
    """It may hold the lock that ``stop`` needs."""
    lock, stopped = threading.Lock(), threading.Event()

    def stop() -> None:
        with lock:
            stopped.set()

    def collect() -> None:
        with lock:
            finish(stop)
            assert not stopped.is_set()

    thread = threading.Thread(target=collect)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert stopped.wait(10)


def test_a_server_that_nobody_refers_to_is_stopped_without_the_thread_that_finds_out():
    stopped_on = []

    class Running:
        def stop(self) -> None:
            stopped_on.append(threading.current_thread())

    server = ServerLifecycle(None)
    server._server = Running()
    del server
    assert len(stopped_on) == 1
    assert stopped_on[0] is not threading.main_thread()
