"""Distributed snapshots with TensorFlow's workers, clients and readers, under our dispatcher."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.timeout(150)]

SETUP = """
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from tensorflow.python.data.experimental.ops.distributed_save_op import distributed_save
import tfsvc
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc_transports.hosted import HostedDispatcher
theirs = tf.data.experimental.service
ours = tfsvc.data.experimental.service
root = sys.argv[1]
path = os.path.join(root, "saved")
journal = os.path.join(root, "journal")
dispatcher = HostedDispatcher("localhost", 0, DispatcherSettings(), journal)
address = f"localhost:{dispatcher.port}"

def their_worker(port=0, address=address):
    return theirs.WorkerServer(theirs.WorkerConfig(
        dispatcher_address=address, port=port, heartbeat_interval_ms=100, dispatcher_timeout_ms=20000))

def our_worker():
    return ours.WorkerServer(ours.WorkerConfig(address, heartbeat_interval_ms=100, snapshot_max_chunk_size_bytes=400))

def wait(name="DONE", path=path):
    until = time.time() + 60
    while not os.path.exists(os.path.join(path, name)):
        assert time.time() < until, f"no {name}"
        time.sleep(0.02)
"""


def run(script: str, directory: object) -> None:
    """Runs a script in a process of its own, since TensorFlow's servers cannot be stopped in order."""
    pytest.importorskip("tensorflow")
    done = subprocess.run(
        [sys.executable, "-c", SETUP + textwrap.dedent(script) + "\ndispatcher.stop()\nos._exit(0)\n", str(directory)],
        capture_output=True,
        text=True,
        timeout=140,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_tensorflow_loads_what_we_wrote_and_can_wait_for_it(tmp_path):
    run(
        """
        workers = [our_worker() for _ in range(2)]
        made = tfsvc.data.Dataset.range(300).map(lambda x: {"n": x, "text": str(int(x))})
        for compression in ("AUTO", "GZIP", None):
            place = f"{path}-{compression}"
            tfsvc.data.experimental.distributed_save(made, place, address, compression)
            loaded = tf.data.Dataset.load(place, wait=True)
            got = sorted((int(e["n"]), e["text"]) for e in loaded.as_numpy_iterator())
            assert got == [(i, str(i).encode()) for i in range(300)], got[:5]
        """,
        tmp_path,
    )


def test_tensorflow_workers_and_clients_write_and_we_read(tmp_path):
    run(
        """
        workers = [their_worker() for _ in range(2)]
        numbers = tf.data.Dataset.range(50)
        datasets = {
            "range": numbers, "repeat": numbers.repeat(3), "map": numbers.map(lambda x: x * 2),
            "zip": tf.data.Dataset.zip((numbers, tf.data.Dataset.range(50, 100))).map(lambda a, b: a),
            "concatenate": numbers.concatenate(tf.data.Dataset.range(100, 120)),
        }
        for name, dataset in datasets.items():
            distributed_save(dataset, f"{path}-{name}", address)
        for name, dataset in datasets.items():
            wait(path=f"{path}-{name}")
            want = sorted(dataset.as_numpy_iterator())
            for load in (tf.data.Dataset.load, tfsvc.data.Dataset.load):
                got = sorted(int(x) for x in load(f"{path}-{name}"))
                assert got == want, (name, len(got), len(want))
        progress = ours.snapshot_progress(f"{path}-repeat", address)
        assert (progress.done, progress.splits) == (True, 150), progress
        try:
            distributed_save(numbers, f"{path}-range", address)
        except tf.errors.AlreadyExistsError:
            pass
        else:
            raise AssertionError("saved twice")
        """,
        tmp_path,
    )


def test_a_killed_dispatcher_goes_on_with_tensorflow_workers(tmp_path):
    run(
        """
        workers = [their_worker() for _ in range(2)]
        def slowly(x):
            time.sleep(0.01)
            return x
        dataset = tf.data.Dataset.range(300).map(lambda x: tf.numpy_function(slowly, [x], tf.int64))
        dataset = dataset.map(lambda x: tf.ensure_shape(x, ()))
        distributed_save(dataset, path, address)
        for splits in (30, 100, 200):
            while ours.snapshot_progress(path, address).splits < splits:
                time.sleep(0.02)
            dispatcher.kill()
            dispatcher = HostedDispatcher("localhost", dispatcher.port, DispatcherSettings(), journal)
        wait()
        got = sorted(int(x) for x in tf.data.Dataset.load(path).as_numpy_iterator())
        assert got == list(range(300)), len(got)
        """,
        tmp_path,
    )


def test_a_tensorflow_worker_that_was_started_again_goes_on(tmp_path):
    """The worker of its own process is killed; at its address another one reads its splits from the directory."""
    run(
        """
        import socket, subprocess
        with socket.socket() as found:
            found.bind(("localhost", 0))
            port = found.getsockname()[1]
        code = f'''
        import tensorflow as tf, time
        s = tf.data.experimental.service
        w = s.WorkerServer(s.WorkerConfig(dispatcher_address="{address}", port={port}, heartbeat_interval_ms=100,
                                          dispatcher_timeout_ms=20000))
        time.sleep(100)
        '''
        import textwrap
        start = lambda: subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
        worker = start()
        try:
            dataset = tf.data.Dataset.range(3000)
            distributed_save(dataset, path, address)
            while ours.snapshot_progress(path, address).splits < 300:
                time.sleep(0.01)
            worker.kill(); worker.wait()
            worker = start()
            wait()
            got = sorted(int(x) for x in tf.data.Dataset.load(path).as_numpy_iterator())
            assert got == list(range(3000)), len(got)
        finally:
            worker.kill()
        """,
        tmp_path,
    )


def test_a_tensorflow_function_that_fails_fails_the_snapshot(tmp_path):
    run(
        """
        worker = their_worker()
        distributed_save(tf.data.Dataset.range(10).map(lambda x: 10 // (x - 5)), path, address)
        wait("ERROR")
        try:
            tf.data.Dataset.load(path)
        except ValueError as error:
            assert "failed to write it" in str(error), error
        else:
            raise AssertionError("loaded")
        """,
        tmp_path,
    )
