"""The commands with certificates and a token, from options or from the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack

import tfsvc as tf
from tests.security.conftest import service
from tfsvc.service.security import VARIABLES, Security

COMMAND = [sys.executable, "-m", "tfsvc"]
FIELDS = ("ca_file", "certificate_file", "key_file", "token_file")
OPTIONS = dict(zip(FIELDS, ("--tls-ca", "--tls-cert", "--tls-key", "--token-file"), strict=True))


def options(security: Security) -> list[str]:
    return [part for field, option in OPTIONS.items() for part in (option, getattr(security, field))]


def test_a_service_of_commands_is_asked_by_those_who_have_its_keys(keys: dict[str, Security]) -> None:
    security = keys["both"]
    with ExitStack() as stack:
        dispatcher, line = _begin(stack, "dispatcher", "--port", "0", *options(security))
        address = line.rpartition("/")[2].strip()
        worker, line = _begin(stack, "worker", address, *options(security))
        assert line.startswith("worker on port")
        read = service.distribute("distributed_epoch", f"grpc://{address}", security=security)
        assert sorted(int(x) for x in tf.data.Dataset.range(5).apply(read)) == [0, 1, 2, 3, 4]

        stranger = _run("status", address, "--timeout", "60s")
        assert stranger.returncode == 1
        assert "speaks TLS and was asked without: name its authority" in stranger.stderr
        variables = {variable: getattr(security, field) for field, variable in VARIABLES.items()}
        assert _run("status", address, **variables).returncode == 0
        assert _run("stop", address, "--grace", "0s", *options(security)).returncode == 0
        assert (dispatcher.wait(20), worker.wait(20)) == (0, 0)


def _begin(stack: ExitStack, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """A server, and the first line that it says."""
    process = stack.enter_context(subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True))
    stack.callback(process.kill)
    assert process.stdout is not None
    return process, process.stdout.readline()


def _run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=100, env=environment)
