"""Plays every script of this folder and compares; ``pytest --rewrite`` writes what happened instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interaction.script import Interpreter, parse, render

SCRIPTS = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script: Path, request: pytest.FixtureRequest) -> None:
    text = script.read_text()
    interpreter = Interpreter()
    played = render([interpreter.run(block) for block in parse(text)])
    if request.config.getoption("--rewrite"):
        script.write_text(played)
    assert played == script.read_text()
