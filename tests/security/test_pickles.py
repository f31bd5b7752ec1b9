"""Where pickles are read, and whose they are: a new place does not come in unseen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_tidy import ROOT, SOURCES
from tfsvc.data import states
from tfsvc.errors import InvalidArgumentError

READERS = {
    "tfsvc/data/processes/channel.py": {"pickle.loads"},  # a process and its own children, over a socket of their own
    "tfsvc/data/processes/child.py": {"cloudpickle.loads"},  # the same
    "tfsvc/data/processes/work.py": {"cloudpickle.loads"},  # the same
    "tfsvc/data/states.py": {"pickle.Unpickler"},  # data alone, below
    "tfsvc/execution/program.py": {"cloudpickle.loads"},  # a worker, the functions of whom it has let in
    "tfsvc/flight/state.py": {"pickle.loads"},  # a recording, of whom its user says that they trust it
    "sim/tfsvc_sim/research/sweep.py": {"cloudpickle.loads"},  # a process and its own children
}
"""Every place where a pickle is read, and from whom."""

LIBRARIES = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib", "yaml"}
DOORS = {"load", "loads", "Unpickler", "_Unpickler", "open", "unsafe_load", "full_load"}


def readers(tree: ast.AST) -> Iterator[str]:
    """The names by which a module could read a pickle, or run text as code."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                for alias in names:
                    if alias.name in LIBRARIES:
                        imported[alias.asname or alias.name] = alias.name
            case ast.ImportFrom(module=module, names=names) if module in LIBRARIES:
                yield from (f"{module}.{alias.name}" for alias in names if alias.name in DOORS | {"*"})
            case ast.keyword(arg="allow_pickle", value=ast.Constant(value=True)):
                yield "allow_pickle"
            case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                yield name
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=door) if name in imported and door in DOORS:
                yield f"{imported[name]}.{door}"


def test_pickles_are_read_where_we_know_of_it_and_nowhere_else() -> None:
    found: dict[str, set[str]] = {}
    for path in SOURCES:
        names = set(readers(ast.parse(path.read_text())))
        if names:
            found[str(path.relative_to(ROOT))] = names
    assert found == READERS


@pytest.mark.parametrize(
    "text",
    [
        "import pickle\npickle.loads(b'')",
        "import cloudpickle as cp\ncp.load(f)",
        "from pickle import loads",
        "class A(pickle.Unpickler): ...\nimport pickle",
        "numpy.load(f, allow_pickle=True)",
        "exec(text)",
    ],
)
def test_a_new_place_would_be_seen(text: str) -> None:
    assert list(readers(ast.parse(text)))


def short(text: str) -> bytes:
    data = text.encode()
    return b"\x8c" + bytes((len(data),)) + data


def naming(module: str, name: str, argument: str) -> bytes:
    """A pickle that calls a function with a text."""
    return b"\x80\x04" + short(module) + short(name) + b"\x93" + short(argument) + b"\x85R."


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("posix", "system"),
        ("builtins", "exec"),
        ("builtins", "bytes.fromhex"),
        ("numpy", "load"),
        ("ml_dtypes", "_np.lib._npyio_impl.os.system"),
        ("ml_dtypes", "finfo"),
        ("numpy.dtypes", "__builtins__.exec"),
        ("numpy.dtypes", "_add_dtype_helper"),
        ("tfsvc.data.states", "loads"),
        ("tfsvc.specs", "as_dtype.__globals__"),
    ],
)
def test_a_state_is_data_whoever_wrote_it(module: str, name: str, tmp_path: Path) -> None:
    trace = tmp_path / "exploded"
    with pytest.raises(InvalidArgumentError, match="which is no data"):
        states.loads(naming(module, name, f"touch {trace}"))
    assert not trace.exists()
