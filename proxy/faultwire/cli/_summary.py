"""What `exec`, `proxy` and `doctor` say about a run, on stderr: a header before it, a summary after it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from faultwire.cli.output import fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from faultwire.cli.options import Traffic
    from faultwire.events import History, Recorded
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import Run

SHOWN = 20
"""Fired faults that a summary lists; the tape has them all."""
NAMED = 6
"""Exchanges that show one mistake."""


def header(run: Run, profile: Profile, traffic: Traffic) -> str:
    """What is about to happen: enough to do it again."""
    from faultwire._core import __version__

    pairs = [
        ("faultwire", f"{__version__}, run {run.folder.id}"),
        ("profile", named(profile)),
        ("seed", str(traffic.seed)),
        ("tape", str(run.tape)),
    ]
    if run.routes:
        first, *others = run.routes
        pairs.append(("mock", f"{first} and {len(others)} other hosts"))
    pairs += [("base URL", f"{name} → {url}") for name, url in sorted(traffic.reverse)]
    if run.base_urls:
        pairs.append(("capture", f"base URLs of {', '.join(sorted(run.plan.routes))}"))
    if traffic.allow_host:
        pairs.append(("allowed", ", ".join(traffic.allow_host)))
    return fields(pairs)


def named(profile: Profile) -> str:
    """A profile with its place and the digest of its bytes."""
    if not profile.entries and not profile.digest:
        return "none: traffic is recorded and passes unchanged"
    digest = f", sha256 {profile.digest[:12]}" if profile.digest else ""
    return f"{profile.name} ({profile.path}{digest})"


def summary(
    history: History,
    tape: str,
    ledger: str,
    notes: Iterable[str] = (),
    *,
    report: Path | None = None,
    noticed: Sequence[Mapping[str, Any]] = (),
) -> str:
    """What was seen and what was broken: counts, each fault that the agent met, what stands out, where
    report and tape are, and the ledger hash.

    `notes` tell of traffic that became no exchange, `noticed` are the suggestions of the report.
    """
    kinds = Counter(exchange.kind for exchange in history.exchanges)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    fired = [(exchange, fault) for exchange in history.exchanges for fault in exchange.faults]
    met = [(exchange, fault) for exchange, fault in fired if fault.outcome == "fired"]
    lines = [fields([("exchanges", f"{len(history.exchanges)}{f': {counts}' if counts else ''}")])]
    lines.append(fields([("faults   ", f"{len(met)} fired")]))
    for exchange, fault in met[:SHOWN]:
        what = fault.effect or fault.reason
        about = f" of `{fault.subject}`" if fault.subject else ""
        lines.append(f"  #{exchange.number} {exchange.kind}  {fault.id}{about}: {what}")
    if len(met) > SHOWN:
        lines.append(f"  and {len(met) - SHOWN} more: `faultwire tape show {tape}`")
    lines += [f"  {line}" for line in (*refusals(history.exchanges), *notes)]
    lines += stands_out(noticed)
    if report is not None:
        lines.append(fields([("report   ", str(report))]))
    lines.append(fields([("tape     ", tape)]))
    lines.append(f"ledger: {ledger}")
    return "\n".join(lines)


def stands_out(noticed: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the traffic shows of the program, and what to do about it."""
    if not noticed:
        return []
    lines = [fields([("noticed  ", str(len(noticed)))])]
    for one in noticed:
        first = one["evidence"][0]
        where = ", ".join(f"#{number}" for number in first["exchanges"][:NAMED])
        lines += [f"  {where}  {first['words']}", f"      {one['action']}"]
    return lines


def refusals(exchanges: Iterable[Recorded]) -> list[str]:
    """One line per server that the proxy would not, or could not, reach, and why."""
    seen: Counter[tuple[str, int, str]] = Counter()
    for exchange in exchanges:
        if exchange.ending == "refused" and exchange.error:
            seen[(exchange.request.host, exchange.request.port, exchange.error)] += 1
    return [
        f"refused {count} {'call' if count == 1 else 'calls'} to {host}:{port}: {error}"
        for (host, port, error), count in sorted(seen.items())
    ]
