"""What must be true of every call, whatever happened on the way."""

from __future__ import annotations

from collections.abc import Iterator

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.messages import CallResponse
from tfsvc.protocol.reading import EndOfData, Said
from tfsvc_sim.rpc.executor import FAILURE, ITEMS, STREAM
from tfsvc_sim.rpc.world import Called, RpcWorld


def judge(world: RpcWorld) -> list[str]:
    """What is wrong, in words."""
    return [
        f"{called.key.decode()} ({called.plan}): {what}" for called in world.calls for what in _wrong(world, called)
    ]


def _wrong(world: RpcWorld, called: Called) -> Iterator[str]:
    ran = world.runs.count.get(called.key, 0)
    if ran > 1:
        yield f"ran {ran} times"
    if called.plan.method == STREAM and called.items != [b"%d" % i for i in range(len(called.items))]:
        yield f"gave {called.items}"
    match called.result:
        case None:
            if world.awaited(called):
                yield "never ended"
        case RpcError() as error:
            yield from _wrong_error(world, called, error, ran)
        case Said(CallResponse((key,))):
            if bytes(key) != called.key:
                yield f"was answered {bytes(key)!r}"
            if ran != 1:
                yield f"was answered and ran {ran} times"
        case EndOfData():
            if len(called.items) != ITEMS:
                yield f"ended after {len(called.items)} of {ITEMS} items"
        case other:
            yield f"ended with {other}"


def _wrong_error(world: RpcWorld, called: Called, error: RpcError, ran: int) -> Iterator[str]:
    if error == FAILURE and ran != 1:
        yield f"was told of its function's failure and ran {ran} times"
    if error.code is Code.RESOURCE_EXHAUSTED and ran:
        yield "was refused and ran all the same"
    if error.code is Code.CANCELLED and not called.plan.cancel_ms:
        yield f"was cancelled by nobody: {error.message}"
    if error.code is Code.DEADLINE_EXCEEDED and not called.plan.timeout_ms:
        yield f"ran out of time that had no end: {error.message}"
    lost = error.code in (Code.ABORTED, Code.UNAVAILABLE)
    if lost and called.plan.retry and not world.restarted and not world.forgetful:
        yield f"was given up though the server lived on: {error.message}"
