"""The black-box cases that TensorFlow passes, with us in its place: in all roles, as dispatcher, as worker and reader.

They lie beside the checkout, in ``shared/conformance``; without them there is nothing to test. Where a mix shares its
code with another one, only those cases are played in it that can show a difference.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HOME = Path(__file__).parents[3] / "shared" / "conformance"

pytestmark = [
    pytest.mark.interop,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not HOME.exists(), reason="no cases beside the checkout"),
]

SIDE_BY_SIDE = 2
"""A case mostly waits, or imports TensorFlow on one core."""


def named(*tags: str) -> list[str]:
    """The names of the cases with one of the tags."""
    spec = importlib.util.spec_from_file_location("conformance_cases", HOME / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [name for name, tag, _ in module.CASES if tag in tags]


def play(dispatcher: str, worker: str, client: str, names: Iterable[str]) -> None:
    """Plays cases, each in a process of its own."""
    roles = ["--dispatcher", dispatcher, "--worker", worker, "--client", client]

    def one(name: str) -> str:
        command = [sys.executable, str(HOME / "run.py"), *roles, "--one", name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        return "" if done.returncode == 0 else f"{name}: {done.stderr[-2000:]}"

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        failed = [said for said in pool.map(one, names) if said]
    assert not failed, "\n".join(failed)


def test_in_every_role():
    play("tfsvc", "tfsvc", "tfsvc", named("core", "journal", "parity"))


def test_between_a_tensorflow_worker_and_a_tensorflow_reader():
    pytest.importorskip("tensorflow")
    play("tfsvc", "tf", "tf", named("core", "journal", "parity"))


def test_under_tensorflows_dispatcher():
    """Not what is about arguments and elements alone, nor ``saved_and_loaded``, which needs a dispatcher of ours."""
    pytest.importorskip("tensorflow")
    shown = {
        "off_gives_every_worker_all",
        "flat_map_dynamic",
        "zip_dynamic",
        "named_job_is_shared",
        "worker_error_reaches_reader",
        "data_policy_with_fixed_workers",
        "dispatcher_restart_mid_read",
        "coordinated_rounds",
        "trainers_share_a_cache",
    }
    names = [name for name in named("core", "journal", "parity") if name in shown]
    assert len(names) == len(shown)
    play("tf", "tfsvc", "tfsvc", names)
