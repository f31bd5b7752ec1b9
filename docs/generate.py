"""Writes the pages of ``docs/reference`` from the docstrings and ``operators.toml``.

Run as ``python -m docs.generate`` after a change of either; a test holds the pages against both.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import tfsvc as tf
from docs.docstrings import plain
from tfsvc.data.operator import Operator, SourceOperator, UnaryOperator

HERE = Path(__file__).parent
HEAD = "<!-- Made by docs/generate.py from the docstrings and docs/operators.toml. -->\n"
INDEX = """# Operators of `tf.data.Dataset`

Each with its arguments, with an example whose output is checked, and with what it does in the service:

- **Splits**: the pieces of the input that DYNAMIC sharding hands out to workers, one group after the other.
- **Sharding by file**: whether `ShardingPolicy.FILE` can divide the files below it. `DATA` divides the elements of any
  dataset, `FILE_OR_DATA` does the first of the two that is possible, and `HINT` fills in `shard(SHARD_HINT, 0)`.
- **State**: what it keeps between two elements. A saved position holds that and the state of its input, so a worker
  that takes over, or a trainer that is started again, goes on with the very next element.

The examples begin with

```pycon
>>> import numpy as np
>>> import tfsvc as tf
>>> Dataset = tf.data.Dataset
```
"""
AS_ITS_INPUT = "As its input."


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    groups = tomllib.loads((HERE / "operators.toml").read_text())
    texts = {f"{name}.md": _page(name, group) for name, group in groups.items()}
    return {"index.md": _index(groups), **texts}


def entries() -> dict[str, dict[str, Any]]:
    """What ``operators.toml`` says, by the name of the method."""
    groups = tomllib.loads((HERE / "operators.toml").read_text())
    return {name: entry for group in groups.values() for name, entry in group.items() if isinstance(entry, dict)}


def operators() -> dict[str, type[Operator]]:
    """The operators of datasets by the names of the methods that build them."""
    kinds: list[type[Operator]] = [Operator]
    for kind in kinds:
        kinds += kind.__subclasses__()
    named = [kind for kind in kinds if "name" in kind.__dict__ and kind.__module__.startswith("tfsvc.data.")]
    # What a method builds goes before sources of the same name that it makes on the way.
    named.sort(key=lambda kind: (issubclass(kind, SourceOperator), kind.__name__))
    return {kind.name: kind for kind in reversed(named)}


def _index(groups: dict[str, Any]) -> str:
    lines = [HEAD, INDEX]
    for name, group in groups.items():
        links = ", ".join(f"[{entry}]({name}.md#{entry.lower()})" for entry in group if isinstance(group[entry], dict))
        lines.append(f"- **{group['title']}**: {links}")
    return "\n".join(lines) + "\n"


def _page(name: str, group: dict[str, Any]) -> str:
    parts = [HEAD, f"# {group['title']}\n"]
    if "intro" in group:
        parts.append(f"{group['intro'].strip()}\n")
    parts += [_section(entry, facts) for entry, facts in group.items() if isinstance(facts, dict)]
    return "\n".join(parts)


def _section(name: str, facts: dict[str, Any]) -> str:
    path = facts.get("call", f"tf.data.Dataset.{name}")
    target = _find(path)
    shown = path if "call" in facts else f"Dataset.{name}"
    parts = [f"## {name}\n"]
    if callable(target):
        parts.append(f"```text\n{shown}{_signature(target)}\n```\n")
    parts += [_docstring(inspect.getdoc(target) or ""), *_facts(name, facts)]
    return "\n".join([*parts, f"```pycon\n{facts['example'].strip()}\n```\n"])


def _find(path: str) -> Any:
    found: Any = tf
    for step in path.split(".")[1:]:
        found = getattr(found, step)
    return found


def _signature(target: Any) -> str:
    """The parameters with their defaults, without types: the description tells those."""
    signature = inspect.signature(target)
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    text = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    if len(text) <= 80:
        return text
    return "(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + ")"


def _docstring(text: str) -> str:
    """A docstring of this project as Markdown."""
    lines, section = [], ""
    for line in text.splitlines():
        if line in ("Args:", "Returns:", "Raises:", "Attributes:"):
            section = line
            lines.append(f"**{line.removesuffix(':')}**\n")
        elif section and re.match(r"  \S", line):
            item = line.strip()
            name, colon, rest = item.partition(": ")
            lines.append(f"- `{name}`: {rest}" if colon and section != "Returns:" else f"- {item}")
        elif section and line.strip():
            lines.append(f"  {line.strip()}")
        else:
            lines.append(line)
    return plain("\n".join(lines)) + "\n"


def _facts(name: str, facts: dict[str, Any]) -> list[str]:
    """How it splits, how it shards and what its state is, as a list."""
    kind = operators().get(facts.get("operator", name))
    told = {
        "Splits": facts.get("splits") or (AS_ITS_INPUT if kind else ""),
        "Sharding by file": facts.get("shards") or (_sharding(kind) if kind else ""),
        "State": facts.get("state", ""),
    }
    items = [f"- **{what}**: {text}" for what, text in told.items() if text]
    return ["**In the service**\n\n" + "\n".join(items) + "\n"] if items else []


def _sharding(kind: type[Operator]) -> str:
    if issubclass(kind, UnaryOperator) and kind.shards_by_file:
        return "Passes the question on to its input."
    if issubclass(kind, SourceOperator):
        return "FILE refuses it, having no files; DATA and DYNAMIC divide it."
    return "FILE refuses it, whose elements would be others; DATA and DYNAMIC divide what comes out of it."


def main() -> int:
    """Writes all pages."""
    for name, text in pages().items():
        (HERE / "reference" / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
