"""The docstrings of this project as Markdown: for ``generate.py``, and for MkDocs, which loads this as an extension."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Extension = object
else:
    try:
        from griffe import Extension
    except ModuleNotFoundError:  # the reference of operators is made without the site's libraries
        Extension = object


def plain(text: str) -> str:
    """Markdown in place of what Sphinx would read: roles, double backticks and literal blocks."""
    text = re.sub(r":(?:meth|class|func|mod|attr):`~?\.?([^`]+)`", r"`\1`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    return re.sub(r"::\n\n((?: {4}.*(?:\n|$)|\n)+)", lambda found: f":\n\n{found[1]}", text)


class Plain(Extension):
    """Lets the pages of Python names show docstrings as they are meant."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Called for everything that has a docstring, before it is shown."""
        if obj.docstring:
            obj.docstring.value = plain(obj.docstring.value)
