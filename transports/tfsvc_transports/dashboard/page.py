"""The page as a text: the template with its style, its scripts and, in a saved one, what it shows.

It needs no other file and no network but its own dispatcher's. What it may run and whom it may ask stands in the page
itself, by the hashes of its style and script, so that nothing which users have named can become code.
"""

from __future__ import annotations

import base64
import hashlib
import html
import time
from dataclasses import asdict
from functools import cache
from typing import Any, Final

from tfsvc.errors import sendable
from tfsvc.protocol.messages.chronicle import GetChronicleResponse
from tfsvc.protocol.messages.description import Description
from tfsvc.webpage import embedded, fill, text_of
from tfsvc_transports.commands.rates import STARVED
from tfsvc_transports.http.server import Answer, Query

SCRIPTS: Final = ("model.js", "charts.js", "tables.js", "page.js")
"""In the order in which they need each other."""
_FOLDER: Final = "tfsvc_transports.dashboard"


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
    parts = {
        "policy": policy,
        "title": html.escape(sendable(title)),
        "style": style,
        "data": embedded(data),
        "script": script,
    }
    return fill(template, parts), f"{policy}; frame-ancestors 'none'"


@cache
def _parts() -> tuple[str, str, str]:
    return text_of(_FOLDER, "page.html"), text_of(_FOLDER, "page.css"), text_of(_FOLDER, *SCRIPTS)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
