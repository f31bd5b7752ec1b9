"""Our servers with TensorFlow's readers and workers, in one process tree, over gRPC."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.timeout(120)]

SETUP = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
import tfsvc
theirs = tf.data.experimental.service
ours = tfsvc.data.experimental.service
dispatcher = ours.DispatchServer()
"""


def run(script: str) -> None:
    """Runs a script in a process of its own, since TensorFlow's servers cannot be stopped in order."""
    pytest.importorskip("tensorflow")
    done = subprocess.run(
        [sys.executable, "-c", SETUP + textwrap.dedent(script) + "\nos._exit(0)\n"],
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize(("mode", "times"), [("parallel_epochs", 2), ("distributed_epoch", 1)])
@pytest.mark.parametrize("compression", ["AUTO", None])
def test_a_tensorflow_reader_gets_every_element_that_only_our_workers_make(mode, times, compression):
    run(
        f"""
        workers = [ours.WorkerServer(ours.WorkerConfig(dispatcher_address=dispatcher.target)) for _ in range(2)]
        made = tfsvc.data.Dataset.range(300).map(lambda x: {{"n": x, "text": str(x), "pair": ([1.5, 2.5], x > 7)}})
        name = ours.register_dataset(dispatcher.target, made, compression={compression!r})
        for spec in (None, {{"n": tf.TensorSpec((), tf.int64), "text": tf.TensorSpec((), tf.string),
                             "pair": (tf.TensorSpec((2,), tf.float32), tf.TensorSpec((), tf.bool))}}):
            read = theirs.from_dataset_id({mode!r}, dispatcher.target, name, element_spec=spec)
            got = sorted((int(e["n"]), e["text"], tuple(e["pair"][0]), bool(e["pair"][1]))
                         for e in read.as_numpy_iterator())
            assert got == sorted({times} * [(i, str(i).encode(), (1.5, 2.5), i > 7) for i in range(300)]), got[:5]
        """
    )


@pytest.mark.parametrize(("mode", "times"), [("parallel_epochs", 2), ("distributed_epoch", 1)])
@pytest.mark.parametrize("compression", ["AUTO", None])
def test_our_reader_gets_every_element_that_tensorflow_workers_make(mode, times, compression):
    run(
        f"""
        address = dispatcher.target.split("://")[1]
        workers = [theirs.WorkerServer(theirs.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100))
                   for _ in range(2)]
        made = tf.data.Dataset.range(300).map(lambda x: {{"n": x, "text": tf.strings.as_string(x)}})
        name = theirs.register_dataset(dispatcher.target, made, compression={compression!r})
        read = ours.from_dataset_id({mode!r}, dispatcher.target, name.numpy())
        assert read.element_spec["n"].dtype == tfsvc.int64
        got = sorted((int(e["n"]), e["text"]) for e in read)
        assert got == sorted({times} * [(i, str(i).encode()) for i in range(300)]), got[:5]
        """
    )


def test_each_kind_of_worker_runs_the_datasets_that_it_understands():
    run(
        """
        address = dispatcher.target.split("://")[1]
        our_worker = ours.WorkerServer(ours.WorkerConfig(dispatcher_address=address))
        their_worker = theirs.WorkerServer(theirs.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100))
        read = tfsvc.data.Dataset.range(50).apply(ours.distribute("distributed_epoch", dispatcher.target))
        assert sorted(map(int, read)) == list(range(50))
        read = tf.data.Dataset.range(50).apply(theirs.distribute("distributed_epoch", dispatcher.target))
        assert sorted(map(int, read)) == list(range(50))
        """
    )


def test_the_error_of_our_function_reaches_a_tensorflow_reader():
    run(
        """
        worker = ours.WorkerServer(ours.WorkerConfig(dispatcher_address=dispatcher.target))
        def fails(x):
            if x == 3:
                raise ValueError("no threes here")
            return x
        made = tfsvc.data.Dataset.range(10).map(fails)
        name = ours.register_dataset(dispatcher.target, made)
        try:
            list(theirs.from_dataset_id("parallel_epochs", dispatcher.target, name))
        except tf.errors.InvalidArgumentError as error:
            assert "no threes here" in str(error), error
        else:
            raise AssertionError("no error reached the reader")
        """
    )


def test_tensorflow_workers_get_their_shares_from_our_dispatcher():
    run(
        """
        dispatcher = ours.DispatchServer(ours.DispatcherConfig(worker_addresses=["localhost:%port%"] * 3))
        address = dispatcher.target.split("://")[1]
        config = theirs.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100)
        workers = [theirs.WorkerServer(config) for _ in range(3)]
        policies = theirs.ShardingPolicy
        whole = tf.data.Dataset.range(60)
        for made, policy in ((whole, policies.DATA), (whole, policies.FILE_OR_DATA),
                             (whole.shard(tf.data.experimental.SHARD_HINT, 0), policies.HINT)):
            read = made.apply(theirs.distribute(policy, dispatcher.target))
            assert sorted(read.as_numpy_iterator()) == list(range(60))
            name = theirs.register_dataset(dispatcher.target, made)
            read = ours.from_dataset_id(ours.ShardingPolicy(int(policy)), dispatcher.target, name.numpy())
            assert sorted(map(int, read)) == list(range(60))
        try:
            list(whole.apply(theirs.distribute(policies.FILE, dispatcher.target)))
        except tf.errors.NotFoundError as error:
            assert "unshardable" in str(error), error
        else:
            raise AssertionError("a range has no files")
        try:
            theirs.WorkerServer(config)
        except RuntimeError as error:
            assert "address is not configured" in str(error), error
        else:
            raise AssertionError("there is no fourth place")
        """
    )


def test_a_tensorflow_reader_gets_the_shares_of_our_workers():
    run(
        """
        dispatcher = ours.DispatchServer(ours.DispatcherConfig(worker_addresses=["localhost:%port%"] * 3))
        workers = [ours.WorkerServer(ours.WorkerConfig(dispatcher_address=dispatcher.target)) for _ in range(3)]
        name = ours.register_dataset(dispatcher.target, tfsvc.data.Dataset.range(60).shuffle(9))
        read = theirs.from_dataset_id(theirs.ShardingPolicy.DATA, dispatcher.target, name)
        assert sorted(read.as_numpy_iterator()) == list(range(60))
        try:
            list(theirs.from_dataset_id(theirs.ShardingPolicy.FILE, dispatcher.target, name))
        except tf.errors.NotFoundError as error:
            assert "range()" in str(error), error
        else:
            raise AssertionError("a range has no files")
        """
    )


def test_a_tensorflow_reader_and_ours_read_the_same_workers_by_their_tags():
    run(
        """
        from tensorflow.python.data.experimental.service import _pywrap_server_lib as lib
        from tensorflow.core.protobuf import service_config_pb2
        address = dispatcher.target.split("://")[1]
        def worker(*tags):
            config = service_config_pb2.WorkerConfig(
                dispatcher_address=address, worker_address="localhost:%port%", protocol="grpc",
                heartbeat_interval_ms=100, dispatcher_timeout_ms=5000, worker_tags=tags)
            server = lib.TF_DATA_NewWorkerServer(config.SerializeToString())
            server.start()
            return server
        workers = [worker("COLOCATED"), worker("gpu")]
        made = tf.data.Dataset.range(20)
        name = theirs.register_dataset(dispatcher.target, made)
        def read_ours(**more):
            # Our reader shares no process with TensorFlow's workers, as far as it can know.
            return sorted(map(int, ours.from_dataset_id("parallel_epochs", dispatcher.target, name.numpy(), **more)))
        assert read_ours() == list(range(20))
        assert read_ours(target_workers="ANY") == sorted(2 * list(range(20)))
        for target, times in (("AUTO", 2), ("ANY", 2), ("LOCAL", 2)):
            read = theirs.from_dataset_id("parallel_epochs", dispatcher.target, name, target_workers=target)
            assert sorted(read.as_numpy_iterator()) == sorted(times * list(range(20))), target
        once = ours.from_dataset_id("distributed_epoch", dispatcher.target, name.numpy())
        assert sorted(map(int, once)) == list(range(20))
        """
    )


def test_a_lost_worker_of_tensorflows_ends_the_data_with_what_the_others_have():
    run(
        """
        import subprocess, sys, time
        dispatcher = ours.DispatchServer(ours.DispatcherConfig(worker_timeout_ms=2000))
        address = dispatcher.target.split("://")[1]
        script = "import sys, time; import tensorflow as tf; S = tf.data.experimental.service;" \
            "w = S.WorkerServer(S.WorkerConfig(sys.argv[1], heartbeat_interval_ms=100)); time.sleep(1000)"
        children = [subprocess.Popen([sys.executable, "-c", script, address]) for _ in range(2)]
        try:
            while dispatcher.num_workers() < 2:
                time.sleep(0.05)
            made = tf.data.Dataset.range(100).map(lambda x: x)
            theirs_reads = made.apply(theirs.distribute("parallel_epochs", dispatcher.target)).as_numpy_iterator()
            name = theirs.register_dataset(dispatcher.target, made).numpy()
            ours_reads = iter(ours.from_dataset_id("parallel_epochs", dispatcher.target, name))
            for iterator in (theirs_reads, ours_reads):
                got = [int(next(iterator)) for _ in range(10)]
                if iterator is theirs_reads:
                    children[0].kill()
                got += [int(x) for x in iterator]
                assert set(got) == set(range(100)), len(got)
        finally:
            for child in children:
                child.kill()
        """
    )
