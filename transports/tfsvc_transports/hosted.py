"""A dispatcher in a process of its own, held by this one.

TensorFlow's worker keeps the interpreter's lock while it waits for its dispatcher's first answer, so a
dispatcher in the same process could never give it. The child gets its settings as one line of JSON, says
which port it bound, and lives until its standard input ends, which is at the latest when this process does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from tfsvc.errors import Code, OpError, RpcError, UnavailableError, to_exception
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.service.backend import HttpAddress
from tfsvc.service.security import Security

START_S: Final = 30.0
STOP_S: Final = 1.8


def _refusal(said: Any) -> OpError:
    return to_exception(RpcError(Code(said["code"]), said["message"]))


class HostedDispatcher:
    """A child process that serves a dispatcher.

    Args:
      host: the interface to bind.
      port: the port to bind; 0 for any free one.
      settings: what the dispatcher does when.
      work_dir: a directory for its journal; without one it forgets all at its end.
      record_dir: where to record it.
      http: where it answers HTTP; nowhere when not given.
      security: what it shows, and whom it lets in.

    Raises:
      OpError: if the address cannot be had, or the child does not start.
    """

    def __init__(
        self,
        host: str,
        port: int,
        settings: DispatcherSettings,
        work_dir: str | None = None,
        record_dir: str | None = None,
        http: HttpAddress | None = None,
        security: Security | None = None,
    ) -> None:
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tfsvc_transports.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with suppress(BrokenPipeError):
            security_told = asdict(security or Security())
            where = {"work_dir": work_dir, "record_dir": record_dir, "http": http, "security": security_told}
            asked = {"host": host, "port": port, "settings": asdict(settings), **where}
            self._child.stdin.write(json.dumps(asked) + "\n")
            self._child.stdin.flush()
        said = self._child.stdout.readline()
        if not said:
            raise UnavailableError(message=f"the dispatcher's process ended with code {self._child.wait(START_S)}")
        answer = json.loads(said)
        if "port" not in answer:
            self.stop()
            raise _refusal(answer)
        self.port: int = answer["port"]
        self.http_port: int | None = answer["http_port"]
        self._failure: OpError | None = None

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
        """Waits until the child has ended; false after ``timeout`` seconds.

        Raises:
          OpError: if the dispatcher stopped by itself, since it could not go on.
        """
        try:
            self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        assert self._child.stdout is not None
        if not self._child.stdout.closed:
            said = self._child.stdout.readline()
            self._child.stdout.close()
            self._failure = _refusal(json.loads(said)) if said else None
        if self._failure is not None:
            raise self._failure
        return True
