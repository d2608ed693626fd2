"""The invariant that what cannot succeed is not repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._calls import calls, doubt, possible_calls
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.checks._calls import Call
    from faultwire.events import Headers, History, Recorded, Verdict

TERMS = frozenset(
    {
        "accept",
        "anthropic-version",
        "api-key",
        "authorization",
        "content-type",
        "cookie",
        "mcp-protocol-version",
        "mcp-session-id",
        "proxy-authorization",
        "x-api-key",
        "x-goog-api-key",
    }
)
"""Headers by which a client mends a rejected request: a token that it has now, another session."""
OF_PROVIDERS = ("anthropic-", "openai-", "x-goog-")
"""How the headers begin by which a provider is asked otherwise: a beta, an organisation, a project."""


class NoRetryOfClientErrors(Check):
    """A request that the server called wrong is not sent again as it was.

    What it judges:
        Identical requests (method, URL, body but for a `prompt_cache_key`, and headers with credentials, a
        session, a type of content or a provider's own, as `anthropic-beta`)
        after an answer with one of `statuses`. Timeouts (408), conflicts (409), too early (425) and limits
        (429) may be retried and are not among them; nor may a `GET` that waits for what a server has not
        found yet (404 by the server itself).

    Why agents fail it:
        A loop that retries on any exception: a wrong key or a prompt that is too long stays wrong, and
        some providers ban clients for it.

    What it cannot tell:
        Whether something outside of the request was fixed meanwhile, for example the rights of a key.

    Example:
        invariants:
          - {type: no_retry_of_client_errors, severity: medium}
    """

    name = "no_retry_of_client_errors"
    evidence = "failures"
    statuses: Annotated[tuple[int, ...], Field(min_length=1, description="the statuses that mean it")] = (
        400, 401, 402, 403, 404, 405, 406, 410, 413, 414, 415, 422,
    )  # fmt: skip

    def judge(self, history: History, answer: str) -> Verdict:
        """Look for an attempt after such an answer."""
        verdict = self._judged(calls(history.exchanges))
        if verdict.verdict != "fail" and self._judged(possible_calls(history.exchanges)).verdict == "fail":
            return unknown(f"a wrong request may have been repeated: {doubt(history.exchanges)}")
        return verdict

    def _judged(self, found: Sequence[Call]) -> Verdict:
        seen: list[int] = []
        for call in found:
            for number, exchange in enumerate(call.tries, start=1):
                if not self._rejects(exchange):
                    continue
                seen.append(exchange.number)
                again = [one.number for one in call.tries[number:] if _terms(one) == _terms(exchange)]
                if again and exchange.delivered is not None:
                    how = "again" if len(again) == 1 else f"{len(again)} more times"
                    words = f"a request to {call.url} was sent {how} after status {exchange.delivered.status}"
                    return judged(False, words, len(again), (exchange.number, *again))
        if not seen:
            return unknown("no response rejected a request as invalid")
        were = "was" if len(seen) == 1 else "were"
        return judged(True, f"{counted(len(seen), 'wrong request')} {were} not repeated", 0, seen)

    def _rejects(self, exchange: Recorded) -> bool:
        if exchange.delivered is None or exchange.delivered.status not in self.statuses:
            return False
        by_fault = any(line.outcome == "fired" for line in exchange.faults)
        if exchange.upstream is None and not by_fault:
            return False  # the proxy refused it itself, and would have anything in its place
        waits = exchange.request.method in ("GET", "HEAD") and exchange.delivered.status == 404
        return by_fault or not waits


def _terms(exchange: Recorded) -> Headers:
    """What a request says beside its place and its body that a server may have found wrong."""
    return tuple(
        sorted((name.lower(), value) for name, value in exchange.request.headers if _is_term(name.lower()))
    )


def _is_term(name: str) -> bool:
    return name in TERMS or name.startswith(OF_PROVIDERS)
