"""Limits of machines that are too low for a node: open files, shared memory, memory."""

from __future__ import annotations

from collections.abc import Iterator

from tfsvc.protocol.messages import AboutNodeResponse
from tfsvc.units import show_size
from tfsvc_transports.doctor.checks import Finding, Findings, Level
from tfsvc_transports.doctor.facts import Facts

FILES_MIN = 4096
SHARED_MIN = 128 << 20
"""Containers have 64 MiB unless they are given more."""
MEMORY_MIN = 1 << 30


def limits(facts: Facts) -> Findings:
    """What is too little, here and at every node that tells."""
    yield from _of("this process", facts.here)
    for peer in facts.peers:
        if peer.about is not None and (peer.about.host, peer.about.pid) != (facts.here.host, facts.here.pid):
            yield from _of(peer.name, peer.about)


def _of(name: str, about: AboutNodeResponse) -> Iterator[Finding]:
    if 0 <= about.files_max < FILES_MIN:
        nearly = about.files_open > 0.8 * about.files_max
        yield Finding(
            Level.BAD if nearly else Level.WARNING,
            f"{name} may have {about.files_max} files open and has {about.files_open}",
            "Each reader and worker needs a few. ulimit -n 65536; LimitNOFILE= of systemd; --ulimit nofile= of Docker.",
        )
    if 0 <= about.shared_bytes < SHARED_MIN:
        yield Finding(
            Level.WARNING,
            f"{name} has {show_size(about.shared_bytes)} of shared memory left",
            "Large elements then go over the network, even on one host. docker run --shm-size=2g, or in Kubernetes an "
            "emptyDir with medium: Memory at /dev/shm.",
        )
    if 0 <= about.memory_bytes < MEMORY_MIN:
        yield Finding(
            Level.WARNING,
            f"{name} has {show_size(about.memory_bytes)} of memory left",
            "A worker keeps 32 MiB of finished elements for each reader, besides what the pipeline needs. Give it "
            "more, or run fewer workers on this machine.",
        )
