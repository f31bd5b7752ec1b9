"""The cache of outcomes: a run is a function of code, experiment and seed, so it need not be made twice."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import asdict, fields
from functools import lru_cache
from hashlib import sha256
from multiprocessing import current_process
from pathlib import Path

import cloudpickle

import tfsvc
import tfsvc_sim
from tfsvc_sim.research.experiment import Experiment
from tfsvc_sim.research.outcome import Outcome


class Cache:
    """Outcomes in files, each named by what it depends on.

    Args:
      folder: where they lie; it is made when it is not there.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def get(self, experiment: Experiment) -> Outcome | None:
        """What came of the experiment, if it was made with this code."""
        try:
            return Outcome(**json.loads(self._file(experiment).read_text()))
        except (FileNotFoundError, json.JSONDecodeError, TypeError):
            return None

    def put(self, experiment: Experiment, outcome: Outcome) -> None:
        """Keeps an outcome; whoever reads meanwhile finds it whole or not at all."""
        file = self._file(experiment)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{current_process().pid}")
        part.write_text(json.dumps(asdict(outcome)))
        part.replace(file)

    def _file(self, experiment: Experiment) -> Path:
        name = key(experiment)
        return self._folder / name[:2] / f"{name}.json"


def key(experiment: Experiment) -> str:
    """64 hexadecimal digits that stand for the experiment, its policies' code, and the code that makes it."""
    parts = [code()]
    for field in fields(experiment):
        value = getattr(experiment, field.name)
        parts.append(f"{field.name}={_source(value) if isinstance(value, type) else repr(value)}")
    return sha256("\n".join(parts).encode()).hexdigest()


def _source(cls: type) -> str:
    """What stands for the code of a class: its name where ``code`` covers it, and else its text and its bases'."""
    if getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls and _is_ours(cls):
        return f"{cls.__module__}.{cls.__qualname__}"
    try:
        text = inspect.getsource(cls)
    except (OSError, TypeError):
        text = sha256(cloudpickle.dumps(cls)).hexdigest()
    return "\n".join([text, *map(_source, cls.__bases__)])


def _is_ours(cls: type) -> bool:
    return cls.__module__.split(".")[0] in ("tfsvc", "tfsvc_sim", "builtins", "typing")


@lru_cache(maxsize=1)
def code() -> str:
    """Stands for the code of the service and the simulator."""
    digest = sha256()
    for package in (tfsvc, tfsvc_sim):
        assert package.__file__ is not None
        root = Path(package.__file__).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
