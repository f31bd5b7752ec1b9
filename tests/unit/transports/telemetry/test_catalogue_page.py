"""The page that tells of metrics has each of them, as the catalogue has it."""

from __future__ import annotations

from pathlib import Path

from tfsvc_transports.telemetry.catalogue import CATALOGUE

PAGE = (Path(__file__).parents[4] / "docs/observing.md").read_text()


def test_the_table_is_the_catalogue():
    told = [line for line in PAGE.splitlines() if line.startswith("| `tfsvc_")]
    rows = (
        f"| `{series.name}` | {', '.join(f'`{label}`' for label in series.labels)} | {series.help} |"
        for series in CATALOGUE
    )
    assert told == [row.replace("|  |", "| |") for row in rows]
