"""What may be wrong with a cluster's network, one function each: from facts to findings, which say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from tfsvc.service.security import is_loopback
from tfsvc.units import show_duration
from tfsvc_transports.doctor.facts import Facts, Peer, Reach


class Level(Enum):
    """How bad it is."""

    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True)
class Finding:
    """What is wrong, and what to do about it."""

    level: Level
    what: str
    advice: str


Findings = Iterator[Finding]

ANYWHERE: Final = ("0.0.0.0", "::", "")
"""What a server may bind, and nobody can connect to."""
PROXIES: Final = ("grpc_proxy", "https_proxy", "http_proxy", "all_proxy")
CLOCK_NS: Final = 2_000_000_000


def names(facts: Facts) -> Findings:
    """Names that this machine does not know."""
    for peer in facts.peers:
        if peer.unresolved and peer.host not in ANYWHERE:
            yield Finding(
                Level.BAD,
                f"the name of {peer.name} is not known here: {peer.unresolved}",
                "Use a name that every machine knows (DNS, a headless service, /etc/hosts)"
                + (
                    f"; the worker is told its own by --worker-address NAME:{peer.port}."
                    if peer.role == "worker"
                    else "."
                ),
            )


def reach(facts: Facts) -> Findings:
    """Nodes to which there is no connection: nothing listens, or something swallows it."""
    for peer in facts.peers:
        outcomes = set(peer.reached.values())
        if not outcomes or Reach.OPEN in outcomes:
            continue
        if Reach.REFUSED in outcomes:
            yield Finding(
                Level.BAD,
                f"nothing listens at {peer.address} for this machine",
                f"See whether the {peer.role} runs, and at this port. One that binds localhost, as without --host, is "
                "reached from its own machine alone.",
            )
        elif Reach.SILENT in outcomes:
            yield Finding(
                Level.BAD,
                f"{peer.name} does not answer a connection at all: a firewall swallows it, or the address is another "
                "machine's",
                f"Open TCP port {peer.port} between these machines (security group, NetworkPolicy, iptables), and give "
                "workers a fixed --port to open.",
            )
        else:
            yield Finding(
                Level.BAD,
                f"this machine knows no way to {peer.name} ({', '.join(peer.reached)})",
                "Its name stands for an address of another network, or for IPv6 where there is none. Use an address "
                "that this machine reaches.",
            )


def advertised(facts: Facts) -> Findings:
    """Workers that tell readers an address at which others do not find them."""
    alone = facts.dispatcher is None or is_loopback(facts.dispatcher.host)
    for peer in facts.workers:
        if peer.host in ANYWHERE:
            yield Finding(
                Level.BAD,
                f"{peer.name} tells readers to look for it at {peer.host or 'nothing'}, which is no machine's address",
                "Start it with --worker-address NAME:%port%, where NAME is how readers call its machine.",
            )
        elif is_loopback(peer.host) and not alone:
            yield Finding(
                Level.BAD,
                f"{peer.name} tells readers to look for it at {peer.host}, which on their machine is themselves",
                "Start it with --host 0.0.0.0 and --worker-address NAME:%port%, where NAME is how readers call its "
                "machine.",
            )


def proxies(facts: Facts) -> Findings:
    """Proxies for the web that would take calls within the cluster."""
    given = {name.lower(): value for name, value in sorted(facts.environment.items())}
    proxy = next((name for name in PROXIES if given.get(name)), None)
    if proxy is None:
        return
    passed = [part.strip().lstrip(".").lower() for part in given.get("no_proxy", "").split(",") if part.strip()]
    caught = [peer.host for peer in facts.peers if not _passes(peer.host.lower(), passed)]
    if caught:
        listed = ",".join(dict.fromkeys(caught))
        yield Finding(
            Level.WARNING,
            f"{proxy}={given[proxy]} is set, and no_proxy does not except {listed}",
            "tfsvc's own calls pass proxies by; those of TensorFlow and of other gRPC programs do not. "
            f"export no_proxy={','.join([*passed, listed])}",
        )


def _passes(host: str, passed: list[str]) -> bool:
    return any(part == "*" or host == part or host.endswith(f".{part}") for part in passed)


def families(facts: Facts) -> Findings:
    """Names that stand for addresses of both kinds, of which one does not answer."""
    if not facts.localhost:
        yield Finding(
            Level.BAD,
            "localhost is no name on this machine",
            "Add `127.0.0.1 localhost` to /etc/hosts, or use 127.0.0.1.",
        )
    for peer in facts.peers:
        open_ = [address for address, outcome in peer.reached.items() if outcome is Reach.OPEN]
        other = [address for address, outcome in peer.reached.items() if outcome is not Reach.OPEN]
        if open_ and other and {":" in address for address in open_} != {":" in address for address in peer.reached}:
            yield Finding(
                Level.WARNING,
                f"{peer.host} stands for {', '.join(peer.reached)}, and {', '.join(other)} does not answer",
                f"Whoever tries that first fails or is slow. Use {open_[0]} instead of {peer.host}, or let the server "
                "bind both (--host ::).",
            )


def forks(facts: Facts) -> Findings:
    """Settings with which a process that is forked after its first call hangs."""
    support = facts.environment.get("GRPC_ENABLE_FORK_SUPPORT", "").lower()
    if support in ("0", "false", "no"):
        yield Finding(
            Level.BAD,
            f"GRPC_ENABLE_FORK_SUPPORT={support}: a process that is forked after its first call hangs in its next one",
            "Unset it, or start children with multiprocessing's `spawn` or `forkserver` "
            "(torch: DataLoader(multiprocessing_context='spawn')).",
        )


def releases(facts: Facts) -> Findings:
    """Releases that differ between this process and others."""
    here = facts.here
    for peer in facts.peers:
        about = peer.about
        if about is None:
            if peer.code == "UNIMPLEMENTED":
                yield Finding(
                    Level.WARNING,
                    f"{peer.name} does not tell its release: it is TensorFlow's, or an older tfsvc",
                    "With TensorFlow's, its weaker promises hold. Otherwise install the same release everywhere.",
                )
            continue
        if about.tfsvc != here.tfsvc:
            yield _other(Level.BAD, peer, "tfsvc", about.tfsvc, here.tfsvc, "Install the same release everywhere.")
        if _upto(about.python, 2) != _upto(here.python, 2):
            advice = "Functions travel as code of one Python: use the same minor version for trainers and workers."
            yield _other(Level.BAD, peer, "Python", about.python, here.python, advice)
        for package in ("grpcio", "protobuf", "cloudpickle"):
            theirs, ours = getattr(about, package), getattr(here, package)
            if _upto(theirs, 1) != _upto(ours, 1):
                advice = "They are made to get along; if calls fail all the same, install the same one."
                yield _other(Level.WARNING, peer, package, theirs, ours, advice)


def _upto(release: str, parts: int) -> list[str]:
    return release.split(".")[:parts]


def _other(level: Level, peer: Peer, package: str, theirs: str, ours: str, advice: str) -> Finding:
    return Finding(level, f"{peer.name} has {package} {theirs or '?'}, this process has {ours or '?'}", advice)


def clocks(facts: Facts) -> Findings:
    """Clocks that differ."""
    for peer in facts.peers:
        if peer.about is not None and abs(peer.ahead_ns) > CLOCK_NS + peer.trip_ns:
            where = "ahead of" if peer.ahead_ns > 0 else "behind"
            yield Finding(
                Level.BAD,
                f"the clock of {peer.name} is {show_duration(abs(peer.ahead_ns) / 1e9)} {where} this machine's",
                "A node that is started again on a machine whose clock is behind counts as the older one and is "
                "refused. Run chrony or another NTP client on every machine.",
            )


def ports(facts: Facts) -> Findings:
    """Ports that a server is to bind here and cannot."""
    for port, reason in facts.taken.items():
        yield Finding(
            Level.BAD,
            f"port {port} of this machine cannot be bound: {reason}",
            f"`ss -ltnp 'sport = :{port}'` names the process that has it. End that, or choose another --port.",
        )


def credentials(facts: Facts) -> Findings:
    """Nodes that do not let this process in."""
    for peer in facts.peers:
        if peer.code in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
            yield Finding(
                Level.BAD,
                f"{peer.name} does not let this process in: {peer.error}",
                "Give it the cluster's token and certificates, as its servers have them.",
            )
        elif peer.code == "UNAVAILABLE" and Reach.OPEN in peer.reached.values():
            yield Finding(
                Level.BAD,
                f"something listens at {peer.address} and does not speak as tfsvc does: {peer.error}",
                f"See whether it is the {peer.role}'s port, and whether one of both sides uses TLS and the other not.",
            )
