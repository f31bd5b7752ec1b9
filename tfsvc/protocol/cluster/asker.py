"""The client half: puts an application's questions to a master, and never waits for a dead one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.calls import QUIET_NS, Backoff, Calls
from tfsvc.protocol.cluster.desk import Answer
from tfsvc.protocol.contract import NOTHING, Answered, Event, Failed, Finish, Note, Posed, Step, Stopped, Word
from tfsvc.protocol.ids import NEVER, SECOND, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages.cluster import CreateSessionRequest, ResetRequest
from tfsvc.protocol.reading import Said
from tfsvc.record import record

_ADVICE: Final = "Is a server running there, and is the address right?"


@record
class AskerSettings:
    """How an asker waits.

    Attributes:
      call_timeout_ns: after how long an unanswered call is made again; a year.
      patience_ns: how long a master that cannot be reached is tried again once it was there; 2 s.
    """

    call_timeout_ns: int = 365 * 24 * 3600 * SECOND
    patience_ns: int = 2 * SECOND


@dataclass(slots=True)
class _Question:
    posed: Posed
    began: Instant
    give_up: Instant
    backoff: Backoff
    next: Instant = NEVER
    asked_at: Instant = 0
    failing_since: Instant = NEVER
    told: bool = False


@record
class AskerView:
    open: int


class Asker:
    """A role that answers every ``Posed``: with the peer's answer, or an error once waiting is in vain.

    Every question may be asked again: a master knows a request by its id.
    """

    def __init__(self, name: str, incarnation: int, luck: Luck, settings: AskerSettings) -> None:
        self._calls: Calls[int] = Calls(name, incarnation)
        self._luck = luck
        self._settings = settings
        self._questions: dict[int, _Question] = {}
        self._now: Instant = 0
        self._words: list[Word] = []

    def handle(self, event: Event, now: Instant) -> Step:
        self._now = now
        match event:
            case Posed(token, _, _, timeout_ns):
                give_up = NEVER if timeout_ns is None else now + timeout_ns
                self._questions[token] = _Question(event, now, give_up, Backoff(self._luck.stream(f"ask/{token}")))
                self._ask(token)
            case Answered(call, response):
                self._answered(call, response)
            case Failed(call, error):
                self._answered(call, error)
            case Stopped(token):
                for each in tuple(self._questions):
                    self._finish(each, RpcError(Code.CANCELLED, "the session was closed"))
                self._words.append(Finish(token, None))
            case _:
                pass
        self._wake()
        if not self._words:
            return NOTHING
        words, self._words = self._words, []
        return Step(words=tuple(words))

    def deadline(self) -> Instant:
        return min((min(q.next, q.give_up) for q in self._questions.values()), default=NEVER)

    def view(self) -> AskerView:
        return AskerView(len(self._questions))

    def _ask(self, token: int) -> None:
        question = self._questions[token]
        question.next, question.asked_at = NEVER, self._now
        timeout_ns = min(self._settings.call_timeout_ns, question.give_up - self._now)
        self._words.append(self._calls.make(question.posed.peer, question.posed.request, token, max(timeout_ns, 1)))

    def _wake(self) -> None:
        for token, question in tuple(self._questions.items()):
            if self._now >= question.give_up:
                text = f"{question.posed.peer} did not answer within {(question.give_up - question.began) / SECOND:g} s"
                self._finish(token, RpcError(Code.DEADLINE_EXCEEDED, text, Outcome.UNKNOWN))
            elif self._now >= question.next:
                self._ask(token)

    def _answered(self, call: CallId, answer: Answer) -> None:
        made = self._calls.close(call)
        question = None if made is None else self._questions.get(made.about)
        if made is None or question is None:
            return
        if not isinstance(answer, RpcError):
            self._finish(made.about, Said(answer))
        elif answer.outcome is Outcome.FAILED and answer.code is not Code.UNAVAILABLE:
            self._finish(made.about, answer)
        elif answer.code is Code.DEADLINE_EXCEEDED:
            self._ask(made.about)
        else:
            self._lost(made.about, question, answer)

    def _lost(self, token: int, question: _Question, error: RpcError) -> None:
        """The master cannot be reached: a first question waits for it, any other soon gives up."""
        now = self._now
        if now > question.asked_at + self._settings.patience_ns:
            question.failing_since = NEVER  # the master was there until now
        question.failing_since = min(question.failing_since, now)
        first = isinstance(question.posed.request, CreateSessionRequest | ResetRequest)
        if not first and now >= question.failing_since + self._settings.patience_ns:
            text = f"{question.posed.peer} cannot be reached any more; the step may have run. {error.message}"
            self._finish(token, RpcError(error.code, text, Outcome.UNKNOWN))
            return
        if first and not question.told and now >= question.failing_since + QUIET_NS:
            question.told = True
            text = f"{question.posed.peer} does not answer; still trying. {_ADVICE} {error.message}"
            self._words.append(Note("warning", text))
        question.next = question.backoff.next(now)

    def _finish(self, token: int, result: Said | RpcError) -> None:
        del self._questions[token]
        self._words.append(Finish(token, result))
