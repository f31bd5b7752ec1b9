"""The document about ``tf.distribute.Server``: its signatures are ours, and its example runs.

It lies beside the checkout, in ``shared/seeds``; without it there is nothing to test. The example has two
ellipses, which are filled in here: a cluster, and what is done in the session.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import tfsvc as tf

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"
TEXT = next((t for p in sorted(SEEDS.glob("*.txt")) if "tf.distribute.Server(" in (t := p.read_text())), "")
pytestmark = pytest.mark.skipif(not TEXT, reason="no document beside the checkout")

PLACES = {
    "tf.distribute.Server": tf.distribute.Server,
    "create_local_server": tf.distribute.Server.create_local_server,
    "join": tf.distribute.Server.join,
    "start": tf.distribute.Server.start,
}


def signatures() -> dict[str, str]:
    """What stands between the parentheses of each signature, by the name before them."""
    found = re.findall(r"^(?:@staticmethod\n)?([\w.]+)\(\n?([^)]*)\)$", TEXT, re.M)
    return {name: inner for name, inner in found if name in PLACES}


def example() -> str:
    """The paragraph of code."""
    paragraphs = [p for p in re.split(r"\n\s*\n", TEXT) if p.startswith("server = tf.distribute.Server(")]
    assert len(paragraphs) == 1
    return paragraphs[0]


def test_the_document_holds_what_we_know():
    assert set(signatures()) == set(PLACES)


@pytest.mark.parametrize("name", PLACES)
def test_a_signature_is_as_documented(name):
    call = ast.parse(f"f({signatures()[name]})", mode="eval").body
    assert isinstance(call, ast.Call)
    documented = [(arg.id, inspect.Parameter.empty) for arg in call.args if isinstance(arg, ast.Name)]
    documented += [(str(word.arg), ast.literal_eval(word.value)) for word in call.keywords]
    parameters = [p for p in inspect.signature(PLACES[name]).parameters.values() if p.name != "self"]
    assert [(p.name, p.default) for p in parameters[: len(documented)]] == documented
    assert all(p.default is not inspect.Parameter.empty for p in parameters[len(documented) :])


def test_the_example_runs():
    code = example().replace("Server(...)", "Server(cluster)")
    assert code.endswith("\n# ...")
    ran: list[object] = []
    code += "\n    ran.append(tf.compat.v1.get_default_session())"
    names = {"tf": tf, "cluster": {"local": ["localhost:0"]}, "ran": ran}
    exec(code, names)
    assert isinstance(ran[0], tf.compat.v1.Session)
    names["server"].stop()


def test_the_names_for_migration_are_the_same_class():
    aliases = re.findall(r"tf\.compat\.v1\.[\w.]+Server", TEXT)
    assert aliases
    for alias in aliases:
        assert eval(alias, {"tf": tf}) is tf.distribute.Server
