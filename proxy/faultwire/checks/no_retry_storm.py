"""The invariant that failures are not answered with a flood of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check
from faultwire.checks._calls import calls, doubt, possible_calls
from faultwire.checks._traffic import answered, failed
from faultwire.events import Verdict
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.checks._calls import Call
    from faultwire.events import History, Recorded


class NoRetryStorm(Check):
    """After failures the agent does not send the same call again and again, nor flood a server.

    What it judges:
        The traffic on the wire, in two ways. *Attempts*: a request is an attempt of an earlier one
        if method, URL and body are the same (but for a `prompt_cache_key`, which openai-agents
        makes anew for each run) and the earlier one failed (an error status, or an end before the
        response was whole) before it was begun, or if the client's own counter
        (`x-stainless-retry-count`) says so; more than `max_attempts` (default 6) for one call is a
        storm. *Window*: more than `max_requests` (default 30) to one method, host and path within
        `window_s` seconds (default 10), of which at least half failed, is one too, even where every
        body differs. The official SDKs' own 3 to 5 attempts are no storm, and neither is an agent
        that starts an SDK's 3 attempts a second time; retries stacked on retries (3 × 3) are one.
        Requests that the proxy itself refused do not count.

    Why agents fail it:
        A retry loop around an SDK that already retries, a loop without a limit, no waiting in
        between. Each turns one outage of a provider into many times its own traffic.

    What it cannot tell:
        Attempts that never reached the proxy, unless the client counts them. What an agent means by equal
        requests that it sends one after the other: what follows a failure counts as its retry. Requests
        right behind a failed answer whose connections do not show which was first make it unknown.

    Example:
        invariants:
          - {type: no_retry_storm, max_attempts: 6, max_requests: 30, window_s: 10, severity: high}
    """

    name = "no_retry_storm"
    evidence = "failures"
    max_attempts: Annotated[int, Field(ge=1, description="attempts of one call")] = 6
    max_requests: Annotated[int, Field(ge=1, description="requests to one place in a window")] = 30
    window_s: Annotated[float, Field(gt=0, description="seconds in a window")] = 10.0

    def judge(self, history: History, answer: str) -> Verdict:
        """Count attempts per call, and requests per window."""
        exchanges = answered(history.exchanges)
        if not exchanges:
            which = (
                "every request was refused by the proxy" if history.exchanges else "no exchange was recorded"
            )
            return Verdict("unknown", f"{which}, so no retry was possible")
        worst, possible = map(_worst, (calls(exchanges), possible_calls(exchanges)))
        most = max(worst.attempts, possible.attempts)
        busiest = self._busiest(exchanges)
        value = {"attempts": worst.attempts, "requests_in_window": len(busiest)}
        if worst.attempts > self.max_attempts:
            count = f"{'at least ' if most > worst.attempts else ''}{worst.attempts}"
            words = f"{count} attempts of one call to {worst.url}, allowed are {self.max_attempts}"
            return Verdict("fail", words, value, tuple(worst.numbers))
        if len(busiest) > self.max_requests:
            words = (
                f"{len(busiest)} requests to {_place(busiest[0])[1]} within {self.window_s:g} s, "
                f"half of them or more failing; allowed are {self.max_requests}"
            )
            return Verdict("fail", words, value, tuple(e.number for e in busiest))
        if most > self.max_attempts:
            words = f"{worst.attempts} to {most} attempts of one call to {possible.url}: {doubt(exchanges)}"
            return Verdict("unknown", words, value, tuple(possible.numbers))
        words = f"at most {counted(most, 'attempt')} of one call"
        return Verdict("pass", words, {**value, "attempts": most}, tuple(possible.numbers))

    def _busiest(self, exchanges: Sequence[Recorded]) -> list[Recorded]:
        """The most requests to one place in any window of which at least half failed."""
        broken = {_place(exchange) for exchange in exchanges if failed(exchange)}
        if not broken:
            return []
        places: dict[tuple[str, str], list[Recorded]] = {}
        for exchange in sorted(exchanges, key=lambda e: (e.started_ms, e.number)):
            where = _place(exchange)
            if where in broken:
                places.setdefault(where, []).append(exchange)
        best: list[Recorded] = []
        for requests in places.values():
            start, failures = 0, 0
            for end, exchange in enumerate(requests):
                failures += failed(exchange)
                while exchange.started_ms - requests[start].started_ms > self.window_s * 1000:
                    failures -= failed(requests[start])
                    start += 1
                size = end + 1 - start
                if size > len(best) and failures * 2 >= size:
                    best = requests[start : end + 1]
        return best


def _worst(found: Sequence[Call]) -> Call:
    return max(found, key=lambda call: call.attempts)


def _place(exchange: Recorded) -> tuple[str, str]:
    request = exchange.request
    return request.method, f"{request.host}{request.path.split('?', 1)[0]}"
