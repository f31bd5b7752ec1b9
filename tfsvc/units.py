"""Durations and sizes as people write them, ``"30s"`` and ``"64MiB"``, and as they read them; also as click's types."""

from __future__ import annotations

import re
from typing import Any, Final

import click

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?b?)", re.IGNORECASE)
_PREFIXES: Final = "kmgt"
_BINARY: Final = ("B", "KiB", "MiB", "GiB", "TiB")


def parse_duration(text: str | float) -> float:
    """Seconds in ``"250ms"``, ``"30s"``, ``"5m"``, ``"1h30m"``, ``"2d"``, or in a plain number.

    Raises:
      ValueError: if it is nothing of that.
    """
    written = str(text).strip().lower()
    try:
        seconds = float(written)
    except ValueError:
        parts = _DURATION.findall(written)
        if not parts or "".join(number + unit for number, unit in parts) != written.replace(" ", ""):
            raise ValueError(f"{text!r} is no duration; write 250ms, 30s, 5m, 1h30m, or a number of seconds") from None
        return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))
    if not abs(seconds) < float("inf"):
        raise ValueError(f"{text!r} is no duration that ends")
    return seconds


def parse_size(text: str | int) -> int:
    """Bytes in ``"64MiB"``, ``"1.5 GB"``, ``"512k"`` (of 1,000; ``"Ki"`` is 1,024), or in a plain number.

    Raises:
      ValueError: if it is nothing of that.
    """
    found = _SIZE.fullmatch(str(text).strip())
    if found is None:
        raise ValueError(f"{text!r} is no size; write 64MiB, 1.5GB, or a number of bytes")
    number, unit = found[1], found[2].lower().removesuffix("b")
    power = _PREFIXES.index(unit[0]) + 1 if unit.strip("i") else 0
    factor = 1024 if unit.endswith("i") else 1000
    return round(float(number) * float(factor**power))


def show_duration(seconds: float) -> str:
    """A duration in the unit that fits it: ``"250 ms"``, ``"2.5 s"``, ``"3 min 20 s"``, ``"5 h 2 min"``."""
    if seconds < 0:
        return f"-{show_duration(-seconds)}"
    if seconds < 0.9995:
        return f"{seconds * 1000:.3g} ms" if seconds else "0 s"
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    for name, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {smaller}" if rest else "")
    raise AssertionError(seconds)


def show_size(count: float) -> str:
    """Bytes in the unit that fits them: ``"512 B"``, ``"1.5 MiB"``."""
    if abs(count) < 1024:
        return f"{count:.0f} B"
    power = min(4, (round(abs(count)).bit_length() - 1) // 10)
    value = count / 1024**power
    return f"{value:.3g} {_BINARY[power]}" if abs(value) < 1000 else f"{value:.0f} {_BINARY[power]}"


class _Duration(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases alone
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Size(click.ParamType):  # type: ignore[type-arg]
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


DURATION: Final = _Duration()
"""Of an option that is a duration; its value is in seconds."""
SIZE: Final = _Size()
"""Of an option that is a size; its value is in bytes."""
