"""The commands and transports of this checkout, whatever release of it was installed last."""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from pathlib import Path


def use_its_entry_points() -> tempfile.TemporaryDirectory[str]:
    """Lets this process and its children find them; until the directory that is returned is gone."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    found = tempfile.TemporaryDirectory()
    information = Path(found.name, f"{project['name']}-{project['version']}.dist-info")
    information.mkdir()
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    lines = (
        line for group, points in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))
    )
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n")
    sys.path.insert(0, found.name)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (found.name, os.environ.get("PYTHONPATH"))))
    return found
