"""Which value counts: of the command line, before the environment, before a file, before the default."""

from __future__ import annotations

import tomllib
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from tfsvc.errors import InvalidArgumentError
from tfsvc.service.security import Security
from tfsvc_transports.configuration.settings import CREDENTIALS, ROLES, Role, Setting

DEFAULT: Final = "default"


@dataclass(frozen=True)
class Effective:
    """A setting's value and its source: ``"argument"``, ``"option"``, ``"environment NAME"``, ``"file PATH"``..."""

    setting: Setting
    value: Any
    source: str


Layer = Iterator[tuple[str, Effective]]


def resolve(
    role: Role, given: Mapping[str, Any], environment: Mapping[str, str], file: Path | None
) -> dict[str, Effective]:
    """All settings of a server.

    Args:
      given: what the command line says, by name; what it does not say is missing, or ``None``.
      file: where more is written, below ``[dispatcher]`` and ``[worker]``.

    Raises:
      InvalidArgumentError: if the file or the environment names a setting that there is not, or a value that is none.
    """
    defaults = {name: Effective(setting, setting.default, DEFAULT) for name, setting in role.settings.items()}
    layers = (_file(role, file), _environment(role, environment), _given(role, given))
    return _with_implied(dict(ChainMap(*(dict(layer) for layer in reversed(layers)), defaults)))


def fields(effective: Mapping[str, Effective]) -> dict[str, Any]:
    """What the configuration is made of."""
    files = {field: effective[each.name].value for field, each in CREDENTIALS.items() if each.name in effective}
    plain = {
        each.setting.field: each.setting.to_field(each.value)
        for each in effective.values()
        if each.setting.field and each.value is not None
    }
    return {**plain, "security": Security(**files)}


def _with_implied(found: dict[str, Effective]) -> dict[str, Effective]:
    """A directory for the journal is given in order to be used."""
    keeps, work_dir = found.get("fault_tolerant_mode"), found.get("work_dir")
    if keeps is not None and work_dir is not None and keeps.source == DEFAULT and work_dir.value:
        found["fault_tolerant_mode"] = Effective(keeps.setting, True, "implied by work_dir")
    return found


def _given(role: Role, given: Mapping[str, Any]) -> Layer:
    for name, value in given.items():
        if value not in (None, ()):
            yield name, Effective(role.settings[name], value, "argument" if name == role.argument else "option")


def _environment(role: Role, environment: Mapping[str, str]) -> Layer:
    known = {role.variable(name): name for name in role.settings}
    for variable in sorted(environment):
        if variable.startswith(role.variable("")) and variable not in known:
            raise _unknown(variable, known, "the environment")
    for name, setting in role.settings.items():
        for variable in (setting.variable, role.variable(name)):
            if variable in environment:
                value = _parsed(setting, environment[variable], f"the environment's {variable}")
                yield name, Effective(setting, value, f"environment {variable}")


def _file(role: Role, file: Path | None) -> Layer:
    for name, value in ({} if file is None else read(file)).get(role.name, {}).items():
        if name not in role.settings:
            raise _unknown(name, role.settings, f"[{role.name}] of {file}")
        setting = role.settings[name]
        yield name, Effective(setting, _parsed(setting, value, f"{name} in {file}"), f"file {file}")


def read(file: Path) -> dict[str, dict[str, Any]]:
    """A file's sections, of which each is a server's.

    Raises:
      InvalidArgumentError: if it cannot be read, or has another section.
    """
    try:
        sections = tomllib.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(message=f"{file} cannot be read: {error}") from error
    for name, values in sections.items():
        if name not in ROLES:
            raise _unknown(name, ROLES, str(file))
        if not isinstance(values, dict):
            raise InvalidArgumentError(message=f"{name} in {file} must be a section, [{name}]")
    return sections


def _parsed(setting: Setting, value: Any, where: str) -> Any:
    try:
        return setting.parse(value)
    except ValueError as error:
        raise InvalidArgumentError(message=f"{where} is not right: {error}") from error


def _unknown(name: str, known: Iterable[str], where: str) -> InvalidArgumentError:
    names = sorted(known)
    near = get_close_matches(name, names, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return InvalidArgumentError(message=f"{where} has {name}, which is no setting; {hint}")
