"""Where a locator leads to, and what is said of one that leads nowhere."""

from __future__ import annotations

import pytest

import tfsvc as tf
from tfsvc.service.config import split_target
from tfsvc.service.discovery import is_locator, resolve, write_address

service = tf.data.experimental.service


@pytest.mark.parametrize(
    ("locator", "address"),
    [
        ("d:5050", "d:5050"),
        ("file:/run/d", "d:1"),
        ("file:///run/d", "d:1"),
        ("file:whole", "[::1]:2"),
        ("env:PLAIN", "d:3"),
        ("env:WHOLE", "d:4"),
        ("env:PLACE", "d:1"),
        ("dns:d.default.svc:5050", "d.default.svc:5050"),
        ("env:NAME", "d:5"),
        ("file:5050", "file:5050"),
        ("dns:1", "dns:1"),
    ],
)
def test_a_locator_leads_to_an_address(locator, address):
    files = {"/run/d": "d:1\n", "///run/d": "d:1\n", "whole": " grpc://[::1]:2 "}
    environment = {"PLAIN": "d:3", "WHOLE": "grpc://d:4", "PLACE": "grpc://file:/run/d", "NAME": "dns:d:5"}
    assert resolve(locator, environment, files.__getitem__) == address


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match=r"No such file.*`address_file` writes it"):
        resolve(f"file:{tmp_path}/none")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(tf.errors.UnavailableError, match="is empty"):
        resolve(f"file:{tmp_path}/empty")


def test_what_never_leads_to_an_address_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="NOBODY is not set"):
        resolve("env:NOBODY", {})
    with pytest.raises(tf.errors.InvalidArgumentError, match="'somewhere', which is no address"):
        resolve("env:D", {"D": "somewhere"})
    with pytest.raises(tf.errors.InvalidArgumentError, match="env:D leads to 'env:D'"):
        resolve("env:D", {"D": "env:D"})


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("d:5050", ("grpc", "d:5050")),
        ("file:/run/d", ("grpc", "file:/run/d")),
        ("file:///run/d", ("grpc", "file:///run/d")),
        ("grpc://file:/run/d", ("grpc", "file:/run/d")),
        ("inprocess://env:D", ("inprocess", "env:D")),
        ("grpc://dns:d:5050", ("grpc", "dns:d:5050")),
    ],
)
def test_a_locator_stands_wherever_an_address_does(target, parts):
    assert split_target(target) == parts
    assert service.WorkerConfig(target).settings().dispatcher == parts[1]


@pytest.mark.parametrize("target", ["file:", "env:", "dns:d", "dns:d:0", "grpc://file:", "file: /run/d"])
def test_a_malformed_locator_is_refused_at_once(target):
    assert is_locator(target.removeprefix("grpc://"))
    with pytest.raises(ValueError, match="file:/path"):
        service.WorkerConfig(target)
    with pytest.raises(ValueError, match="file:/path"):
        service.distribute("parallel_epochs", target)


def test_a_worker_is_at_an_address_and_at_no_locator():
    with pytest.raises(ValueError, match="host:port"):
        service.WorkerConfig("d:1", worker_address="file:/run/w")


def test_an_address_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "address"
    for port in (1, 2):
        write_address(str(path), f"d:{port}")
        assert path.read_text() == f"d:{port}\n"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(tf.errors.UnavailableError, match="directory that exists"):
        write_address(str(tmp_path / "none" / "address"), "d:1")


def test_a_dispatcher_says_where_others_reach_it(tmp_path):
    path = tmp_path / "address"
    config = service.DispatcherConfig(own_process=False, address_file=str(path), advertise="d.cluster:%port%")
    with service.DispatchServer(config) as dispatcher:
        port = dispatcher.target.rpartition(":")[2]
        assert path.read_text() == f"grpc://d.cluster:{port}\n"
    with pytest.raises(ValueError, match="host:port"):
        service.DispatcherConfig(advertise="nowhere")


def test_a_dispatcher_that_nobody_would_find_does_not_start(tmp_path):
    config = service.DispatcherConfig(own_process=False, address_file=str(tmp_path / "none" / "address"))
    with pytest.raises(tf.errors.UnavailableError, match="nobody would find"):
        service.DispatchServer(config)
