"""Settings of servers: which layer counts, and what is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest
from click.testing import CliRunner

from tfsvc.errors import InvalidArgumentError
from tfsvc.service.config import DispatcherConfig, WorkerConfig
from tfsvc_transports.commands.check_config import check_config
from tfsvc_transports.configuration.layers import fields, resolve
from tfsvc_transports.configuration.settings import DISPATCHER, ROLES, WORKER


def sources(role, given=(), environment=(), file=None):
    found = resolve(role, dict(given), dict(environment), file)
    return {name: (each.value, each.source) for name, each in found.items()}


def written(tmp_path, text):
    path = tmp_path / "tfsvc.toml"
    path.write_text(text)
    return path


def test_the_command_line_comes_before_the_environment_before_the_file_before_the_default(tmp_path):
    file = written(tmp_path, '[dispatcher]\nport = 1\nhost = "a"\nworker_timeout = "5m"\n[worker]\nport = 9\n')
    environment = {"TFSVC_DISPATCHER__PORT": "2", "TFSVC_DISPATCHER__HOST": "b", "TFSVC_WORKER__HOST": "z"}
    found = sources(DISPATCHER, {"port": 3, "host": None}, environment, file)
    assert found["port"] == (3, "option")
    assert found["host"] == ("b", "environment TFSVC_DISPATCHER__HOST")
    assert found["worker_timeout"] == (300.0, f"file {file}")
    assert found["client_timeout"] == (None, "default")


def test_a_workers_dispatcher_is_an_argument_or_in_the_environment_that_all_commands_know():
    assert sources(WORKER, {"dispatcher_address": "d:1"})["dispatcher_address"] == ("d:1", "argument")
    shared = {"TFSVC_DISPATCHER": "s:1"}
    assert sources(WORKER, (), shared)["dispatcher_address"] == ("s:1", "environment TFSVC_DISPATCHER")
    own = {**shared, "TFSVC_WORKER__DISPATCHER_ADDRESS": "o:1"}
    assert sources(WORKER, (), own)["dispatcher_address"][0] == "o:1"


def test_what_kubernetes_puts_into_the_environment_is_no_setting():
    found = sources(
        DISPATCHER, (), {"TFSVC_DISPATCHER_PORT": "tcp://10.0.0.1:5050", "TFSVC_DISPATCHER_SERVICE_HOST": "x"}
    )
    assert found["port"] == (5050, "default")


def test_a_directory_for_the_journal_is_used():
    assert sources(DISPATCHER, {"work_dir": "/j"})["fault_tolerant_mode"] == (True, "implied by work_dir")
    assert sources(DISPATCHER, {"work_dir": "/j", "fault_tolerant_mode": False})["fault_tolerant_mode"][0] is False
    assert sources(DISPATCHER)["fault_tolerant_mode"] == (False, "default")


@pytest.mark.parametrize("role", ROLES.values(), ids=ROLES)
def test_every_field_of_a_configuration_can_be_set(role):
    reached = {setting.field for setting in role.settings.values()} - {""}
    assert {field.name for field in dataclasses.fields(role.config)} - reached <= {"security"}
    assert all(setting.help for setting in role.settings.values()), "the class documents each of them"


@pytest.mark.parametrize(
    ("role", "kind", "least"),
    [(DISPATCHER, DispatcherConfig, {}), (WORKER, WorkerConfig, {"dispatcher_address": "d:1"})],
)
def test_what_nobody_sets_is_the_configurations_own_default(role, kind, least):
    made = role.config(**{**least, **fields(resolve(role, {}, {}, None))})
    assert dataclasses.replace(made, port=0) == kind(**least)


def test_values_have_units_and_lists():
    environment = {
        "TFSVC_WORKER__HEARTBEAT_INTERVAL": "250ms",
        "TFSVC_WORKER__CROSS_TRAINER_CACHE_SIZE": "64MiB",
        "TFSVC_WORKER__WORKER_TAGS": "a, b",
        "TFSVC_WORKER__INSECURE": "yes",
    }
    found = fields(resolve(WORKER, {"dispatcher_address": "d:1"}, environment, None))
    made = WorkerConfig(**found)
    assert (made.heartbeat_interval_ms, made.cross_trainer_cache_size_bytes) == (250, 64 << 20)
    assert (made.worker_tags, made.insecure) == (("a", "b"), True)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[dispatcher]\nprot = 1", r"has prot, which is no setting; did you mean port\?"),
        ("[dispatcher]\nworker_timeout_ms = 1", r"did you mean worker_timeout\?"),
        ("[dispacher]\nport = 1", r"did you mean dispatcher\?"),
        ("[dispatcher]\nzzz = 1", "client_timeout, deployment_mode"),
        ("[dispatcher]\nport = 'x'", "port in .* is not right"),
        ("[dispatcher]\nport = true", "port in .* is not right"),
        ("[dispatcher]\ninsecure = 'perhaps'", "neither true nor false"),
        ("[dispatcher]\nhost = 7", "put it in quotes"),
        ("[dispatcher]\nworker_addresses = [7]", "put it in quotes"),
        ("dispatcher = 1", r"must be a section, \[dispatcher\]"),
        ("port = ", "cannot be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path, text, complaint):
    with pytest.raises(InvalidArgumentError, match=complaint):
        sources(DISPATCHER, file=written(tmp_path, text))


def test_what_is_wrong_in_the_environment_is_named(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"did you mean TFSVC_WORKER__PORT\?"):
        sources(WORKER, (), {"TFSVC_WORKER__PROT": "1"})
    with pytest.raises(InvalidArgumentError, match="environment's TFSVC_WORKER__PORT is not right"):
        sources(WORKER, (), {"TFSVC_WORKER__PORT": "many"})
    with pytest.raises(InvalidArgumentError, match="cannot be read"):
        sources(WORKER, file=tmp_path / "nothing.toml")


def checked(*arguments, **environment):
    done = CliRunner().invoke(check_config, arguments, env=environment)
    return done.exit_code, done.output


def test_the_settings_in_force_are_printed_with_their_sources(tmp_path):
    file = written(tmp_path, '[worker]\nworker_tags = ["gpu"]\n')
    code, said = checked("worker", "d:1", "--config", str(file), "--drain", "2m", "--json", TFSVC_WORKER__PORT="7")
    told = json.loads(said)
    assert code == 0
    assert told["dispatcher_address"] == {"value": "d:1", "source": "argument"}
    assert told["worker_tags"] == {"value": ["gpu"], "source": f"file {file}"}
    assert told["port"] == {"value": 7, "source": "environment TFSVC_WORKER__PORT"}
    assert told["drain"] == {"value": 120.0, "source": "option"}
    assert told["heartbeat_interval"] == {"value": 1.0, "source": "default"}, "what the machine makes of nothing"
    code, said = checked("worker", "d:1", "--config", str(file))
    assert code == 0
    assert next(line.split()[:3] for line in said.splitlines() if "tags" in line) == ["worker_tags", "gpu", "file"]


def test_what_a_server_would_refuse_is_refused():
    code, said = checked("dispatcher", "--port", "99999")
    assert (code, "port must be" in said) == (1, True)
    code, said = checked("dispatcher", TFSVC_DISPATCHER__PROT="1")
    assert (code, "did you mean" in said) == (2, True)
    code, said = checked("dispatcher", "--worker-timeout", "soon")
    assert (code, "is no duration" in said) == (2, True)
