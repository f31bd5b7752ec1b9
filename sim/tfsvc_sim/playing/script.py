"""Scripts: a scenario as Python that runs, as short as it can be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

import tfsvc_sim
from tfsvc_sim.playing.records import default_of
from tfsvc_sim.playing.scenario import Scenario

WIDTH: Final = 100
ELSEWHERE: Final = {"ShardingPolicy": "tfsvc.protocol.messages"}
"""Where names come from that are not of ``tfsvc_sim``."""

TEMPLATE: Final = '''"""{title}

{story}
"""

import sys

{imports}

SCENARIO = {scenario}
{claims}
if __name__ == "__main__":
    sys.exit(show({shown}))
'''


def to_script(scenario: Scenario, title: str, story: Sequence[str], claims_of: Path | None = None) -> str:
    """A file that shows the scenario when it is run, and that ``tfsvc sim`` takes as well.

    Args:
      claims_of: the Python file whose claims are meant.
    """
    used: dict[str, None] = {}
    body = _code(scenario, "", used)
    claims = "" if claims_of is None else f"CLAIMS = claims_from(Path({json.dumps(str(claims_of))}))\n"
    return TEMPLATE.format(
        title=_plain(title),
        story="\n".join(map(_plain, story)),
        imports=_imports(used, bool(claims)),
        scenario=body,
        claims=claims,
        shown="SCENARIO, CLAIMS" if claims else "SCENARIO",
    )


def _plain(text: str) -> str:
    """Text that can stand in a docstring."""
    return text.replace("\\", "/").replace('"""', "'''")


def _imports(used: dict[str, None], claims: bool) -> str:
    """Import statements for the names that are used."""
    modules: dict[str, list[str]] = {"tfsvc_sim": ["show"]}
    if claims:
        modules |= {"pathlib": ["Path"], "tfsvc_sim.playing.files": ["claims_from"]}
    for name in used:
        module = ELSEWHERE.get(name, "tfsvc_sim")
        assert module != "tfsvc_sim" or hasattr(tfsvc_sim, name), name
        modules.setdefault(module, []).append(name)
    return "\n".join(f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(modules.items()))


def _code(value: Any, indent: str, used: dict[str, None]) -> str:
    """A value as an expression, broken into lines where it is long."""
    if isinstance(value, Enum):
        used[type(value).__name__] = None
        return f"{type(value).__name__}.{value.name}"
    deeper = indent + "    "
    if isinstance(value, tuple):
        parts = [_code(part, deeper, used) for part in value]
        return _joined("(", parts, ")", indent, comma=len(parts) == 1)
    if isinstance(value, str):
        return json.dumps(value)
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    name = type(value).__name__
    used[name] = None
    parts = [
        f"{field.name}={_code(getattr(value, field.name), deeper, used)}"
        for field in fields(value)
        if getattr(value, field.name) != default_of(field)
    ]
    return _joined(f"{name}(", parts, ")", indent)


def _joined(opening: str, parts: list[str], closing: str, indent: str, comma: bool = False) -> str:
    line = opening + ", ".join(parts) + ("," if comma else "") + closing
    if len(indent) + len(line) <= WIDTH and "\n" not in line:
        return line
    inner = "".join(f"{indent}    {part},\n" for part in parts)
    return f"{opening}\n{inner}{indent}{closing}"
