"""``grpc.health.v1``: whether a node answers, for Kubernetes, load balancers and ``grpc_health_probe``.

The service has one method that matters and two messages of one field each, so it is declared here: the package for it
would bind this one to a release of gRPC and of protobuf, and its servicer keeps a thread for each watcher. ``Watch`` is
not offered, which clients are to take for "ask again yourself".

A node is asked something about the service that is named. It serves if it answers, and is not that service's node if it
does not know the question.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import grpc

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import Address
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, parse, serialize
from tfsvc_transports.grpc import threadless
from tfsvc_transports.grpc.intake import Intake, Later, Received
from tfsvc_transports.grpc.threadless import Send
from tfsvc_transports.transport import Handler

PATH: Final = "/grpc.health.v1.Health/Check"

QUESTIONS: Final[dict[str, m.Request]] = {
    "tensorflow.data.DispatcherService": m.GetVersionRequest(),
    "tensorflow.data.WorkerService": m.GetWorkerTasksRequest(),
}
"""What a node is asked for each service that can be named; for all of a node, the first of these."""
_WHOLE: Final = ""
_STRANGE: Final = (Code.UNIMPLEMENTED, Code.NOT_FOUND)
"""How a node answers that does not know a question."""


def handler(handle: Handler, intake: Intake) -> grpc.RpcMethodHandler[bytes, bytes]:
    """Answers for the node whose calls ``handle`` takes; its own come in by the same ``intake``."""

    def check(messages: Iterator[bytes], context: grpc.ServicerContext, send: Send) -> None:
        def take(received: Received) -> None:
            match received:
                case bytes() as data:
                    answer(data, context, send)
                case RpcError() as error:
                    _refuse(context, send, grpc.StatusCode.INVALID_ARGUMENT, error.message)
                case Later(text):
                    _refuse(context, send, grpc.StatusCode.RESOURCE_EXHAUSTED, text)
                case None:
                    pass

        intake.receive(pb.HealthCheckRequest, context.peer(), context, messages, take)

    def answer(data: bytes, context: grpc.ServicerContext, send: Send) -> None:
        try:
            service = str(parse(pb.HealthCheckRequest, data).service)
        except WireError:
            _refuse(context, send, grpc.StatusCode.INVALID_ARGUMENT, "this is no HealthCheckRequest")
            return
        if service != _WHOLE and service not in QUESTIONS:
            _refuse(context, send, grpc.StatusCode.NOT_FOUND, f"there is no service {service!r} here")
            return
        question = QUESTIONS.get(service, m.GetVersionRequest())
        cancel = handle(Address("its health"), question, partial(_answer, service, context, send))
        context.add_callback(cancel)

    return threadless.handler(check)


def _answer(service: str, context: grpc.ServicerContext, send: Send, answer: m.Response | RpcError) -> None:
    if isinstance(answer, RpcError) and answer.code in _STRANGE and service != _WHOLE:
        _refuse(context, send, grpc.StatusCode.NOT_FOUND, f"this node is none of service {service!r}")
        return
    strange = isinstance(answer, RpcError) and answer.code not in _STRANGE
    status = pb.HealthCheckResponse.NOT_SERVING if strange else pb.HealthCheckResponse.SERVING
    threadless.end(context, send, serialize(pb.HealthCheckResponse(status=status)))


def _refuse(context: grpc.ServicerContext, send: Send, code: grpc.StatusCode, details: str) -> None:
    context.set_code(code)
    context.set_details(details)
    threadless.end(context, send, None)
