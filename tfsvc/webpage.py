"""Pages that are one file: a template with its style, its scripts and its data in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any


def fill(template: str, parts: Mapping[str, str]) -> str:
    """``template`` with each part in the place of its ``@@name@@``; what stands in a part is left as it is."""
    done, left = "", template
    for name, part in parts.items():
        before, mark, left = left.partition(f"@@{name}@@")
        assert mark, f"the template has no place for {name} behind the parts before it"
        done += before + part
    return done + left


def embedded(data: Any) -> str:
    """JSON that may stand in a script of a page, whatever texts are in it.

    A ``</script>`` in a text would end the data, and ``<!--`` would hide its end; JSON may write both otherwise.
    """
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def text_of(package: str, *names: str) -> str:
    """The files of a package, one behind the other."""
    folder = files(package)
    return "\n".join((folder / name).read_text("utf-8") for name in names)
