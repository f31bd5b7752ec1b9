"""Names of nodes as faults and moments use them: counted around the nodes that there are."""

from __future__ import annotations

import re
from collections.abc import Sequence


def resolve(name: str, workers: Sequence[str], readers: Sequence[str], dispatcher: str) -> str:
    """The address that a name means: ``worker5`` of three workers is the third.

    Raises:
      ValueError: if it is no name of a node.
    """
    if name in ("dispatcher", dispatcher):
        return dispatcher
    found = re.fullmatch(r"(worker|reader)(\d+)", name)
    if found is None:
        raise ValueError(f"there is no node {name!r}; nodes are called dispatcher, worker0, worker1, ..., reader0, ...")
    those = workers if found[1] == "worker" else readers
    if not those:
        raise ValueError(f"there is no node {name!r}: this world has no {found[1]}s yet")
    return those[int(found[2]) % len(those)]
