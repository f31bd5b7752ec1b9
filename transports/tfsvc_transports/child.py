"""The process of a hosted dispatcher: serves until its standard input ends; see ``hosted``."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from tfsvc.errors import OpError
from tfsvc.protocol.messages import DeploymentMode
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.service.backend import HttpAddress
from tfsvc.service.security import Limits, Security
from tfsvc_transports.backends import grpc
from tfsvc_transports.nodes import ServerNode


def main() -> None:
    """Takes one line of settings, and answers with one line: the port, or what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked: dict[str, Any] = json.loads(sys.stdin.readline())
    settings = asked["settings"]
    settings["deployment_mode"] = DeploymentMode(settings["deployment_mode"])
    settings["worker_addresses"] = tuple(settings["worker_addresses"])
    limits = Limits(**asked["security"].pop("limits"))
    security = Security(**asked["security"], limits=limits)
    try:
        host, port, record_dir = asked["host"], asked["port"], asked["record_dir"]
        made = DispatcherSettings(**settings)
        http = None if asked["http"] is None else HttpAddress(*asked["http"])
        node = grpc(security).start_dispatcher(host, port, made, asked["work_dir"], record_dir=record_dir, http=http)
    except OpError as error:
        _say(error)
        return
    print(json.dumps({"port": node.port, "http_port": node.http_port}), flush=True)
    threading.Thread(target=_watch, args=(node,), daemon=True).start()
    sys.stdin.read()
    node.stop()


def _watch(node: ServerNode) -> None:
    """Ends the process when the dispatcher has ended by itself."""
    try:
        node.join()
    except OpError as error:
        _say(error)
        os._exit(1)
    os._exit(0)


def _say(error: OpError) -> None:
    print(json.dumps({"code": error.error_code, "message": error.message}), flush=True)


if __name__ == "__main__":
    main()
