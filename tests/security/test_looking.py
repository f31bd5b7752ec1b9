"""Who may look at a guarded node by HTTP: those who may call it."""

from __future__ import annotations

import base64
import ssl
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

import tfsvc as tf
from tests.security.authorities import authority, token_file
from tfsvc.service.security import Security

service = tf.data.experimental.service
NOTHING = Security(ca_file="", certificate_file="", key_file="", token_file="")


def get(address, path="/metrics", token=None, context=None, scheme="Bearer"):
    """The status of an answer."""
    shown = f"{scheme} {token}" if token else ""
    request = urllib.request.Request(address + path, headers={"Authorization": shown} if shown else {})
    try:
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def dispatcher(security, **more):
    return service.DispatchServer(service.DispatcherConfig(http_port=0, security=security, **more))


def trusting(guard, shows=None):
    context = ssl.create_default_context(cafile=guard.ca_file)
    if shows is not None:
        context.load_cert_chain(shows.certificate_file, shows.key_file)
    return context


def test_a_token_is_asked_for(tmp_path):
    file = token_file(tmp_path, "service")
    token = Path(file).read_text().strip()
    security = Security(ca_file="", token_file=file)
    with dispatcher(security) as guarded:
        config = service.WorkerConfig(guarded.target, http_port=0, security=security)
        with service.WorkerServer(config) as worker, closing(service.start_metrics_server(security=security)) as reader:
            for address in (guarded.http_address, worker.http_address, f"http://localhost:{reader.port}"):
                assert get(address) == 401
                assert get(address, token="x" * 64) == 401
                assert get(address, token=token) == 200
                basic = base64.b64encode(f"me:{token}".encode()).decode()
                assert get(address, token=basic, scheme="Basic") == 200
            for path in ("/", "/api/description", "/api/chronicle"):
                assert get(guarded.http_address, path) == 401
                assert get(guarded.http_address, path, token) == 200
            assert get(guarded.http_address, "/healthz") == get(worker.http_address, "/readyz") == 200


@pytest.mark.parametrize("own_process", [False, True])
def test_a_certificate_is_asked_for(tmp_path, own_process):
    guard, stranger = authority(tmp_path, "service"), authority(tmp_path, "stranger")
    with dispatcher(guard, own_process=own_process) as guarded:
        address = guarded.http_address
        assert address.startswith("https://")
        assert get(address, context=trusting(guard, shows=guard)) == 200
        assert get(address, context=trusting(guard)) == 401
        assert get(address, "/readyz", context=trusting(guard)) == 200
        with pytest.raises(urllib.error.URLError):
            get(address, context=trusting(stranger))
        with pytest.raises((urllib.error.URLError, ConnectionError, ssl.SSLError)):
            get(address, context=trusting(guard, shows=stranger))
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            get(address.replace("https", "http"))


def test_certificates_are_renewed_without_a_restart(tmp_path):
    guard = authority(tmp_path, "service")
    with dispatcher(guard) as guarded:
        old = trusting(guard)
        assert get(guarded.http_address, "/healthz", context=old) == 200
        authority(tmp_path, "service")
        assert get(guarded.http_address, "/healthz", context=trusting(guard)) == 200
        with pytest.raises(urllib.error.URLError):
            get(guarded.http_address, "/healthz", context=old)


def test_others_may_look_only_if_they_show_who_they_are(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"http_host='0\.0\.0\.0' lets other machines"):
        service.DispatcherConfig(http_port=0, http_host="0.0.0.0", security=NOTHING)
    unencrypted = Security(ca_file="", token_file=token_file(tmp_path, "t"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="http_host"):
        service.WorkerConfig("d:1", http_port=0, http_host="0.0.0.0", security=unencrypted)
    with pytest.raises(tf.errors.InvalidArgumentError, match="http_host"):
        service.start_metrics_server(host="0.0.0.0", security=NOTHING)
    guard = authority(tmp_path, "service")
    with dispatcher(guard, http_host="0.0.0.0") as open_to_all:
        assert get(open_to_all.http_address, context=trusting(guard)) == 401
    with dispatcher(Security(ca_file="", token_file="", insecure=True), http_host="0.0.0.0") as insecure:
        assert get(insecure.http_address) == 200


def test_a_file_that_cannot_be_read_ends_it(tmp_path):
    guard = authority(tmp_path, "service")
    Path(guard.key_file).write_text("no key")
    with pytest.raises(tf.errors.OpError):
        dispatcher(guard)
