"""tf.distribute.Server: what it is made of, its life, and its errors."""

from __future__ import annotations

import socket
import threading
import time

import pytest

import tfsvc as tf

Server = tf.distribute.Server
LOCAL = {"localhost": ["localhost:0"]}


def test_a_local_server_says_where_it_is_and_what_it_was_made_of():
    with Server.create_local_server() as server:
        assert server.target.startswith("grpc://localhost:")
        assert str(server.server_def) == (
            'cluster {\n  job {\n    name: "localhost"\n    tasks {\n      key: 0\n      value: "localhost:0"\n'
            '    }\n  }\n}\njob_name: "localhost"\nprotocol: "grpc"\n'
        )


def test_one_job_and_one_task_need_no_names():
    with Server({"local": {37: "localhost:0"}}, start=False) as server:
        assert (server.server_def.job_name, server.server_def.task_index) == ("local", 37)


def test_a_server_def_is_copied_and_arguments_go_before_it():
    given = tf.train.ServerDef(
        cluster=tf.train.ClusterSpec({"a": ["localhost:0"], "b": ["localhost:0"]}).as_cluster_def(),
        job_name="a",
        protocol="grpc",
    )
    given.default_session_config.allow_soft_placement = True
    config = tf.compat.v1.ConfigProto(operation_timeout_in_ms=5)
    with Server(given, job_name="b", config=config, start=False) as server:
        assert server.server_def.job_name == "b"
        assert server.server_def.default_session_config.allow_soft_placement
        assert server.server_def.default_session_config.operation_timeout_in_ms == 5
    assert given.job_name == "a"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((3,), TypeError, "Could not convert `server_or_cluster_def`"),
        (({},), ValueError, "explicit `job_name`"),
        (({"a": ["localhost:0"], "b": ["localhost:0"]},), ValueError, "explicit `job_name`"),
        (({"a": ["localhost:0", "localhost:0"]},), ValueError, "explicit `task_index`"),
        (({"a": ["localhost:0"]}, "b"), ValueError, "No such job in cluster: 'b'"),
        (({"a": ["localhost:0"]}, "b", 0), tf.errors.InternalError, 'Job "b" was not defined'),
        (({"a": ["localhost:0"]}, "a", 3), tf.errors.InternalError, "Task 3 was not defined"),
        (({"a": ["localhost"]},), tf.errors.InvalidArgumentError, "Could not parse port"),
        (({"a": ["localhost:x"]},), tf.errors.InvalidArgumentError, "Could not parse port"),
        (({"a": ["localhost:70000"]},), tf.errors.InvalidArgumentError, "Could not parse port"),
        (({"a": ["http://localhost:0"]},), tf.errors.InvalidArgumentError, "as a host-port pair"),
        ((LOCAL, None, None, "zz"), tf.errors.NotFoundError, "No server factory registered"),
        ((LOCAL, None, None, None, 5), TypeError, "ConfigProto"),
    ],
)
def test_what_cannot_be_a_server(arguments, error, text):
    with pytest.raises(error, match=text):
        Server(*arguments)


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
            Server({"a": [f"localhost:{taken.getsockname()[1]}"]})


def test_the_port_of_the_server_def_goes_before_that_of_the_address():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    given = tf.train.ServerDef(
        cluster=tf.train.ClusterSpec(LOCAL).as_cluster_def(), job_name="localhost", protocol="grpc", port=port
    )
    with Server(given) as server:
        assert server.target == f"grpc://localhost:{port}"


def test_join_ends_with_stop_and_the_port_is_free():
    server = Server.create_local_server()
    threading.Timer(0.2, server.stop).start()
    began = time.monotonic()
    assert server.join(10)
    assert time.monotonic() - began < 5
    with Server({"a": [server.target.removeprefix("grpc://")]}):
        pass
    with pytest.raises(tf.errors.FailedPreconditionError):
        server.start()
    server.stop()


def test_the_target_is_known_before_the_start_and_sessions_wait_for_it():
    with Server.create_local_server(start=False) as server:
        pass
    server = Server.create_local_server(start=False)
    threading.Timer(0.2, server.start).start()
    with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session(server.target) as session:
        assert session.run(tf.compat.v1.constant(2) * 3) == 6
    server.stop()


def test_a_server_that_nobody_holds_lets_go_of_its_port():
    server = Server.create_local_server()
    address = server.target.removeprefix("grpc://")
    del server
    with Server({"a": [address]}):
        pass


def test_a_server_lets_other_machines_in_only_on_demand():
    cluster = {"a": [f"{socket.gethostname()}:0"]}
    with pytest.raises(tf.errors.InvalidArgumentError, match="insecure=True"):
        Server(cluster)
    with Server(cluster, security=tf.data.experimental.service.Security(insecure=True)) as server:
        assert server.target
