"""What can be set of a server: every field of its configuration, by one name everywhere.

A field ``worker_timeout_ms`` is the setting ``worker_timeout``, since durations and sizes have units. It is
``--worker-timeout`` on the command line, ``TFSVC_DISPATCHER__WORKER_TIMEOUT`` in the environment and ``worker_timeout``
below ``[dispatcher]`` in a file. Two underscores, since Kubernetes fills names with one with its own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

from tfsvc.service.config import DispatcherConfig, WorkerConfig
from tfsvc.service.discovery import DISPATCHER_VARIABLE
from tfsvc.service.security import VARIABLES
from tfsvc.units import parse_duration, parse_size

_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("0", "false", "no", "off", "")
_ATTRIBUTE: Final = re.compile(r"^ {2}(\w+): (.*?)(?=^ {2}\w+: |\Z)", re.M | re.S)


@dataclass(frozen=True)
class Setting:
    """One setting of a server.

    Attributes:
      name: as files call it.
      field: as the configuration calls it; empty for what concerns the command alone.
      kind: ``"text"``, ``"texts"``, ``"number"``, ``"flag"``, ``"duration"`` or ``"size"``.
      help: what it is, in one sentence.
      default: what it is where nobody says anything.
      aliases: other names of its option.
      variable: another name in the environment, which several commands know.
    """

    name: str
    field: str
    kind: str
    help: str
    default: Any = None
    aliases: tuple[str, ...] = ()
    variable: str = ""

    def parse(self, value: Any) -> Any:
        """The value that was written in a file or in the environment.

        Raises:
          ValueError: if it is none of its kind.
        """
        match self.kind:
            case "duration":
                return parse_duration(_scalar(value))
            case "size":
                return parse_size(_scalar(value))
            case "number":
                return int(_scalar(value))
            case "flag":
                return _flag(value)
            case "texts":
                return tuple(_text(each) for each in value) if isinstance(value, list) else _listed(_text(value))
            case _:
                return _text(value)

    def to_field(self, value: Any) -> Any:
        """The same for the configuration, whose durations are whole milliseconds."""
        return round(value * 1000) if self.kind == "duration" and value is not None and self.field else value


@dataclass(frozen=True)
class Role:
    """A kind of server, and what can be set of it.

    Attributes:
      argument: the setting that the command takes by its place.
      settings: by their names.
    """

    name: str
    config: Callable[..., Any]
    settings: Mapping[str, Setting]
    argument: str | None = None

    def variable(self, name: str) -> str:
        """How the environment calls a setting."""
        return f"TFSVC_{self.name.upper()}__{name.upper()}"


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text not in (*_TRUE, *_FALSE):
        raise ValueError(f"{value!r} is neither true nor false")
    return text in _TRUE


def _scalar(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{value!r} is neither a number nor a text")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text; put it in quotes")
    return value


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _told(config: type) -> dict[str, str]:
    """The first sentence about each attribute in a class's documentation."""
    _, _, attributes = (inspect.getdoc(config) or "").partition("Attributes:\n")
    found = {name: " ".join(text.replace("``", "").split()) for name, text in _ATTRIBUTE.findall(attributes)}
    return {name: text.split(". ")[0].rstrip(".") for name, text in found.items()}


_SUFFIXES: Final = {"_ms": "duration", "_bytes": "size"}
_KINDS: Final[dict[Any, str]] = {bool: "flag", int: "number", str: "text", Sequence[str]: "texts"}


def _settings(config: type, aliases: Mapping[str, tuple[str, ...]]) -> dict[str, Setting]:
    """All fields of a configuration that a text can say."""
    told, hints = _told(config), get_type_hints(config)
    found = {}
    for field in fields(config):
        hint = hints[field.name]
        kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType and kind is not str] or [str]
        kind = _KINDS.get(hint if hint in _KINDS else kinds[0])
        if kind is None:
            continue
        name = field.name
        for suffix, unit in _SUFFIXES.items():
            if name.endswith(suffix):
                name, kind = name.removesuffix(suffix), unit
        default = None if field.default is MISSING else field.default
        found[name] = Setting(name, field.name, kind, told.get(field.name, ""), default, aliases.get(name, ()))
    return found


PORT: Final = 5050
"""Where the command's dispatcher is when nobody says anything."""
DRAIN_S: Final = 30.0

_OF_DISPATCHER: Final = _settings(DispatcherConfig, {"record_dir": ("--record",)})
_OF_WORKER: Final = _settings(
    WorkerConfig, {"record_dir": ("--record",), "worker_address": ("--advertise",), "worker_tags": ("--tag",)}
)
_DRAIN: Final = Setting(
    "drain", "", "duration", "for how long it goes on, when told to end, so that nothing is lost", DRAIN_S
)

_FILES: Final = {
    "ca_file": ("tls_ca", "certificates of the service's authorities, in PEM; with it, all is encrypted"),
    "certificate_file": ("tls_cert", "this node's certificate, in PEM"),
    "key_file": ("tls_key", "the private key of it, in PEM"),
    "token_file": ("token_file", "the token that the whole service has in common"),
}
CREDENTIALS: Final = {
    field: Setting(name, "", "text", text, variable=VARIABLES[field]) for field, (name, text) in _FILES.items()
}
"""The files of a ``Security``, by the names of its fields."""
_BY_NAME: Final = {setting.name: setting for setting in CREDENTIALS.values()}

DISPATCHER: Final = Role(
    "dispatcher",
    DispatcherConfig,
    {**_OF_DISPATCHER, "port": replace(_OF_DISPATCHER["port"], default=PORT), **_BY_NAME},
)
WORKER: Final = Role(
    "worker",
    WorkerConfig,
    {
        **_OF_WORKER,
        "dispatcher_address": replace(_OF_WORKER["dispatcher_address"], variable=DISPATCHER_VARIABLE),
        "drain": _DRAIN,
        **_BY_NAME,
    },
    "dispatcher_address",
)
ROLES: Final = {role.name: role for role in (DISPATCHER, WORKER)}
