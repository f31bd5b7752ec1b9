"""Tools that look at what is deployed; where one cannot be had, its tests say so."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def tool(name: str, advice: str) -> str:
    """The path of a program beside this Python, below ``.venv``, or on the path."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), str(ROOT / ".venv" / "helm")])
    found = shutil.which(name, path=beside) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not here: {advice}")
    return found
