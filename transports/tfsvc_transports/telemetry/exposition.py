"""Metrics as a text that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder

from tfsvc_transports.about import release
from tfsvc_transports.http.server import Answer, Query
from tfsvc_transports.telemetry import catalogue as c


class Collecting(Protocol):
    """Gives its metrics as they are at the moment."""

    def collect(self) -> Iterable[Metric]: ...


class _Plain:
    """A collector that is not asked for its metrics when it is registered, since it has none yet."""

    def __init__(self, collectors: tuple[Collecting, ...]) -> None:
        self._collectors = collectors

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        for collector in self._collectors:
            yield from collector.collect()


class Exposition:
    """The metrics of one node, or of all readers of a process, with those of the process itself.

    Args:
      role: whose they are.
      collectors: what gives them.
    """

    def __init__(self, role: str, *collectors: Collecting) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Plain((_Info(role), *collectors)))
        ProcessCollector(registry=self._registry)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """All of it and its media type: Prometheus's text format, or OpenMetrics for those who ask for it."""
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type

    def page(self, query: Query) -> Answer:
        body, media_type = self.text(query.accept)
        return Answer(body, media_type)


class _Info:
    def __init__(self, role: str) -> None:
        self._role = role

    def collect(self) -> Iterable[Metric]:
        yield c.INFO.family({(self._role, release("tfsvc")): 1.0})
