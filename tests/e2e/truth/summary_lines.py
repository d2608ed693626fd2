"""The lines of the summary as patterns, and what an agent's own log says of their numbers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable

from agent_logs import Run, Sent
from sentence_patterns import Patterns

MISSING = "missing call"
NEVER_PRINTED = {MISSING}
"""It is compared with the kind of a divergence; `a call is missing` is what is printed then."""
BY_UNIT_TESTS = {
    "  from the tape alone: {}, {}",
    "  beside it: {}, {}",
    "  live: `{}`, {}{}",
    ", {} of them to a model that answered anew",
    "  the live agent `{}` made no call that bears its mark",
    "1 answer",
    "{} answers differ",
    "1 other answer differs",
    "{} other answers differ",
    "{} answered {}, which no fault made{}",
    "{} answered {}, on which no fault acted{}",
    "and {} other error{} of servers",
    "network namespace, ports {}, {}",
    "{} for {} {} to {}:{}: {}",
    "; and {} other reasons",
    "got status {}",
    "ended as `{}`",
    "and {}, whose reasons are in the report",
    "{} to {} {} refused before that",
    "the run proves nothing: {}",
    "  and {} more: `faultwire tape show {}`",
}
"""Of a run whose disk is full (`tests/e2e/tape/test_full_disk.py`), of servers that refuse a call, of a
namespace, of a name that nobody knows (`test_endings` and `tests/e2e/netns` have runs of these kinds), and of
many entries; `tests/vectors/sentences.json` names the tests of the words."""
RETRIED = ", on {} of {}"
"""How often an SDK tries again is the SDK's own: `fired` compares it with the agent's log."""
NOT_EXACT = "  not exact: {} {} from what was delivered live: {}"
EXACT_BUT = "  exact but for redacted header fields: {} in {}"
HEADS = "  {} in redacted header fields only: {}"
PATTERNS = Patterns(
    ("cli/_summary.py", "cli/_determinism.py", "report/replay.py", "report/unfired.py"),
    special={
        "{}, run {}": r"faultwire +\S+, run \S+",
        "replay from {}": r"mode +replay from .+",
        "{} and {} other host{}": r"mock +\S+ and \d+ other hosts?",
        "not mocked": r"not mocked +\S.*",
        "base URL": r"base URL +.+ → .+",
        "base URLs of {}": r"capture +base URLs of .+",
        ", sha256 {}": r"profile +.*, sha256 [0-9a-f]{12}\)",
        "{} fired{}": r"faults +\d+ fired(, on \d+ attempts of .+)?",
        " ({} times)": r"  #\d.*  .+ \(\d+ times\)",
        RETRIED: r"faults +\d+ fired, on \d+ attempts of \d+ calls?",
        "the run proves nothing: {}": r"void +the run proves nothing: .+",
        "`{}` never fired: {}{}": r"  `.+` never fired: .+",
        "{} to {} {} refused before that": r"  `.+` never fired: .+: \d+ calls? to `.+` w\w+ refused .+",
        "and {}, whose reasons are in the report": r"  and \d+ other entries, whose reasons .+",
        "another `--seed` rolls anew": r"  another `--seed` rolls anew",
        "refused {} {} to {}:{}: {}": r"  refused \d+ calls? to .+:\d+: .+",
        MISSING: r"(?!)",
        "call {}": r"  call \d+: .+",
        "a call is missing": r"  a call is missing: .+",
        "  miss ({}){}: {}: {}": r"  miss \([\w ]+\)( ×\d+)?: \S+ \S+: .+",
        "  {} sent upstream because of --on-miss `{}`{}": r"  \d+ sent upstream because of --on-miss `\w+`.*",
        "answer differs": r"  not exact: 1 answer differs from .+",
        "answers differ": r"  not exact: \d+ answers differ from .+",
        "1 answer differs": r"  1 answer differs in redacted .+",
        "{} answers differ": r"  \d+ answers differ in redacted .+",
        "1 other answer differs": r"  1 other answer differs in .+",
        "{} other answers differ": r"  \d+ other answers differ in .+",
        "1 answer": r"  exact but for redacted .+ in 1 answer",
        "{} answers": r"  exact but for redacted .+ in \d+ answers",
        EXACT_BUT: r"  exact but for redacted .+: .+ in \d+ .+",
        HEADS: r"  .+ in redacted header fields only: .+",
        "to the mock": r"  .+ went to the mock",
    },
    parts=(
        "none: traffic is recorded and not changed",
        "the same calls had other faults",
        "the command exited {} and then {} after the same calls",
        "{} of {} from {}",
        "redacted values are not on the tape",
        "; {} later {} went {}",
        "; and {} other reasons",
        "got status {}",
        "ended as `{}`",
        "  forked at {}, here #{}",
    ),
)

Check = Callable[[Run], None]

# ---------------------------------------------------------------- what the agent's own log says


def kinds(sent: list[Sent]) -> str:
    """The count of exchanges as the agent's log has it."""
    models = sum(one.host.startswith("api.") and "traces" not in one.path for one in sent)
    counts = Counter({"llm": models, "other": len(sent) - models})
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.most_common() if count)
    return f"{len(sent)}: {parts}"


def counted(done: Run) -> None:
    assert done.field("exchanges ") == kinds(done.sent)


def fired(statuses: int) -> Check:
    """As many faults fired as the agent got answers with this status."""

    def check(done: Run) -> None:
        got = [one.body for one in done.sent if one.status == statuses]
        calls = len(set(got))
        assert got
        retried = f", on {len(got)} attempts of {calls} call{'s' * (calls != 1)}"
        assert done.field("faults    ") == f"{len(got)} fired{retried * (calls < len(got))}"

    return check


def nothing_fired(done: Run) -> None:
    assert done.field("faults    ") == "0 fired"
    assert {one.status for one in done.sent} <= {200}


def asked_twice(*, same: bool, ordered: bool = True) -> Check:
    """The second half of what was sent is the first half again, or not."""

    def check(done: Run) -> None:
        bodies = [one.body for one in done.sent]
        if not ordered:
            half = len(bodies) // 2
            bodies = sorted(bodies[:half]) + sorted(bodies[half:])
        assert (bodies[: len(bodies) // 2] == bodies[len(bodies) // 2 :]) is same

    return check


def served(count: int, of: int) -> Check:
    def check(done: Run) -> None:
        assert len([one for one in done.sent if one.status == 200]) >= count
        assert any(line.startswith(f"replayed   {count} of {of} ") for line in done.lines)

    return check


def as_written(done: Run) -> None:
    """The ledger's hash is that of the run's folder."""
    newest = max((done.folder / ".faultwire" / "runs").glob("*/run.json"))
    assert f"ledger: {json.loads(newest.read_text())['ledger']}" in done.lines


def more_than_listed(done: Run) -> None:
    alike = [re.fullmatch(r"  #\d+.* llm  latency: .+ \((\d+) times\)", line) for line in done.lines]
    assert sum(int(found[1]) for found in alike if found) == len(done.sent) == 21


def refused_by_name(done: Run) -> None:
    (line,) = (line for line in done.lines if line.startswith("  refused "))
    (call,) = (one for one in done.sent if one.host == "localhost")
    assert call.status == 403
    assert line.startswith("  refused 1 call to localhost:")


def length(done: Run, count: int) -> None:
    assert len(done.sent) == count


def heads(done: Run, name: str) -> None:
    (line,) = (line for line in done.lines if "redacted header fields" in line)
    assert name in line.partition(": ")[2].partition(" in ")[0].split(", "), line


def printed(done: Run, text: str) -> None:
    assert text in done.stdout.splitlines()
