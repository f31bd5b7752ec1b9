"""Files: scenarios as people keep them, in Python, TOML or JSON.

A Python file says what goes on in its docstring, binds ``SCENARIO``, and may bind ``CLAIMS``. A TOML or JSON file
holds the fields of a scenario, and may hold a ``title``. What a failing run leaves behind is a JSON file, too, with the
``problems`` and the ``digest`` of the run: playing it again must come to the same.
"""

from __future__ import annotations

import json
import runpy
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tfsvc_sim.judging.claims import Claim
from tfsvc_sim.playing.records import from_plain, to_plain
from tfsvc_sim.playing.scenario import Scenario

KINDS: Final = (".py", ".toml", ".json")
BESIDE: Final = ("title", "problems", "digest", "claims_of")
"""What a file may hold beside the fields of a scenario; ``claims_of`` names the Python file whose claims are meant."""


@dataclass(frozen=True, slots=True)
class Story:
    """A scenario as it was found in a file.

    Attributes:
      claims_of: the Python file that makes the claims, if there are any.
      problems: what was wrong when it was played, where it was left behind by a failing run.
      digest: the trace of that run.
    """

    name: str
    title: str
    scenario: Scenario
    claims: Sequence[Claim] = ()
    claims_of: Path | None = None
    problems: tuple[str, ...] = ()
    digest: str = ""


def load(path: Path) -> Story:
    """The scenario in a file.

    Raises:
      ValueError: if there is none, or something in it is wrong; says where, and what could stand there.
    """
    if path.suffix not in KINDS:
        raise ValueError(f"{path} is no scenario: it must end in {', '.join(KINDS)}")
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    try:
        return _from_python(path) if path.suffix == ".py" else _from_table(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _from_python(path: Path) -> Story:
    bound = runpy.run_path(str(path), run_name=path.stem)
    scenario = bound.get("SCENARIO")
    if not isinstance(scenario, Scenario):
        raise ValueError("it binds no SCENARIO = Scenario(...)")
    title = (bound.get("__doc__") or path.stem).strip().splitlines()[0].rstrip(".")
    claims = tuple(bound.get("CLAIMS", ()))
    return Story(path.stem, title, scenario, claims, path if claims else None)


def _from_table(path: Path) -> Story:
    text = path.read_text()
    table: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    if not isinstance(table, dict):
        raise ValueError("it holds no scenario")
    rest = {key: value for key, value in table.items() if key not in BESIDE}
    scenario = from_plain(Scenario, rest)
    claims_of = None
    if "claims_of" in table:
        beside = path.parent / table["claims_of"]
        claims_of = beside if beside.is_file() else Path(table["claims_of"])
    return Story(
        path.stem,
        table.get("title", path.stem),
        scenario,
        claims_from(claims_of),
        claims_of,
        tuple(table.get("problems", ())),
        table.get("digest", ""),
    )


def claims_from(file: Path | None) -> Sequence[Claim]:
    """What a Python file claims.

    Raises:
      ValueError: if it is not there.
    """
    return () if file is None else load(file).claims


def found(folder: Path) -> Iterator[Story]:
    """All scenarios of a folder, by name.

    Raises:
      ValueError: if there is no such folder.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    for path in sorted(folder.iterdir()):
        if path.suffix in KINDS and not path.name.startswith("_"):
            yield load(path)


def to_file(scenario: Scenario, title: str, problems: Sequence[str], digest: str, claims_of: Path | None = None) -> str:
    """A failing run as the text of a JSON file that can be played again."""
    found = {"title": title, **to_plain(scenario), "problems": list(problems), "digest": digest}
    if claims_of is not None:
        found["claims_of"] = str(claims_of)
    return json.dumps(found, indent=2) + "\n"
