"""Records: scenarios and faults as plain values, for JSON and TOML, and back, with errors that say where.

A record is a frozen dataclass. What stands for one of several kinds says which by ``kind``:
``{"kind": "Crash", "node": "worker1"}``. What has its default value may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from tfsvc_sim import faults as f
from tfsvc_sim.faults.fault import Kind
from tfsvc_sim.faults.moments import Message, Moment, Record, Taken

FAULTS: Final[dict[str, type]] = {
    kind.__name__: kind
    for kind in (
        *(f.Crash, f.Stop, f.Preempt, f.Pause, f.Slow),
        *(f.FullDisk, f.DiskErrors, f.UnreadableDisk, f.SlowDisk, f.BitRot),
        *(f.Lose, f.LoseCalls, f.Duplicate, f.Reorder, f.Corrupt, f.Late, f.Cut, f.Clog, f.Swizzle, f.Throttle),
        *(f.ClockDrift, f.ClockJump, f.OldVersion),
    )
}
"""What can go wrong, by name."""
NONE: Final = "none"
"""TOML has no word for nothing."""
MOMENTS: Final[dict[str, type]] = {kind.__name__: kind for kind in (Message, Record, Taken)}


def to_plain(record: Any, whole: bool = False) -> Any:
    """A record as dictionaries, lists, numbers and words.

    Args:
      whole: whether fields that have their default value are there too.
    """
    if is_dataclass(record) and not isinstance(record, type):
        plain: dict[str, Any] = {}
        if type(record).__name__ in FAULTS or type(record).__name__ in MOMENTS:
            plain["kind"] = type(record).__name__
        for field in fields(record):
            value = getattr(record, field.name)
            if whole or value != default_of(field):
                plain[field.name] = to_plain(value, whole)
        return plain
    if isinstance(record, Enum):
        return record.name.lower() if isinstance(record, int) else record.value
    if isinstance(record, tuple | list):
        return [to_plain(item, whole) for item in record]
    return record


def default_of(field: Any) -> Any:
    """The default value of a dataclass's field; ``MISSING`` for none."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def from_plain(kind: Any, plain: Any, where: str = "") -> Any:
    """The record of type ``kind`` that ``to_plain`` made.

    Args:
      where: how to call this place in errors.

    Raises:
      ValueError: naming the place, and what could stand there.
    """
    if kind is Kind or kind == Moment:
        return _one_of(FAULTS if kind is Kind else MOMENTS, plain, where)
    if get_origin(kind) in (Union, UnionType):
        if plain is None or plain == NONE:
            return None
        (kind,) = (Moment,) if set(MOMENTS.values()) <= set(get_args(kind)) else _but_none(kind)
        return from_plain(kind, plain, where)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind)[0], plain, where)
    if is_dataclass(kind):
        return _dataclass(kind, plain, where)
    if issubclass(kind, Enum):
        return _enum(kind, plain, where)
    if kind is float and isinstance(plain, int) and not isinstance(plain, bool):
        return float(plain)
    if not isinstance(plain, kind) or (isinstance(plain, bool) and kind is not bool):
        raise ValueError(f"{where or 'this'} must be {_article(kind.__name__)}, not {plain!r}")
    return plain


def _but_none(kind: Any) -> tuple[Any, ...]:
    return tuple(arg for arg in get_args(kind) if arg is not NoneType)


def _article(word: str) -> str:
    return {"int": "a whole number", "float": "a number", "str": "a word", "bool": "true or false"}.get(word, word)


def _one_of(kinds: Mapping[str, type], plain: Any, where: str) -> Any:
    if not isinstance(plain, Mapping) or "kind" not in plain:
        raise ValueError(f"{where} must say its kind: one of {', '.join(kinds)}")
    name = plain["kind"]
    if name not in kinds:
        raise ValueError(f"{where}: there is no kind {name!r}{_meant(name, kinds)}; there are {', '.join(kinds)}")
    rest = {key: value for key, value in plain.items() if key != "kind"}
    return _dataclass(kinds[name], rest, where)


def _meant(name: Any, names: Mapping[str, Any] | Sequence[str]) -> str:
    close = get_close_matches(str(name), list(names), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _tuple(item: Any, plain: Any, where: str) -> tuple[Any, ...]:
    if isinstance(plain, int) and not isinstance(plain, bool) and is_dataclass(item) and plain > 0:
        # So many with nothing special about them.
        return tuple(_dataclass(item, {}, where) for _ in range(plain))
    if not isinstance(plain, list | tuple):
        raise ValueError(f"{where} must be a list, not {plain!r}")
    return tuple(from_plain(item, part, f"{where}[{i}]") for i, part in enumerate(plain))


def _dataclass(kind: Any, plain: Any, where: str) -> Any:
    if not isinstance(plain, Mapping):
        raise ValueError(f"{where or 'this'} must be a table of {kind.__name__}, not {plain!r}")
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind)}
    for name in plain:
        if name not in known:
            found = f"{where}: there is no {name!r} in {kind.__name__}{_meant(name, known)}; there are "
            raise ValueError(found.lstrip(": ") + ", ".join(known))
    for name, field in known.items():
        if name not in plain and default_of(field) is MISSING:
            raise ValueError(f"{where or 'this'} needs {name!r}, a field of {kind.__name__}")
    try:
        return kind(**{n: from_plain(hints[n], v, f"{where}.{n}".lstrip(".")) for n, v in plain.items()})
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from error


def _enum(kind: Any, plain: Any, where: str) -> Any:
    for member in kind:
        if plain == to_plain(member):
            return member
    names = [to_plain(member) for member in kind]
    raise ValueError(f"{where}: there is no {plain!r}{_meant(plain, names)}; there are {', '.join(names)}")
