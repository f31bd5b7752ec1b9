"""The page as a text: the template with its style, its scripts and, in a saved one, what it shows.

It needs no other file and no network but its own dispatcher's. What it may run and whom it may ask stands in the page
itself, by the hashes of its style and script, so that nothing which users have named can become code.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import time
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any, Final

from tfsvc.errors import sendable
from tfsvc.protocol.messages.chronicle import GetChronicleResponse
from tfsvc.protocol.messages.description import Description
from tfsvc_transports.commands.rates import STARVED
from tfsvc_transports.http.server import Answer, Query

SCRIPTS: Final = ("model.js", "charts.js", "tables.js", "page.js")
"""In the order in which they need each other."""


def live(_: Query) -> Answer:
    """The page that asks its dispatcher again and again."""
    text, policy = _page("tfsvc", {"live": True, "starved": STARVED})
    return Answer(text.encode(), "text/html; charset=utf-8", headers={"Content-Security-Policy": policy})


def saved(target: str, description: Description, chronicle: GetChronicleResponse, note: str = "") -> str:
    """The page of one moment, which opens without a network.

    Args:
      target: where the dispatcher was asked.
      description: what there was.
      chronicle: how it went.
      note: the user's own words, shown in the heading.
    """
    data = {
        "live": False,
        "starved": STARVED,
        "at": int(time.time() * 1000),
        "target": target,
        "note": note,
        "description": asdict(description),
        "chronicle": asdict(chronicle),
    }
    return _page(f"tfsvc: {note or target}", data)[0]


def _page(title: str, data: dict[str, Any]) -> tuple[str, str]:
    template, style, script = _parts()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # A "</script>" in a text would end the data, and "<!--" would hide its end; JSON may write both otherwise.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"policy": policy, "title": html.escape(sendable(title)), "style": style, "data": text, "script": script}
    for name, part in parts.items():
        before, mark, after = template.partition(f"@@{name}@@")
        assert mark, f"the template has no place for {name}"
        template = before + part + after
    return template, f"{policy}; frame-ancestors 'none'"


@cache
def _parts() -> tuple[str, str, str]:
    folder = files("tfsvc_transports.dashboard")
    style = (folder / "page.css").read_text("utf-8")
    script = "\n".join((folder / name).read_text("utf-8") for name in SCRIPTS)
    return (folder / "page.html").read_text("utf-8"), style, script


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
