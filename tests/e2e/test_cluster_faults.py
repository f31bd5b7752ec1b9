"""Sessions when servers die, come back or freeze: real processes, really killed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfsvc as tf
from tests.e2e.clusters import Task, new_cluster, serving

v1 = tf.compat.v1
pytestmark = pytest.mark.xdist_group("cluster faults")


@pytest.fixture
def tasks() -> Iterator[dict[str, Task]]:
    """A parameter server and a worker; what a test puts in their places ends with them."""
    with serving(new_cluster(ps=1, worker=1)) as tasks:
        yield tasks


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with v1.Graph().as_default() as graph:
        yield graph


def on_ps() -> Any:
    return v1.device("/job:ps/task:0")


def in_background(do: Callable[[], Any]) -> Callable[[], tuple[Any, float]]:
    """Runs something on a thread; the function returned waits for its result or error, and how long it took."""
    began = time.monotonic()
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(do())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def wait() -> tuple[Any, float]:
        thread.join(30)
        assert results, "it waits for ever"
        return results[0], time.monotonic() - began

    return wait


def failure(do: Callable[[], Any]) -> tf.errors.OpError:
    """The error that something ends with."""
    with pytest.raises(tf.errors.OpError) as caught:
        do()
    return caught.value


def test_a_task_that_dies_ends_the_step_and_others_go_on(tasks):
    with on_ps():
        v = v1.Variable(1.0, name="v")
        taken = v1.FIFOQueue(1, tf.float32).dequeue()
    here = v1.constant(2.0) * 3.0
    with v1.Session(tasks["worker0"].target) as session:
        session.run(v.initializer)
        waiting = in_background(lambda: session.run(taken))
        time.sleep(0.5)
        tasks["ps0"].kill()
        error, _ = waiting()
        assert isinstance(error, tf.errors.UnavailableError)
        assert "From /job:ps/replica:0/task:0" in str(error)
        began = time.monotonic()
        with pytest.raises(tf.errors.UnavailableError):
            session.run(v)
        assert time.monotonic() - began < 2
        assert session.run(here) == 6

        tasks["ps0"] = tasks["ps0"].again()
        error = failure(lambda: session.run(v))
        until = time.monotonic() + 10
        while isinstance(error, tf.errors.UnavailableError) and time.monotonic() < until:
            error = failure(lambda: session.run(v))
        assert isinstance(error, tf.errors.AbortedError)
        assert "just restarted" in str(error)
    with v1.Session(tasks["worker0"].target) as later:
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            later.run(v)
        later.run(v.initializer)
        assert later.run(v) == 1


def test_a_master_that_dies_ends_the_wait_and_one_that_comes_back_knows_no_session(tasks):
    with on_ps():
        v = v1.Variable(5.0, name="v")
        taken = v1.FIFOQueue(1, tf.float32).dequeue()
    session = v1.Session(tasks["worker0"].target)
    session.run(v.initializer)
    waiting = in_background(lambda: session.run(taken))
    time.sleep(0.5)
    tasks["worker0"].kill()
    error, seconds = waiting()
    assert isinstance(error, tf.errors.UnavailableError)
    assert seconds < 8
    tasks["worker0"] = tasks["worker0"].again()
    with pytest.raises(tf.errors.AbortedError, match="is not found"):
        session.run(v)
    session.close()
    with v1.Session(tasks["worker0"].target) as later:
        assert later.run(v) == 5, "variables of other tasks outlive the master"


def test_a_session_waits_for_its_tasks_but_not_beyond_its_deadline(tasks):
    tasks["ps0"].kill()
    here = v1.constant(1)
    config = v1.ConfigProto(operation_timeout_in_ms=700)
    began = time.monotonic()
    with pytest.raises(tf.errors.DeadlineExceededError):
        v1.Session(tasks["worker0"].target, config=config).run(here)
    assert 0.6 < time.monotonic() - began < 5
    filtered = v1.ConfigProto(device_filters=["/job:worker"])
    with v1.Session(tasks["worker0"].target, config=filtered) as session:
        assert session.run(here) == 1
    patient = v1.Session(tasks["worker0"].target)
    waiting = in_background(lambda: patient.run(here))
    time.sleep(0.5)
    tasks["ps0"] = tasks["ps0"].again()
    assert waiting()[0] == 1


def test_a_frozen_task_costs_no_more_than_the_deadline(tasks):
    with on_ps():
        v = v1.Variable(3.0, name="v")
    with v1.Session(tasks["worker0"].target) as session:
        session.run(v.initializer)
        tasks["ps0"].freeze()
        began = time.monotonic()
        try:
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(v, options=v1.RunOptions(timeout_in_ms=600))
            assert 0.5 < time.monotonic() - began < 5
        finally:
            tasks["ps0"].thaw()
        assert session.run(v) == 3


TAKE = """
import sys
import tfsvc as tf
v1 = tf.compat.v1
with v1.device("/job:ps/task:0"):
    taken = v1.FIFOQueue(2, tf.int32, shared_name="work").dequeue()
with v1.Session(sys.argv[1]) as session:
    session.run(v1.constant(1))
    print("takes", flush=True)
    session.run(taken)
"""


def test_a_client_that_vanishes_leaves_no_step_behind(tasks):
    with on_ps():
        queue = v1.FIFOQueue(2, tf.int32, shared_name="work")
    put, take = queue.enqueue(5), queue.dequeue()
    arguments = [sys.executable, "-c", TAKE, tasks["worker0"].target]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout.readline() == "takes\n"
        time.sleep(0.5)
        client.kill()
    time.sleep(4)  # a connection that was merely lost would have been there again
    with v1.Session(tasks["worker0"].target) as session:
        session.run(put)
        assert session.run(take, options=v1.RunOptions(timeout_in_ms=5000)) == 5


def test_closing_a_session_ends_its_steps(tasks):
    taken = v1.FIFOQueue(1, tf.float32).dequeue()
    session = v1.Session(tasks["worker0"].target)
    waiting = in_background(lambda: session.run(taken))
    time.sleep(0.5)
    session.close()
    assert isinstance(waiting()[0], tf.errors.CancelledError)
    with pytest.raises(RuntimeError, match="closed"):
        session.run(taken)
