"""An S3 server in a process of its own, on a port of its own."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

SERVE = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print("http://%s:%s" % server.get_host_and_port(), flush=True)
sys.stdin.read()
"""

_buckets = itertools.count(1)


@contextmanager
def s3_server() -> Iterator[str]:
    """Serves S3 from memory; gives the endpoint, with everything in the environment that a client needs."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    endpoint = server.stdout.readline().strip()
    client = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in client}
    os.environ.update(client)
    try:
        yield endpoint
    finally:
        server.kill()
        server.communicate()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def new_bucket(endpoint: str) -> str:
    """Makes a bucket; gives its name."""
    name = f"bucket{next(_buckets)}"
    request = urllib.request.Request(f"{endpoint}/{name}", method="PUT")
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).close()
    return name
