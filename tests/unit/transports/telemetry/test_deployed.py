"""What is deployed beside the code asks only for metrics and labels that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tfsvc_transports.telemetry.catalogue import CATALOGUE, Kind

ROOT = Path(__file__).parents[4]
DASHBOARD = json.loads((ROOT / "deploy/grafana/tfsvc.json").read_text())
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
NAME = re.compile(r"\b(tfsvc_\w+)(?:\{([^}]*)\})?")
GROUPED = re.compile(r"\bby \(([^)]*)\)")
OF_PROMETHEUS = {"instance", "le", "job"}


def _known():
    """By exposed name: the labels."""
    found = {}
    for series in CATALOGUE:
        ends = ("_bucket", "_sum", "_count") if series.kind is Kind.HISTOGRAM else ("",)
        found |= {series.name + end: set(series.labels) for end in ends}
    return found


KNOWN = _known()
QUERIES = [
    (panel["title"], target["expr"])
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", ())
] + [(each["name"], each["expr"]) for each in DASHBOARD["annotations"]["list"]] + [
    ("alert", line.partition("expr:")[2].strip()) for line in ALERTS.read_text().splitlines() if "expr:" in line
]  # fmt: skip


@pytest.mark.parametrize(("title", "query"), QUERIES, ids=lambda value: value[:60])
def test_a_query_names_what_there_is(title, query):
    assert query.count("(") == query.count(")")
    names = NAME.findall(query)
    assert names
    labels = OF_PROMETHEUS.union(*(KNOWN[name] for name, _ in names if name in KNOWN))
    for name, selected in names:
        assert name in KNOWN
        assert {each.split("=")[0].rstrip("!") for each in filter(None, selected.split(","))} <= KNOWN[name]
    for group in GROUPED.findall(query):
        assert {label.strip() for label in group.split(",")} <= labels
    counters = {series.name for series in CATALOGUE if series.kind is Kind.COUNTER}
    for name, _ in names:
        rated = re.search(rf"(rate|increase)\({name}\b", query) is not None
        assert rated == (name in counters or name.endswith("_bucket")), "only what only grows has a rate"


def test_panels_lie_side_by_side():
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not cells & taken
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_legends_and_variables_are_labels_too():
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            used = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            grouped = {label.strip() for group in GROUPED.findall(target["expr"]) for label in group.split(",")}
            assert used <= grouped | OF_PROMETHEUS, target["expr"]
    (job,) = (each for each in DASHBOARD["templating"]["list"] if each["name"] == "job")
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", job["query"]["query"]).groups()
    assert label in KNOWN[metric]


def test_most_of_the_catalogue_is_on_the_dashboard():
    shown = {name for _, query in QUERIES for name, _ in NAME.findall(query)}
    assert len(shown & KNOWN.keys()) >= 30
