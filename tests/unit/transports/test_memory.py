"""Shared memory between a reader and a worker: what is written is seen, and never overwritten under a view."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfsvc.protocol.ids import Address
from tfsvc_transports import memory
from tfsvc_transports.deposits import ALIGNMENT, Deposits
from tfsvc_transports.memory import BUFFERS_MAX, KEPT_BYTES_MAX, WORTH_BYTES, Buffers, Offer

PEER = Address("worker:1")
BODY = bytes(range(256)) * (WORTH_BYTES // 256)


@pytest.fixture
def buffers() -> Iterator[Buffers]:
    made = Buffers()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def deposits() -> Iterator[Deposits]:
    global _deposits
    _deposits = made = Deposits()
    yield made
    made.close()


_deposits = Deposits()


def deposit(header: str, bodies: list[bytes]) -> tuple[int, ...] | None:
    return _deposits.put(header, bodies)


def offered(buffers: Buffers) -> Offer:
    offer = buffers.offer(PEER)
    assert offer is not None
    return offer


def through(buffers: Buffers, body: bytes) -> memoryview:
    """A body as it comes out at the reader."""
    offer = offered(buffers)
    assert deposit(offer.header, [body]) == (0,)
    view = offer.view(0, len(body))
    offer.settle(0)
    return view


def files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_bodies_arrive_aligned_and_read_only(buffers: Buffers) -> None:
    offer = offered(buffers)
    bodies = [b"short", BODY, b"", BODY[:100]]
    places = deposit(offer.header, bodies)
    assert places is not None
    assert all(place % ALIGNMENT == 0 for place in places)
    views = [offer.view(place, len(body)) for place, body in zip(places, bodies, strict=True)]
    assert [bytes(view) for view in views] == bodies
    assert all(view.readonly for view in views)


def test_more_pieces_than_the_system_takes_at_once(buffers: Buffers) -> None:
    offer = offered(buffers)
    bodies = [bytes([i % 256]) * 50 for i in range(3000)]
    places = deposit(offer.header, bodies)
    assert places is not None
    assert [bytes(offer.view(place, 50)) for place in places] == bodies


def test_memory_is_used_again_once_no_view_is_left(buffers: Buffers) -> None:
    first = offered(buffers)
    name = first.header
    assert deposit(first.header, [BODY]) == (0,)
    array = np.frombuffer(first.view(0, len(BODY)), np.uint8)[5:9]
    first.settle(0)
    second = offered(buffers)
    assert second.header != name
    second.settle(0)
    assert array.tolist() == [5, 6, 7, 8]
    del array
    assert name in (offered(buffers).header, offered(buffers).header)


def test_a_view_that_is_alive_is_never_overwritten(buffers: Buffers) -> None:
    bodies = [os.urandom(WORTH_BYTES) for _ in range(BUFFERS_MAX // 2)]
    views = [through(buffers, body) for body in bodies]
    for _ in range(100):
        through(buffers, bytes(WORTH_BYTES))
    assert [bytes(view) for view in views] == bodies


def test_views_outlive_their_reader(buffers: Buffers) -> None:
    view = through(buffers, BODY)
    buffers.close()
    assert buffers.offer(PEER) is None
    assert bytes(view) == BODY


def test_memory_grows_when_it_is_used_again(buffers: Buffers) -> None:
    through(buffers, BODY)
    assert bytes(through(buffers, 3 * BODY)) == 3 * BODY
    assert bytes(through(buffers, BODY)) == BODY


def test_what_was_not_answered_is_not_used_again(buffers: Buffers) -> None:
    lost = offered(buffers)
    late = lost.header
    lost.abandon()
    del lost
    view = through(buffers, BODY)
    assert deposit(late, [bytes(len(BODY))]) is None
    assert bytes(view) == BODY


def test_an_answer_that_comes_late_changes_nothing_that_is_seen(buffers: Buffers) -> None:
    through(buffers, BODY)
    lost = offered(buffers)
    late = lost.header
    lost.abandon()
    del lost
    views = [through(buffers, BODY) for _ in range(BUFFERS_MAX // 2)]
    assert deposit(late, [bytes(len(BODY))]) == (0,)
    assert all(bytes(view) == BODY for view in views)


def test_memory_that_is_not_used_is_let_go(buffers: Buffers) -> None:
    def mapped() -> int:
        return Path("/proc/self/maps").read_text().count("memfd:tfsvc")

    before = mapped()
    offer = offered(buffers)
    assert deposit(offer.header, [BODY]) == (0,)
    assert mapped() > before
    until = time.monotonic() + 10
    while mapped() > before:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert deposit(offer.header, [2 * BODY]) == (0,)
    assert bytes(offer.view(0, 2 * len(BODY))) == 2 * BODY


def test_so_much_is_mapped_and_no_more(monkeypatch: pytest.MonkeyPatch, buffers: Buffers) -> None:
    monkeypatch.setattr("tfsvc_transports.deposits.MAPS_MAX", 3)
    before = files()
    views = [through(buffers, BODY) for _ in range(10)]
    assert files() - before == 10 * 2 + 3
    assert all(bytes(view) == BODY for view in views)


def test_memory_that_a_forked_child_may_see_is_not_used_again(buffers: Buffers) -> None:
    view = through(buffers, BODY)
    inside, outside = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(outside)
        os.read(inside, 1)
        os._exit(0 if bytes(view) == BODY else 1)
    os.close(inside)
    del view
    for _ in range(10):
        through(buffers, bytes(len(BODY)))
    os.close(outside)
    assert os.waitpid(child, 0)[1] == 0


def test_readers_have_so_many_buffers_and_no_more(buffers: Buffers, deposits: Deposits) -> None:
    before = files()
    views = [through(buffers, BODY) for _ in range(BUFFERS_MAX)]
    assert buffers.offer(PEER) is None
    views.clear()
    assert buffers.offer(PEER) is not None
    buffers.close()
    deposits.close()
    assert files() <= before + 2


def test_memory_is_kept_for_as_many_streams_as_are_read_at_once(buffers: Buffers) -> None:
    views = [through(buffers, BODY) for _ in range(32)]
    before = files()
    views.clear()
    views += [through(buffers, BODY) for _ in range(32)]
    assert files() == before
    assert all(bytes(view) == BODY for view in views)


def test_so_much_memory_is_kept_and_no_more(
    monkeypatch: pytest.MonkeyPatch, buffers: Buffers, deposits: Deposits
) -> None:
    monkeypatch.setattr("tfsvc_transports.memory.KEPT_IN_ALL_MAX", 5 * len(BODY))
    before = files()
    views = [through(buffers, BODY) for _ in range(32)]
    deposits.close()
    assert files() == before + 32 * 2
    views.clear()
    assert files() == before + 5 * 2


def test_large_memory_is_not_kept_at_either_end(buffers: Buffers) -> None:
    before = files()
    through(buffers, bytes(KEPT_BYTES_MAX + 1))
    assert files() == before


def test_a_peer_that_sends_bodies_in_messages_is_offered_nothing_more(buffers: Buffers) -> None:
    offered(buffers).settle(WORTH_BYTES)
    assert buffers.offer(PEER) is None
    assert buffers.offer(Address("worker:2")) is not None


def test_little_is_sent_in_messages(buffers: Buffers) -> None:
    assert deposit(offered(buffers).header, [BODY[:-1]]) is None


def test_no_file_but_the_readers_is_written_to(buffers: Buffers, tmp_path: os.PathLike[str]) -> None:
    offer = offered(buffers)
    where, name = offer.header.rsplit("/", 1)
    number = os.open(os.path.join(tmp_path, f"memfd:{name}"), os.O_RDWR | os.O_CREAT)
    other = os.memfd_create("other")
    for header in (
        f"elsewhere/{offer.header.split('/', 1)[1]}",
        f"{where}/tfsvc-wrong",
        f"{memory.host()}/{os.getpid()}/{number}/{name}",
        f"{memory.host()}/{os.getpid()}/{other}/{name}",
        f"{memory.host()}/{os.getpid()}/{other}/other",
        f"{memory.host()}/999999999/3/{name}",
        f"{memory.host()}/../../{name}",
        f"{memory.host()}/",
        "",
    ):
        assert deposit(header, [BODY]) is None
    assert os.fstat(number).st_size == os.fstat(other).st_size == 0
    os.close(number)
    os.close(other)


def test_what_is_not_there_cannot_be_seen(buffers: Buffers) -> None:
    offer = offered(buffers)
    assert deposit(offer.header, [BODY]) == (0,)
    for place, length in ((1, len(BODY)), (-1, 1), (0, -1), (1 << 62, 1)):
        with pytest.raises(ValueError, match="not within"):
            offer.view(place, length)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_memory_of_another_user_is_left_alone(buffers):
    """Its mode and owner say whose it is, even to a worker that may open everything."""
    offer = offered(buffers)
    file = int(offer.header.split("/")[-2])
    assert os.fstat(file).st_mode & 0o777 == 0o600
    assert deposit(offer.header, [BODY]) is not None
    other = offered(buffers)
    os.fchown(int(other.header.split("/")[-2]), 12345, -1)
    assert deposit(other.header, [BODY]) is None


@given(st.text(), st.text(), st.text())
def test_an_offer_may_say_anything(pid, number, name):
    for text in (f"{pid}/{number}/{name}", f"{os.getpid()}/{number}/{name}", f"{os.getpid()}/1/{name}", pid):
        assert _deposits.put(f"{memory.host()}/{text}", [BODY]) is None
