"""The invariant that what cannot succeed is not repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, judged, unknown
from faultwire.checks._calls import calls

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class NoRetryOfClientErrors(Check):
    """A request that the server called wrong is not sent again as it was.

    What it judges:
        Identical requests (method, URL, body) after an answer with one of `statuses`. Timeouts (408),
        conflicts (409), too early (425) and limits (429) may be retried and are not among them.

    Why agents fail it:
        A loop that retries on any exception: a wrong key or a prompt that is too long stays wrong, and
        some providers ban clients for it.

    What it cannot tell:
        Whether something else was fixed meanwhile, for example a key that was rotated.

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
        seen: list[int] = []
        for call in calls(history.exchanges):
            for number, exchange in enumerate(call.tries, start=1):
                if exchange.delivered is None or exchange.delivered.status not in self.statuses:
                    continue
                seen.append(exchange.number)
                if number < len(call.tries):
                    again = len(call.tries) - number
                    status = exchange.delivered.status
                    words = f"a request to {call.url} was sent {again} times more after status {status}"
                    return judged(False, words, again, call.numbers[number - 1 :])
        if not seen:
            return unknown("no response rejected a request as invalid")
        return judged(True, f"{len(seen)} wrong requests were not repeated", 0, seen)
