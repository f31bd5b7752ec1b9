"""The files behind ``Dataset.list_files``: found once, when the dataset is made."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from tfsvc.errors import InvalidArgumentError
from tfsvc.storage.folders import folder_at

_SPECIAL = re.compile(r"[*?\[\\]")
_TOKEN = re.compile(
    r"(?P<any>\*+)|(?P<one>\?)|\\(?P<escaped>.)|\[(?P<not>[!^]?)(?P<set>\]?[^\]]*)\]|(?P<plain>.)", re.DOTALL
)
_SET_SPECIAL = re.compile(r"[\\\]\[^&~|]")


def matching_files(patterns: Iterable[bytes | str]) -> list[bytes]:
    """The files that match the patterns, sorted by name; one that matches two of them comes twice, as in TensorFlow.

    ``*``, ``?`` and ``[...]`` match within one part of a path, also a name that begins with a dot; a backslash takes
    the meaning from what follows.

    Raises:
      InvalidArgumentError: if no file matches.
    """
    texts = list(map(os.fsdecode, patterns))
    found = sorted(os.fsencode(path) for text in texts for path in _expand(text))
    if not found:
        raise InvalidArgumentError(message=f"No files matched pattern: {', '.join(texts)}")
    return found


def _expand(pattern: str) -> list[str]:
    paths = [""]
    for part in re.split("(/+)", pattern):
        if _SPECIAL.search(part):
            names = _compiled(part)
            paths = [path + name for path in paths for name in _names_in(path) if names.fullmatch(name)]
        else:
            paths = [path + part for path in paths]
    return [path for path in paths if _is_there(path)]


def _is_there(path: str) -> bool:
    if "://" not in path:
        return os.path.lexists(path)
    folder, _, name = path.rpartition("/")
    return bool(name) and folder_at(folder).has(name)


def _names_in(folder: str) -> Iterator[str]:
    if "://" in folder:
        yield from folder_at(folder).children()
        return
    try:
        yield from os.listdir(folder or ".")
    except OSError:
        return


def _compiled(part: str) -> re.Pattern[str]:
    try:
        return re.compile("".join(map(_translated, _TOKEN.finditer(part))), re.DOTALL)
    except re.error as error:
        raise InvalidArgumentError(message=f"{part!r} is no pattern for names of files: {error}") from error


def _translated(token: re.Match[str]) -> str:
    """The regular expression of a part of a pattern."""
    match token.lastgroup:
        case "any":
            return ".*"
        case "one":
            return "."
        case "set":
            inside = _SET_SPECIAL.sub(r"\\\g<0>", token["set"])
            return f"[^{inside}]" if token["not"] else f"[{inside}]"
        case _:
            return re.escape(token["escaped"] or token["plain"])
