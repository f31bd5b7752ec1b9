"""The whole examination: every check, and whether there was anything for it to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tfsvc_transports.doctor import checks
from tfsvc_transports.doctor.checks import Finding, Findings, Level
from tfsvc_transports.doctor.facts import Facts
from tfsvc_transports.doctor.limits import limits


@dataclass(frozen=True)
class Result:
    """What a check found; ``looked`` is false where there was nothing that it could have found anything at."""

    name: str
    looked: bool
    findings: tuple[Finding, ...]

    @property
    def bad(self) -> bool:
        return any(finding.level is Level.BAD for finding in self.findings)


def _always(facts: Facts) -> bool:
    return True


def _peers(facts: Facts) -> bool:
    return bool(facts.peers)


def _answers(facts: Facts) -> bool:
    return any(peer.about is not None or peer.code for peer in facts.peers)


def _tells(facts: Facts) -> bool:
    return any(peer.about is not None or peer.code == "UNIMPLEMENTED" for peer in facts.peers)


_CHECKS: Final[dict[str, tuple[Callable[[Facts], Findings], Callable[[Facts], bool]]]] = {
    "names": (checks.names, _peers),
    "reach": (checks.reach, _peers),
    "advertised addresses": (checks.advertised, lambda facts: bool(facts.workers)),
    "proxies": (checks.proxies, _peers),
    "IPv4 and IPv6": (checks.families, _always),
    "forks": (checks.forks, _always),
    "releases": (checks.releases, _tells),
    "clocks": (checks.clocks, _tells),
    "ports": (checks.ports, lambda facts: bool(facts.taken or facts.wanted)),
    "credentials": (checks.credentials, _answers),
    "limits": (limits, _always),
}


def examine(facts: Facts) -> list[Result]:
    """All checks, in the order in which people look."""
    return [Result(name, looks(facts), tuple(check(facts))) for name, (check, looks) in _CHECKS.items()]
