"""Oracles: what must be true of what the applications took, whatever happened on the way."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tfsvc_sim.judging.ledger import Taking

SHOWN = 5
"""How many lost or repeated values are told in full."""


def each_once(expected: Sequence[int], errors: int, takings: Sequence[Taking], complete: bool = True) -> list[str]:
    """Every value as often as the dataset holds it, and every failed element told once.

    Args:
      expected: all values of the dataset.
      errors: how many of its elements fail.
      takings: what was taken of it.
      complete: whether all of it must have been taken; if not, none of it more than once.

    Returns:
      What is wrong, in words with the story of each repeated element.
    """
    want, got = Counter(expected), _values(takings)
    problems = lost(expected, errors, takings) if complete else []
    extra = _more(got, want)
    for value in sorted(extra)[:SHOWN]:
        stories = "; ".join(str(taking) for taking in takings if value in taking.values)
        problems.append(f"value {value} was taken {got[value]} times, and the dataset holds {want[value]}: {stories}")
    if len(extra) > SHOWN:
        problems.append(f"{len(extra)} different values were repeated in all")
    failed = [str(taking) for taking in takings if taking.error]
    if len(failed) > errors:
        problems.append(f"{len(failed)} errors were told, not {errors}: {'; '.join(failed)}")
    return problems


def _values(takings: Iterable[Taking]) -> Counter[int]:
    """How often each value was taken."""
    return Counter([value for taking in takings for value in taking.values])


def _more(these: Counter[int], those: Counter[int]) -> Counter[int]:
    """What there is more of in ``these``; mostly both are the same, and dictionaries are compared much faster."""
    return Counter() if dict(these) == dict(those) else these - those


def lost(expected: Sequence[int], errors: int, takings: Sequence[Taking]) -> list[str]:
    """What nobody took; arguments and result as of ``each_once``."""
    want, got = Counter(expected), _values(takings)
    missing = _more(want, got)
    problems = []
    if missing:
        shown = ", ".join(map(str, sorted(missing)[:SHOWN]))
        problems.append(f"{missing.total()} values were lost: {shown}{', ...' if len(missing) > SHOWN else ''}")
    told = len([taking for taking in takings if taking.error])
    if told < errors:
        problems.append(f"{errors - told} of {errors} errors of user code were never told")
    return problems


def between(expected: Sequence[int], least: int, most: int, takings: Iterable[Taking]) -> list[str]:
    """Every value at least ``least`` and at most ``most`` times as often as the dataset holds it."""
    want, got = Counter(expected), _values(takings)
    problems = []
    for value, times in want.items():
        if not least * times <= got[value] <= most * times:
            problems.append(f"value {value} was taken {got[value]} times, not {least * times} to {most * times}")
    problems += [f"value {value} is not in the dataset" for value in got if value not in want]
    return problems[:SHOWN]


def same_sequence(
    reader: str, want: Sequence[tuple[int, ...]], got: Sequence[tuple[int, ...]], complete: bool
) -> list[str]:
    """What a reader took is ``want``, or the beginning of it; the first difference, in words."""
    for place, (one, other) in enumerate(zip(want, got, strict=False)):
        if one != other:
            return [f"{reader}'s element {place} holds {other}, not {one}"]
    if len(got) > len(want):
        return [f"{reader} took {len(got)} elements, and there are {len(want)}"]
    if complete and len(got) < len(want):
        return [f"{reader} took {len(got)} of {len(want)} elements before it was told of the end"]
    return []


def in_order(takings: Iterable[Taking], ascending: bool) -> list[str]:
    """Every stream without gaps and repetitions; where parts are ascending, their values too."""
    problems = []
    streams: dict[tuple[str, int], list[Taking]] = defaultdict(list)
    for taking in takings:
        streams[taking.reader, taking.stream].append(taking)
    for stream in streams.values():
        for one, next in itertools.pairwise(stream):
            if next.ordinal != one.ordinal + 1:
                problems.append(f"element {next.ordinal} came behind element {one.ordinal}: {next}")
        if ascending:
            values = [value for taking in stream for value in taking.values]
            problems += [
                f"value {b} came behind {a} in {stream[0].reader}'s stream {stream[0].stream}"
                for a, b in itertools.pairwise(values)
                if b <= a
            ]
    return problems
