"""Writing a page: the template with a recording in it, as one file that needs nothing else."""

from __future__ import annotations

import html
from pathlib import Path

from tfsvc.webpage import embedded, fill, text_of
from tfsvc_sim.page.recording import Recording


def render(recording: Recording) -> str:
    """The page as a text."""
    parts = {
        "title": html.escape(recording.title),
        "style": text_of("tfsvc_sim.page", "page.css"),
        "data": embedded(recording.to_json()),
        "script": text_of("tfsvc_sim.page", *SCRIPTS),
    }
    return fill(text_of("tfsvc_sim.page", "page.html"), parts)


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
