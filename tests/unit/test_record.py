"""Records are frozen dataclasses in all but what it takes to make one."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace
from typing import Generic, TypeVar

import pytest

from tfsvc.record import but, record

T = TypeVar("T")


@record
class Call:
    number: int
    method: str = "read"
    parts: tuple[int, ...] = ()


@record
class Several:
    many: list[int] = field(default_factory=list)


@record
class Pair(Generic[T]):
    one: T
    other: T


@record
class Nothing:
    pass


@dataclass(frozen=True, slots=True)
class Usual:
    number: int
    method: str = "read"
    parts: tuple[int, ...] = ()


def test_a_record_is_what_a_frozen_dataclass_is() -> None:
    one = Call(1, parts=(2,))
    assert one == Call(1, "read", (2,)) != Call(2)
    assert hash(one) == hash(Call(1, "read", (2,)))
    assert repr(one) == "Call(number=1, method='read', parts=(2,))"
    assert asdict(one) == asdict(Usual(1, "read", (2,)))
    assert replace(one, method="ask") == but(one, method="ask") == Call(1, "ask", (2,))
    assert but(one, number=2, parts=()) == Call(2)
    with pytest.raises(TypeError, match="name"):
        but(one, name="ask")
    assert pickle.loads(pickle.dumps(one)) == one
    assert type(one) is Call
    assert not hasattr(one, "__dict__")
    match one:
        case Call(number, method):
            assert (number, method) == (1, "read")
    assert Nothing() == but(Nothing()) == Nothing()


def test_nobody_writes_to_a_record() -> None:
    one = Call(1)
    with pytest.raises(FrozenInstanceError):
        one.number = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del one.number
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        one.other = 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("make", [lambda: Call(), lambda: Call(1, "a", (), 2), lambda: Call(1, size=2)])
def test_a_record_is_made_of_its_fields(make) -> None:
    with pytest.raises(TypeError, match=r"Call\.__init__\(\)"):
        make()


def test_a_record_may_be_of_any_type() -> None:
    pair: Pair[int] = Pair(1, 2)
    assert pair == Pair(1, 2)


def test_a_field_may_be_made_anew_for_each() -> None:
    assert Several().many == []
    assert Several().many is not Several().many
    assert Several([1]).many == [1]
