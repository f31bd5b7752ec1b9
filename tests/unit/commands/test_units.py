"""Durations and sizes: as they are written, and as they are shown."""

from __future__ import annotations

import pytest

from tfsvc.units import parse_duration, parse_size, show_duration, show_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("5m", 300), ("1h30m", 5400), ("250ms", 0.25), ("2d", 172800), ("1.5s", 1.5), ("1h 30m", 5400)]
    + [("7", 7), (7, 7), ("0.5", 0.5), ("0", 0), ("-1", -1), ("5M", 300)],
)
def test_a_duration(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "5x", "5 minutes", "1h-30m", "inf", "nan", "5mm", "soon", "3s4"])
def test_no_duration(text):
    with pytest.raises(ValueError, match="is no duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("64MiB", 64 << 20), ("64 MiB", 64 << 20), ("1.5GB", 1_500_000_000), ("512k", 512_000), ("2Ki", 2048)]
    + [("7", 7), (7, 7), ("7B", 7), ("1g", 10**9), ("1TiB", 1 << 40), ("0", 0)],
)
def test_a_size(text, count):
    assert parse_size(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "-1", "64MiX", "1.5.2k", "ten"])
def test_no_size(text):
    with pytest.raises(ValueError, match="is no size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.00025, "0.25 ms"), (0.25, "250 ms"), (2.5, "2.5 s"), (59, "59 s"), (59.99, "1 min")]
    + [(200, "3 min 20 s"), (3600, "1 h"), (18120, "5 h 2 min"), (172800, "2 d"), (-0.5, "-500 ms"), (0.9999, "1 s")],
)
def test_a_duration_is_shown(seconds, text):
    assert show_duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1536, "1.5 KiB"),
        (64 << 20, "64 MiB"),
        (1 << 50, "1024 TiB"),
        (1023 << 10, "1023 KiB"),
    ],
)
def test_a_size_is_shown(count, text):
    assert show_size(count) == text
