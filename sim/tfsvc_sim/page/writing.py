"""Writing a page: the template with a recording in it, as one file that needs nothing else."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from pathlib import Path

from tfsvc_sim.page.recording import Recording


def render(recording: Recording) -> str:
    """The page as a text."""
    template = files("tfsvc_sim.page")
    # A "</script>" in a text would end the data; JSON may write the slash otherwise.
    data = json.dumps(recording.to_json(), separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    parts = {
        "title": html.escape(recording.title),
        "style": (template / "page.css").read_text("utf-8"),
        "script": "\n".join((template / name).read_text("utf-8") for name in SCRIPTS),
        "data": data.replace("<!--", "<\\u0021--"),
    }
    page = (template / "page.html").read_text("utf-8")
    for name, text in parts.items():
        before, mark, after = page.partition(f"@@{name}@@")
        assert mark, f"the template has no place for {name}"
        page = before + text + after
    return page


SCRIPTS = ("model.js", "diagram.js", "panels.js", "page.js")
"""In the order in which they need each other."""


def write(recording: Recording, path: str | Path) -> Path:
    """Writes the page of a run, for any browser, without a network; returns where.

    Args:
      recording: of a simulated run (``Observation``) or of a real one (``recording_of``).

    Raises:
      OSError: if it cannot be written there.
    """
    path = Path(path)
    path.write_text(render(recording), "utf-8")
    return path
