"""A process of the pool: calls functions for elements until the other end of its socket is gone."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import cloudpickle

from tfsvc.data.processes.channel import Channel
from tfsvc.data.processes.work import Failure, Results, run
from tfsvc.errors import InvalidArgumentError


def main() -> None:
    """Answers each task in turn; the socket's number is the argument of the process."""
    # Ctrl-C is for the process that asks, which then lets go of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    tasks: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_read, args=(channel, tasks), daemon=True).start()
    with suppress(OSError):
        channel.send("ready")
        _answer(channel, tasks)


def _answer(channel: Channel, tasks: SimpleQueue[Any]) -> None:
    functions: dict[bytes, Any] = {}
    while True:
        key, packed, known, pieces = tasks.get()
        functions = {name: functions[name] for name in known if name in functions}
        if packed is not None:
            functions[key] = _unpack(packed)
        results = run(functions[key], pieces)
        try:
            channel.send(results)
        except OSError:
            raise
        except Exception as error:
            # A result that cannot be sent is a failure of each of them.
            failure = Failure.of(error)
            channel.send(Results([failure] * len(results), True, results.seconds))


def _read(channel: Channel, tasks: SimpleQueue[Any]) -> None:
    """Reads ahead, so that the next task is at hand; ends the process with its parent, whatever a function is at."""
    try:
        while True:
            tasks.put(channel.receive())
    except (EOFError, OSError):
        os._exit(0)


def _unpack(packed: bytes) -> Any:
    try:
        return cloudpickle.loads(packed)
    except Exception as error:
        return _Broken(f"the function cannot be read in its process: {type(error).__name__}: {error}")


class _Broken:
    """Stands for a function that cannot be had."""

    def __init__(self, message: str) -> None:
        self._message = message

    def __call__(self, *element: Any) -> Any:
        raise InvalidArgumentError(message=self._message)
