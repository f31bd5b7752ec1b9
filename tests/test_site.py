"""The pages hold together: every link and anchor resolves, every page is in the navigation, every command is one.

All of it is read off the Markdown, so that it is seen without building the site; ``make docs`` builds it strictly.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tfsvc.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = ROOT / "scenarios" / "gallery"
OWN = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
PAGES = [*(ROOT / name for name in OWN), *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCE = re.compile(r"^( *)```.*?^\1```", re.M | re.S)
CODE = re.compile(r"`[^`\n]+`")
NAMED = re.compile(r"^::: (\S+)", re.M)
SHELL = re.compile(r"^```sh[^\n]*\n(.*?)^```|(?<=\n\n)((?: {4}\S[^\n]*\n)+)", re.M | re.S)
COMMAND = re.compile(r"^ *(?:\.venv/\w+/bin/)?((?:make|pytest|tfsvc sim run|python -m) [^#\n]*)", re.M)


def as_github_does(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def as_mkdocs_does(heading: str) -> str:
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def anchors(page: Path) -> set[str]:
    """What can be linked to on a page, wherever that is read."""
    text = page.read_text()
    headings = [
        re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found) for found in re.findall(r"^#+ (.*)$", _prose(text), re.M)
    ]
    return {as_github_does(h) for h in headings} & {as_mkdocs_does(h) for h in headings} | set(NAMED.findall(text))


def _prose(text: str) -> str:
    return FENCE.sub("", text)


def _shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_shown)
def test_every_link_of_a_page_leads_somewhere(page):
    broken = []
    for path, anchor in LINK.findall(CODE.sub("", _prose(page.read_text()))):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}" if anchor else path)
    assert broken == []


def test_every_page_is_in_the_navigation():
    in_navigation = list(_leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    there = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} | set(OWN.values())
    assert len(in_navigation) == len(set(in_navigation))
    assert there - set(in_navigation) == set(), "give each a line under `nav` in mkdocs.yml"
    assert set(in_navigation) - there == set(), "there is no such page"


def _leaves(nav: Any) -> Any:
    match nav:
        case str():
            yield nav
        case list():
            for entry in nav:
                yield from _leaves(entry)
        case dict():
            for entry in nav.values():
                yield from _leaves(entry)


def commands() -> list[str]:
    """Every command of the pages that the checks can judge, each once."""
    blocks = [a or b for page in PAGES for a, b in SHELL.findall(page.read_text())]
    blocks += [span.strip("`") for page in PAGES for span in CODE.findall(_prose(page.read_text()))]
    return sorted({found.strip() for block in blocks for found in COMMAND.findall(block)})


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("tfsvc sim run ")])
def test_a_scenario_that_a_page_plays_comes_to_what_it_must(command, tmp_path, monkeypatch):
    name, *options = shlex.split(command)[3:]
    if name == "mine.py":
        pytest.skip("written by the reader of docs/scenarios.md, where it is played")
    monkeypatch.chdir(tmp_path)  # some write a page
    result = CliRunner().invoke(main, ["sim", "run", name, *options, "--gallery", str(GALLERY)])
    assert result.exit_code == 0, result.output


def test_every_scenario_of_the_gallery_is_in_a_story():
    told = {command.split()[3] for command in commands() if command.startswith("tfsvc sim run ")}
    assert {path.stem for path in GALLERY.iterdir() if path.suffix in (".py", ".toml")} - told == set()


def test_every_other_command_of_a_page_is_one():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for command in commands():
        match shlex.split(command):
            case ["make", target, *_]:
                assert target in targets, command
            case ["python", "-m", module, *_]:
                assert importlib.util.find_spec(module), command
            case ["pytest", *words]:
                for word in words:
                    if word.startswith("tests/"):
                        assert _is_test(word), command


def _is_test(node: str) -> bool:
    path, _, name = node.partition("::")
    if not (ROOT / path).exists():
        return False
    name = name.partition("[")[0]
    return not name or name in {
        found.name for found in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(found, ast.FunctionDef)
    }
