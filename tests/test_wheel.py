"""The distributions hold our three packages and nothing else, and work where nothing else of ours is."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"tfsvc", "tfsvc_sim", "tfsvc_transports"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.mark.slow
@pytest.mark.timeout(360)
def test_a_wheel_built_from_the_sdist_holds_our_packages_only(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(built / "site")
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == OURS
    assert all(f"{package}/py.typed" in names for package in OURS)
    assert {f"tfsvc_sim/page/page.{kind}" for kind in ("html", "css", "js")} <= set(names)


@pytest.mark.slow
@pytest.mark.timeout(360)
def test_the_sdist_holds_what_a_packager_needs(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml", "tests/test_wheel.py"} <= names


@pytest.mark.slow
@pytest.mark.timeout(360)
def test_the_wheel_works_by_itself(built):
    test_a_wheel_built_from_the_sdist_holds_our_packages_only(built)
    script = (
        f"import sys; sys.path.insert(0, {str(built / 'site')!r})\n"
        "import tfsvc, tfsvc_sim.nodes.world, tfsvc_transports.backends\n"
        "from tfsvc_sim import page; from tfsvc_sim.playing.scenario import Scenario\n"
        "page.write(page.record(Scenario())[1], 'run.html')\n"
        f"assert all(m.__file__.startswith({str(built)!r}) for m in (tfsvc, tfsvc_sim, tfsvc_transports))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, cwd=built)
    assert done.returncode == 0, done.stderr
