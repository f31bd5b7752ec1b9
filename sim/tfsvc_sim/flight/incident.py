"""Incidents: a recording becomes a test, which plays it again for as long as the project lives."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tfsvc.errors import InvalidArgumentError
from tfsvc_sim.flight.replaying import Life

_TEST: Final = '''"""An incident, played again: {nodes}.

The recordings lie in {folder}/. A machine that is mended says something else than it said then: see to it that the
difference is the intended one, and expect it by its words.
"""

from pathlib import Path

import pytest

from tfsvc_sim.flight.replaying import find, replay

LIVES = find([Path(__file__).parent / "{folder}"], partial={partial})


@pytest.mark.parametrize("life", LIVES, ids=str)
def test_{name}(life):
    replayed = replay(life)
    assert replayed.events > 0
    assert not replayed.problems, "\\n".join(replayed.problems)
    assert not replayed.difference, replayed.difference
'''


def write_test(lives: Sequence[Life], path: Path) -> Path:
    """Writes a pytest that replays lives, with copies of their files in a folder beside it; returns where.

    Raises:
      InvalidArgumentError: if the path is not one that pytest finds, or a life does not begin with its birth: such a
        file holds a pickle, which no test should run.
      OSError: if something cannot be written.
    """
    found = re.fullmatch(r"test_(\w+)\.py", path.name)
    if found is None:
        raise InvalidArgumentError(message=f"{path.name} is no name of a test: call it test_<what happened>.py")
    for life in lives:
        if life.header.state:
            raise InvalidArgumentError(
                message=f"the recording of {life} has lost its beginning; leave it out, or record with a larger ring"
            )
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for life in lives:
        for part in life.parts:
            shutil.copyfile(part.path, folder / part.path.name)
    nodes = ", ".join(f"{life.header.role} {life.header.name}" for life in lives)
    partial = any(life.damage is not None for life in lives)
    path.write_text(_TEST.format(nodes=nodes, folder=folder.name, name=found[1], partial=partial), "utf-8")
    return path
