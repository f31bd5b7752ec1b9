"""Records: equal, hashed and pickled by their fields, and small."""

from __future__ import annotations

import pickle
from dataclasses import field, replace

import pytest

from tfsvc.record import record


@record
class Parcel:
    number: int
    items: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list, hash=False)


def test_records_are_equal_and_hashed_by_their_fields() -> None:
    assert Parcel(1, ("a",)) == Parcel(1, ("a",)) != Parcel(2, ("a",))
    assert len({Parcel(1), Parcel(1), Parcel(2)}) == 2


def test_a_record_can_be_varied_and_shipped() -> None:
    parcel = Parcel(1, ("a",), ["fragile"])
    assert replace(parcel, number=2) == Parcel(2, ("a",), ["fragile"])
    assert pickle.loads(pickle.dumps(parcel)) == parcel


def test_a_record_has_its_fields_and_nothing_else() -> None:
    parcel = Parcel(1)
    assert not hasattr(parcel, "__dict__")
    with pytest.raises(AttributeError):
        parcel.weight = 3  # type: ignore[attr-defined]
