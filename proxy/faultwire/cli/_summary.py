"""Prints the header and the summary of a run for `exec`, `proxy` and `doctor`, on stderr."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING

from faultwire.cli.output import fields
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from faultwire.cli.options import Traffic
    from faultwire.events import History, Recorded
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run

SHOWN = 20
"""Fired faults that a summary lists; the tape has them all."""
NAMED = 6
"""Exchanges that show one mistake."""
_OURS = frozenset({"refused", "upstream_aborted"})
"""Endings of exchanges whose answer is the proxy's own."""
UNREACHED = "was not reached"
CHECK_NAME = "; check the name, and that this machine reaches it"
"""In the error of an exchange whose server could not be connected to (`mitm.flow.request`)."""
NO_REASON = "status "
"""How the error begins that stands for a body without one."""
REJECTED = 5
"""Answers of servers that are named."""
WORDS = 160
"""Characters of an error of a server's that are repeated."""


def header(run: Run, profile: Profile, traffic: Traffic) -> str:
    """The settings of the run, enough to repeat it."""
    from faultwire._core import __version__

    pairs = [("faultwire", f"{__version__}, run {run.folder.id}")]
    if traffic.replay is not None:
        pairs.append(("mode", f"replay from {traffic.replay}"))
    if traffic.replay is None or profile.entries or profile.digest:
        pairs.append(("profile", named(profile)))
    pairs += [("seed", str(traffic.seed)), ("tape", str(run.tape))]
    if run.routes:
        first, *others = run.routes
        pairs.append(("mock", f"{first} and {len(others)} other host{'s' * (len(others) != 1)}"))
    if traffic.mock_except:
        pairs.append(("not mocked", ", ".join(traffic.mock_except)))
    if run.upstream:
        pairs.append(("through", ", ".join(run.upstream)))
    pairs += [("base URL", f"{name} → {url}") for name, url in sorted(traffic.reverse)]
    if run.base_urls:
        pairs.append(("capture", f"base URLs of {', '.join(sorted(run.plan.routes))}"))
    if run.space is not None:
        listed = ", ".join(map(str, run.space.ports))
        pairs.append(("capture", f"network namespace, ports {listed}, {run.space.families}"))
    if traffic.allow_host:
        pairs.append(("allowed", ", ".join(traffic.allow_host)))
    return fields(pairs)


def named(profile: Profile) -> str:
    """A profile with its place and the digest of its bytes."""
    if not profile.entries and not profile.digest:
        return "none: traffic is recorded and not changed"
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
    entries: Sequence[str] = (),
) -> str:
    """The summary of a run: exchange counts, fired faults, findings, report and tape files, and the ledger
    hash.

    `notes` describe traffic outside exchanges, `noticed` are the report's suggestions, and `entries` the ids
    of the profile's entries: of those that never fired, it says why.
    """
    from faultwire.report.unfired import unfired_lines

    kinds = Counter(map(_kind, history.exchanges))
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    lines = [fields([("exchanges", f"{len(history.exchanges):,}{f': {counts}' if counts else ''}")])]
    if history.voids:
        lines.append(fields([("void     ", f"the run proves nothing: {'; '.join(history.voids)}")]))
    exchanges = history.exchanges
    lines += _fired(exchanges, tape)
    if exchanges:
        lines += [f"  {line}" for line in unfired_lines(entries, exchanges)]
    remarks = (*refusals(exchanges), *unreached(exchanges), *rejected(exchanges), *notes)
    lines += [f"  {line}" for line in remarks]
    lines += stands_out(noticed)
    if report is not None:
        lines.append(fields([("report   ", str(report))]))
    lines.append(fields([("tape     ", tape)]))
    lines.append(f"ledger: {ledger}")
    return "\n".join(lines)


def _kind(exchange: Recorded) -> str:
    """What an exchange was; a CONNECT that faults were decided on is no call by itself."""
    return "tunnel" if exchange.request.method == "CONNECT" else exchange.kind


def _fired(exchanges: Sequence[Recorded], tape: str) -> list[str]:
    """How many faults fired, and a line for each; where there are too many, one for those that are alike."""
    found = [(one, fault) for one in exchanges for fault in one.faults if fault.outcome == "fired"]
    alike: dict[str, list[int]] = {}
    for at, (exchange, fault) in enumerate(found):
        what = fault.effect or fault.reason
        about = f" of `{fault.subject}`" if fault.subject else ""
        text = f"{_kind(exchange)}  {fault.id}{about}: {what}"
        key = text if len(found) > SHOWN else f"{at} {text}"
        alike.setdefault(key, []).append(exchange.number)
    lines = [fields([("faults   ", f"{len(found):,} fired{_retried([one for one, _ in found], exchanges)}")])]
    for key, numbers in list(alike.items())[:SHOWN]:
        text = key if len(found) > SHOWN else key.partition(" ")[2]
        times = f" ({len(numbers):,} times)" if len(numbers) > 1 else ""
        lines.append(f"  {_numbers(numbers)} {text}{times}")
    left = sum(len(numbers) for numbers in list(alike.values())[SHOWN:])
    if left:
        lines.append(f"  and {left:,} more: `faultwire tape show {tape}`")
    return lines


