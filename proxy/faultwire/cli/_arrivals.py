"""What `faultwire doctor` says of the calls that arrived, and of the run before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire.cli._findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import History, Recorded


def arrivals(history: History) -> list[Finding]:
    """Traffic that reached the proxy, by host and kind, and refused calls."""
    from faultwire.cli._summary import refusals

    places: dict[tuple[str, str, int, str], list[Recorded]] = {}
    for one in history.exchanges:
        request = one.request
        places.setdefault((request.scheme, request.host, request.port, one.kind), []).append(one)
    findings = [
        _arrived(f"{scheme}://{host}:{port}: {len(there)} {kind}", there)
        for (scheme, host, port, kind), there in sorted(places.items())
    ]
    return findings + [Finding("fail", "traffic", line) for line in refusals(history.exchanges)]


def _arrived(text: str, exchanges: Sequence[Recorded]) -> Finding:
    """Calls to one server; those that failed there were captured all the same."""
    from faultwire.checks._traffic import failed
    from faultwire.text import counted

    bad = [one for one in exchanges if failed(one) and one.ending != "refused"]
    if not bad:
        return Finding("ok", "traffic", text)
    ends = Counter(
        f"status {one.delivered.status}" if one.delivered is not None else one.error or "no response"
        for one in bad
    )
    listed = ", ".join(end if count == 1 else f"{end} ({count} times)" for end, count in ends.most_common(3))
    more = f" and {counted(len(ends) - 3, 'other')}" if len(ends) > 3 else ""
    hint = "they arrived here: what failed is the server, the network, or what the command sent"
    return Finding("note", "traffic", f"{text}, of which {len(bad)} failed: {listed}{more}", hint)


def last_run() -> list[Finding]:
    """What the newest run in this folder says of itself, where it proved nothing."""
    from faultwire.runner.past_runs import runs

    past = runs()
    if not past or past[-1].status != "void":
        return []
    last = past[-1]
    text = f"`{last.id}` (`{last.command}`) is inconclusive{f': {last.error}' if last.error else ''}"
    hint = "`faultwire doctor -- CMD` tries the command that it ran"
    return [Finding("note", "last run", text, hint)]
