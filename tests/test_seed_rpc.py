"""The document of the RPC client: its example runs as it stands.

It lies beside the checkout, in ``shared/seeds``; without it there is nothing to test.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"
EXAMPLE = re.compile(
    r"^>>> # Have server already started\.\n.*?^value = client\.addition_blocking\(a, b\)$", re.M | re.S
)
PROMPT = re.compile(r"^(>>>|\.\.\.) ?", re.M)


def examples() -> list[str]:
    return [found for path in sorted(SEEDS.glob("*.txt")) for found in EXAMPLE.findall(path.read_text())]


@pytest.mark.skipif(not SEEDS.exists(), reason="no documents beside the checkout")
def test_the_example_of_the_client_runs():
    pytest.importorskip("portpicker")
    (example,) = examples()
    code = f"import tfsvc as tf\n{PROMPT.sub('', example)}\nassert result.get_value() == value == 5\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
