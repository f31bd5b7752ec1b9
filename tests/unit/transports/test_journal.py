"""Journals: order, groups, recovery, and what happens when the store fails."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import pytest

from tests import soon
from tfsvc.errors import Code, ResourceExhaustedError, RpcError, UnavailableError
from tfsvc.protocol.updates import LoseWorker, Update
from tfsvc_transports import journal as journal_module
from tfsvc_transports.journal import GroupJournal, MemoryJournal


def update(number: int) -> Update:
    return LoseWorker(str(number))


def never(error: RpcError) -> None:
    raise AssertionError(f"the journal broke: {error}")


class Store:
    """Counts its groups; may be slow or broken."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.records: list[Update] = []
        self.groups = 0
        self.fail_at = fail_at
        self.closed = False
        self.checks = 0
        self.gone = False

    def read(self) -> Sequence[Update]:
        return tuple(self.records)

    def write(self, updates: Sequence[Update]) -> None:
        self.groups += 1
        if self.groups == self.fail_at:
            raise ResourceExhaustedError(message="disk full")
        time.sleep(0.02)
        self.records.extend(updates)

    def check(self) -> None:
        self.checks += 1
        if self.gone:
            raise UnavailableError(message="the store is gone")

    def close(self) -> None:
        self.closed = True


until = partial(soon.until, seconds=5, every=0.002)


def test_memory_is_durable_at_once_and_recovers_what_it_keeps() -> None:
    journal = MemoryJournal(keep=True)
    synced: list[int] = []
    journal.open(synced.append, never)
    journal.append(1, update(1))
    journal.append(2, update(2))
    assert synced == [1, 2]
    journal.close()
    journal.append(3, update(3))
    assert list(journal.recover()) == [update(1), update(2)]


def test_memory_forgets_unless_told_to_keep() -> None:
    journal = MemoryJournal()
    journal.open(lambda _: None, never)
    journal.append(1, update(1))
    assert list(journal.recover()) == []


def test_groups_keep_the_order_and_report_only_what_is_written() -> None:
    store = Store()
    journal = GroupJournal(store)
    synced: list[tuple[int, int]] = []
    journal.open(lambda upto: synced.append((upto, len(store.records))), never)
    for number in range(1, 101):
        journal.append(number, update(number))
    until(lambda: bool(synced) and synced[-1][0] == 100)
    assert store.records == [update(number) for number in range(1, 101)]
    assert all(upto <= written for upto, written in synced)
    assert store.groups < 20
    journal.close()
    assert store.closed


def test_a_store_that_fails_ends_the_node(caplog: pytest.LogCaptureFixture) -> None:
    journal = GroupJournal(Store(fail_at=1))
    broke: list[RpcError] = []
    synced: list[int] = []
    journal.open(synced.append, broke.append)
    journal.append(1, update(1))
    until(lambda: bool(broke))
    assert broke == [RpcError(Code.RESOURCE_EXHAUSTED, "disk full")]
    journal.append(2, update(2))
    time.sleep(0.05)
    assert synced == []
    assert "disk full" in caplog.text


def test_a_store_that_is_gone_is_noticed_while_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "CHECK_S", 0.01)
    store = Store()
    journal = GroupJournal(store)
    broke: list[RpcError] = []
    journal.open(lambda _: None, broke.append)
    until(lambda: store.checks > 2)
    store.gone = True
    until(lambda: bool(broke))
    assert broke == [RpcError(Code.UNAVAILABLE, "the store is gone")]
    assert store.closed