def _retried(faulted: Sequence[Recorded], exchanges: Sequence[Recorded]) -> str:
    """That faults fired on several attempts of a call, where it is known which exchanges are attempts."""
    if len(faulted) < 2:
        return ""
    from faultwire.checks._calls import calls, doubt

    places = {id(one): at for at, call in enumerate(calls(exchanges)) for one in call.tries}
    attempts = {id(one) for one in faulted}
    made = {places.get(one, one) for one in attempts}
    if len(made) == len(attempts) or doubt(exchanges) is not None:
        return ""
    return f", on {counted(len(attempts), 'attempt')} of {counted(len(made), 'call')}"


def stands_out(noticed: Sequence[Mapping[str, Any]]) -> list[str]:
    """The findings about the program, each with its fix, and what they rest on."""
    if not noticed:
        return []
    from faultwire.report.noticed import BASIS

    lines = [fields([("noticed  ", f"{len(noticed)}, {BASIS}")])]
    for one in noticed:
        first = one["evidence"][0]
        lines += [f"  {_numbers(first['exchanges'])}  {first['words']}", f"      {one['action']}"]
    return lines


def unreached(exchanges: Iterable[Recorded]) -> list[str]:
    """One line per server that was not reached (its name was not found, say, or it refused the connection) or
    gave no answer; what the client got is the proxy's own."""
    seen = Counter(
        (exchange.request.host, exchange.request.port, exchange.error, exchange.delivered.status)
        for exchange in exchanges
        if exchange.ending == "upstream_aborted"
        and exchange.error
        and exchange.upstream is None
        and exchange.delivered is not None
    )
    return [
        f"{status} for {count} {'call' if count == 1 else 'calls'} to {host}:{port}: {error}"
        + (CHECK_NAME if UNREACHED in error else "")
        for (host, port, error, status), count in sorted(seen.items())
    ]


def rejected(exchanges: Iterable[Recorded]) -> list[str]:
    """One line per error that a server (or the mock) answered a call with by itself, and no fault did."""
    from faultwire.checks._api import quoted
    from faultwire.checks._order import ended_ms
    from faultwire.checks._traffic import altered
    from faultwire.checks._transcripts import quoted_place
    from faultwire.report.unfired import ACTED
    from faultwire.wire import provider_of, transcript_of
    from faultwire.wire.recognition.telemetry import is_telemetry

    seen: dict[str, list[int]] = {}
    every = tuple(exchanges)
    broken = min((ended_ms(one) for one in every if any(f.outcome in ACTED for f in one.faults)), default=inf)
    for exchange in every:
        got = exchange.delivered
        if got is None or got.status < 400 or altered(exchange) or exchange.ending in _OURS:
            continue
        known = exchange.kind != "other" or exchange.provider or provider_of(exchange.request.host)
        if is_telemetry(exchange.request) or not known:
            continue
        if exchange.upstream is None or any(fault.outcome in ACTED for fault in exchange.faults):
            continue
        transcript = transcript_of(exchange)
        error = transcript.answer.error if transcript is not None and transcript.answer is not None else None
        why = f": {quoted(error, WORDS)}" if error and not error.startswith(NO_REASON) else ""
        text = f"{quoted_place(exchange)} answered {got.status}, which no fault made{why}"
        if exchange.started_ms >= broken:  # what a fault did to an earlier answer may be in the request
            text = f"{quoted_place(exchange)} answered {got.status}, on which no fault acted{why}"
        seen.setdefault(text, []).append(exchange.number)
    lines = [f"{_numbers(numbers)} {text}" for text, numbers in list(seen.items())[:REJECTED]]
    if len(seen) > REJECTED:
        left = len(seen) - REJECTED
        lines.append(f"and {left} other error{'s' * (left != 1)} of servers")
    return lines


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(f"#{number}" for number in numbers[:NAMED]) + (", …" if len(numbers) > NAMED else "")


def refusals(exchanges: Iterable[Recorded]) -> list[str]:
    """One line per server that the proxy refused or failed to reach, with the reason."""
    seen: Counter[tuple[str, int, str]] = Counter()
    for exchange in exchanges:
        if exchange.ending == "refused" and exchange.error:
            seen[(exchange.request.host, exchange.request.port, exchange.error)] += 1
    return [
        f"refused {count} {'call' if count == 1 else 'calls'} to {host}:{port}: {error}"
        for (host, port, error), count in sorted(seen.items())
    ]
