"""Regenerates the ``*_pb2`` modules and their stubs from ``tfsvc.proto`` and ``cluster.proto``.

Run as ``python tfsvc/wire/generate.py`` with ``grpcio-tools==1.70.0``: generated code demands a
runtime at least as new as its compiler, and 1.70 (protoc 29.0) is the newest whose code still loads
under the oldest protobuf that we allow, 5.29. Every newer runtime loads it too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Writes the generated files next to the schema; returns the compiler's exit code."""
    root = Path(__file__).parents[2]
    here = Path(__file__).parent.relative_to(root)
    schemas = [str(root / here / name) for name in ("tfsvc.proto", "cluster.proto")]
    arguments = [f"-I{root}", f"--python_out={root}", f"--pyi_out={root}", *schemas]
    return subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
