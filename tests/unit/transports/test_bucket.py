"""Buckets: what cannot be had says so soon, and names the bucket and the way out."""

from __future__ import annotations

import sys
import time

import pytest

from tests.unit.transports.buckets import s3_server
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError
from tfsvc_transports.bucket import BucketShelf


def test_without_obstore_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(FailedPreconditionError, match=r"needs the package obstore: pip install 'tfsvc\[bucket\]'"):
        BucketShelf("s3://bucket/path")


@pytest.mark.parametrize("url", ["ftp://host/path", "://", "s4://bucket"])
def test_an_unknown_kind_is_refused(url):
    with pytest.raises(InvalidArgumentError, match=r"is of no kind that is known: s3://, gs://, az://"):
        BucketShelf(url)


def test_a_bucket_out_of_reach_is_told_in_time(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    began = time.monotonic()
    with pytest.raises(UnavailableError, match="the bucket s3://bucket/path cannot be used"):
        BucketShelf("s3://bucket/path")
    assert time.monotonic() - began < 20


def test_a_bucket_that_is_not_there_is_told():
    with s3_server(), pytest.raises(UnavailableError, match="the bucket s3://nonesuch/path cannot be used"):
        BucketShelf("s3://nonesuch/path")


def test_a_memory_bucket_is_the_same_for_all_of_a_process():
    BucketShelf("memory://one").put("name", b"body")
    assert BucketShelf("memory://one").has("name")
    assert not BucketShelf("memory://other").has("name")
