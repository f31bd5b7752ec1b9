"""Philox 4x32-10: published answers, TensorFlow's streams, and that place is all that matters."""

from __future__ import annotations

import numpy as np
import pytest

from tfsvc.data.philox import Philox, philox


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_the_known_answers(
    counter: tuple[int, int, int, int], key: tuple[int, int], expected: tuple[int, int, int, int]
) -> None:
    c0, c1, c2, c3 = map(np.uint64, counter)
    k0, k1 = map(np.uint64, key)
    assert tuple(map(int, philox((c0, c1, c2, c3), (k0, k1)))) == expected


def test_the_numbers_of_tensorflows_random_dataset() -> None:
    assert Philox((87654321, 3)).take(6).tolist() == [
        3534849767,
        279844183,
        888998500,
        1099633400,
        2034269327,
        2125325156,
    ]


def test_only_the_place_decides() -> None:
    expected = Philox((1, 2)).take(5000).tolist()
    stream = Philox((1, 2))
    assert [number for size in (1, 2, 3, 1000, 0, 3994) for number in stream.take(size).tolist()] == expected
    for place in (0, 1, 4999, 7):
        stream.place = place
        assert stream.take(1).tolist() == expected[place : place + 1]


def test_seeds_are_taken_modulo_64_bits_and_counters_go_around() -> None:
    assert Philox((-1, -2)).take(3).tolist() == Philox((2**64 - 1, 2**64 - 2)).take(3).tolist()
    last = Philox((1, 2), 4 * (2**64 - 1)).take(8).tolist()
    assert last[4:] == Philox((1, 2)).take(4).tolist()
