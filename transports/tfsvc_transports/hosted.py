"""A dispatcher in a process of its own, held by this one.

TensorFlow's worker keeps the interpreter's lock while it waits for its dispatcher's first answer, so a
dispatcher in the same process could never give it. The child gets its settings as one line of JSON, says
which port it bound, and lives until its standard input ends, which is at the latest when this process does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from tfsvc.errors import Code, RpcError, UnavailableError, to_exception
from tfsvc.protocol.settings import DispatcherSettings

START_S: Final = 30.0
STOP_S: Final = 1.8


class HostedDispatcher:
    """A child process that serves a dispatcher.

    Args:
      host: the interface to bind.
      port: the port to bind; 0 for any free one.
      settings: what the dispatcher does when.
      work_dir: a directory for its journal; without one it forgets all at its end.

    Raises:
      OpError: if the address cannot be had, or the child does not start.
    """

    def __init__(self, host: str, port: int, settings: DispatcherSettings, work_dir: str | None = None) -> None:
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tfsvc_transports.hosted"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with suppress(BrokenPipeError):
            asked = {"host": host, "port": port, "settings": asdict(settings), "work_dir": work_dir}
            self._child.stdin.write(json.dumps(asked) + "\n")
            self._child.stdin.flush()
        said = self._child.stdout.readline()
        if not said:
            raise UnavailableError(message=f"the dispatcher's process ended with code {self._child.wait(START_S)}")
        answer = json.loads(said)
        if "port" not in answer:
            self.stop()
            raise to_exception(RpcError(Code(answer["code"]), answer["message"]))
        self.port: int = answer["port"]

    def stop(self) -> None:
        """Ends the child within two seconds; the port is free afterwards."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with suppress(BrokenPipeError, ValueError):
            self._child.stdin.close()
        try:
            self._child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child.stdout.close()

    def kill(self) -> None:
        """Ends the child as a crash would."""
        self._child.kill()
        self.stop()

    def join(self, timeout: float | None = None) -> bool:
        """Waits until the child has ended; false after ``timeout`` seconds."""
        try:
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True


def main() -> None:
    """The child: serves until its standard input ends."""
    from tfsvc.errors import OpError
    from tfsvc.protocol.messages import DeploymentMode
    from tfsvc_transports.backends import grpc

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked: dict[str, Any] = json.loads(sys.stdin.readline())
    settings = asked["settings"]
    settings["deployment_mode"] = DeploymentMode(settings["deployment_mode"])
    try:
        node = grpc().start_dispatcher(asked["host"], asked["port"], DispatcherSettings(**settings), asked["work_dir"])
    except OpError as error:
        print(json.dumps({"code": error.error_code, "message": error.message}), flush=True)
        return
    print(json.dumps({"port": node.port}), flush=True)
    sys.stdin.read()
    node.stop()


if __name__ == "__main__":
    main()
