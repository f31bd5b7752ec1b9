"""What docs/deploying.md shows of Ray runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "deploying.md"

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(300)]


def test_the_block_on_ray_runs():
    pytest.importorskip("ray")
    (block,) = re.findall(r"^```python ray\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    exec(block, {"__name__": "__main__"})
