"""Nested structures, as ``tf.nest``: dicts, tuples, named tuples and lists; everything else is a leaf.

Dicts are walked in the order of their sorted keys and rebuilt with their own type and insertion
order. ``None``, strings and arrays are leaves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any


def is_nested(structure: Any) -> bool:
    """Whether ``structure`` is a dict, tuple, named tuple or list (an empty one is nested too)."""
    return isinstance(structure, (tuple, list, Mapping))


def flatten(structure: Any) -> list[Any]:
    """The leaves of ``structure`` from left to right; a leaf alone gives a list of itself.

    Raises:
      TypeError: if the keys of a dict cannot be sorted.
    """
    if not is_nested(structure):
        return [structure]
    leaves: list[Any] = []
    _collect(structure, leaves)
    return leaves


def _collect(structure: Any, leaves: list[Any]) -> None:
    for child in children(structure):
        if is_nested(child):
            _collect(child, leaves)
        else:
            leaves.append(child)


def children(structure: Any) -> list[Any] | tuple[Any, ...]:
    """What the nest ``structure`` holds one level down, in the order of :func:`flatten`."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    assert isinstance(structure, (tuple, list))
    return structure


def rebuild(structure: Any, values: Sequence[Any]) -> Any:
    """A nest of the type of ``structure`` whose :func:`children` are ``values``."""
    if isinstance(structure, Mapping):
        by_key = dict(zip(_sorted_keys(structure), values, strict=True))
        items = ((key, by_key[key]) for key in structure)
        if isinstance(structure, defaultdict):
            return type(structure)(structure.default_factory, items)
        return type(structure)(items)  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):
        return type(structure)(*values)
    return type(structure)(values)


def _sorted_keys(structure: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError as error:
        raise TypeError(f"nest only supports dicts with sortable keys; got the keys {list(structure)!r}") from error


def pack_sequence_as(structure: Any, flat_sequence: Iterable[Any]) -> Any:
    """The nest of the form of ``structure`` with the leaves of ``flat_sequence``.

    Raises:
      ValueError: if there are more or fewer leaves than ``structure`` has.
    """
    flat = list(flat_sequence)
    if not is_nested(structure):
        if len(flat) != 1:
            raise ValueError(f"The target structure is a leaf, but the flat sequence has {len(flat)} elements.")
        return flat[0]
    leaves = iter(flat)
    try:
        packed = _pack(structure, leaves)
    except StopIteration:
        raise _wrong_length(structure, flat) from None
    if next(leaves, _END) is not _END:
        raise _wrong_length(structure, flat)
    return packed


def packer(structure: Any) -> Callable[[Sequence[Any]], Any]:
    """A function that packs leaves in the form of ``structure``, without a check of their number.

    It is several times as fast as :func:`pack_sequence_as`, for one who packs many sequences in one form.
    """
    return _packer(structure, count())


def _packer(structure: Any, places: Iterator[int]) -> Callable[[Sequence[Any]], Any]:
    if not is_nested(structure):
        return itemgetter(next(places))
    below = children(structure)
    if type(structure) is tuple and below and not any(map(is_nested, below)):
        first = next(places)
        stop = first + len(below)
        for _ in below[1:]:
            next(places)
        return lambda leaves: tuple(leaves[first:stop])
    parts = [_packer(child, places) for child in below]
    if type(structure) is dict:
        by_key = dict(zip(_sorted_keys(structure), parts, strict=True))
        items = [(key, by_key[key]) for key in structure]
        return lambda leaves: {key: part(leaves) for key, part in items}
    return lambda leaves: rebuild(structure, [part(leaves) for part in parts])


_END = object()


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    values = [_pack(child, leaves) if is_nested(child) else next(leaves) for child in children(structure)]
    return rebuild(structure, values)


def _wrong_length(structure: Any, flat: list[Any]) -> ValueError:
    return ValueError(
        f"Could not pack sequence. Structure had {len(flatten(structure))} atoms, "
        f"but flat_sequence had {len(flat)} items. Structure: {structure!r}."
    )


def map_structure(func: Callable[..., Any], *structure: Any, check_types: bool = True) -> Any:
    """``func`` applied to the leaves of one or more nests of one form; the result has the form of the first.

    Args:
      func: takes as many arguments as there are structures.
      *structure: the nests.
      check_types: whether the types of the sequences must agree, and not only their lengths.

    Raises:
      TypeError, ValueError: as :func:`assert_same_structure`.
    """
    if not structure:
        raise ValueError("Must provide at least one structure")
    first = structure[0]
    for other in structure[1:]:
        assert_same_structure(first, other, check_types)
    if not is_nested(first):
        return func(*structure)
    rows = zip(*map(flatten, structure), strict=True)
    return pack_sequence_as(first, [func(*row) for row in rows])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Checks that two nests have one form; two leaves always do.

    Args:
      nest1: a nest.
      nest2: a nest.
      check_types: whether the types of the sequences must agree as well; any two mappings agree, and
        two named tuple classes with one name and the same fields.

    Raises:
      ValueError: if they differ in form.
      TypeError: if only the types of their sequences differ.
    """
    try:
        _compare(nest1, nest2, check_types)
    except (ValueError, TypeError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {nest1!r}\n\nSecond structure: {nest2!r}\n\nMore specifically: {error}"
        ) from None


def _compare(one: Any, two: Any, check_types: bool) -> None:
    if not is_nested(one) or not is_nested(two):
        if is_nested(one) != is_nested(two):
            nested, leaf = (one, two) if is_nested(one) else (two, one)
            raise ValueError(f"{nested!r} is a sequence, but {leaf!r} is a leaf")
        return
    if check_types and not _same_type(one, two):
        raise TypeError(f"{type(one).__name__} and {type(two).__name__} are different sequence types")
    if isinstance(one, Mapping) and isinstance(two, Mapping) and _sorted_keys(one) != _sorted_keys(two):
        raise ValueError(f"the keys {list(one)!r} and {list(two)!r} differ")
    if len(one) != len(two):
        raise ValueError(f"{len(one)} elements against {len(two)}")
    for a, b in zip(children(one), children(two), strict=True):
        _compare(a, b, check_types)


def _same_type(one: Any, two: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return True
    if hasattr(one, "_fields") and hasattr(two, "_fields"):
        return type(one).__name__ == type(two).__name__ and one._fields == two._fields
    return type(one) is type(two)
