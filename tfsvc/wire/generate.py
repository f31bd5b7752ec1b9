"""Regenerates ``tfsvc_pb2.py`` and ``tfsvc_pb2.pyi`` from ``tfsvc.proto``.

Run as ``python -m tfsvc.wire.generate`` with ``grpcio-tools==1.70.0``: generated code demands a
runtime at least as new as its compiler, and 1.70 (protoc 29.0) is the newest whose code still loads
under the oldest protobuf that we allow, 5.29. Every newer runtime loads it too.
"""

from __future__ import annotations

import sys
from pathlib import Path

COMPILER = "libprotoc 29.0"


def main() -> int:
    """Writes the generated files next to the schema; returns the compiler's exit code."""
    from grpc_tools import protoc

    root = Path(__file__).parents[2]
    here = Path(__file__).parent.relative_to(root)
    result: int = protoc.main(
        ["protoc", f"-I{root}", f"--python_out={root}", f"--pyi_out={root}", str(root / here / "tfsvc.proto")]
    )
    return result


if __name__ == "__main__":
    sys.exit(main())
