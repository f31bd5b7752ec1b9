"""The log of a command, for people and for machines."""

from __future__ import annotations

import io
import json
import logging

import click
import pytest
from click.testing import CliRunner

from tfsvc.protocol.contract import About, Note
from tfsvc_transports.logs import log_options, write_log
from tfsvc_transports.notes import Notes


@pytest.fixture
def log():
    """The logger, as it was before afterwards."""
    found = logging.getLogger("tfsvc")
    before = found.handlers, found.level, found.propagate
    yield found
    found.handlers, found.propagate = before[0], before[2]
    found.setLevel(before[1])


def test_a_line_of_json_a_record(log):
    stream = io.StringIO()
    write_log("json", "info", stream)
    Notes("the dispatcher").tell(Note("warning", "worker w:1 is lost\nfor good", About(worker="w:1", iteration=2000)))
    log.debug("too small a thing")
    try:
        raise ZeroDivisionError("no")
    except ZeroDivisionError:
        log.exception("it %s", "failed")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.pop("time")[-1] == "Z"
    assert first == {
        "level": "warning",
        "logger": "tfsvc",
        "message": "the dispatcher: worker w:1 is lost\nfor good",
        "iteration": 2000,
        "worker": "w:1",
    }
    assert second["message"] == "it failed"
    assert "ZeroDivisionError: no" in second["exception"]


def test_text_for_people(log):
    stream = io.StringIO()
    write_log("text", "warning", stream)
    log.info("not this")
    log.warning("but this")
    assert stream.getvalue().endswith(" WARNING but this\n")
    assert stream.getvalue().count("\n") == 1


def test_options_and_environment(log):
    @click.command()
    @log_options
    def command():
        logging.getLogger("tfsvc").info("told")

    assert json.loads(CliRunner().invoke(command, ["--log-format", "json"]).stderr)["message"] == "told"
    quiet = CliRunner().invoke(command, [], env={"TFSVC_LOG_LEVEL": "ERROR"})
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    wrong = CliRunner().invoke(command, ["--log-format", "xml"])
    assert wrong.exit_code == 2
    assert "'text', 'json'" in wrong.stderr
