"""The report of `exec`: written at the end of every run that has traffic."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    from faultwire.events import History
    from faultwire.profile.model import Profile
    from faultwire.runner.started_run import Run


MOCKED = (
    "the mock answered: dollars are what the providers would charge for such answers, and nothing was spent"
)
"""For the readers of a report whose answers are the mock's."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What was started and when (ISO 8601), its exit code (negative for a signal), how long it took, and
    the signals with which the user asked it to end."""

    program: str
    code: int
    started_at: str
    duration_s: float
    stops: frozenset[int] = frozenset()

    @property
    def interrupted(self) -> bool:
        """Did the user end it?"""
        return bool(self.stops)


def _only_mocked(history: History, mocked: Container[str]) -> bool:
    """Is there an answer with a price, and did the mock give all of these?"""
    from faultwire.checks._transcripts import models

    hosts = [exchange.request.host for exchange, transcript in models(history) if transcript.cost]
    return bool(hosts) and all(host in mocked for host in hosts)


def write_report(
    run: Run,
    profile: Profile,
    seed: int,
    history: History,
    ended: Ended,
    *,
    ledger: str,
    notes: Sequence[str],
    rules: Mapping[str, Any],
) -> tuple[Path | None, dict[str, Any]]:
    """Write `report.json` and `report.html` into the run's folder; the page, and the document behind both.
    `rules` are those of the user for what is redacted besides secrets.

    If they cannot be written (disk full, for example), an error says so, and there is no page: the run then
    ends with 3, as those of other commands do. The tape is whole, and makes another report.
    """
    from faultwire.campaign.upstream_request import forwarded
    from faultwire.cli.output import say
    from faultwire.report import html, json
    from faultwire.report.document import Subject
    from faultwire.report.observed import observed
    from faultwire.tape.redact.redactor import Redactor, load_key
    from faultwire.tape.redact.rules import read_rules

    key = load_key(run.folder.path.parent.parent / "keys" / "redaction.key")
    redactor = Redactor(key, read_rules(rules))
    subject = Subject(
        id=run.folder.id,
        command="exec",
        agent=ended.program,
        seed=seed,
        concurrency=1,
        started_at=ended.started_at,
        duration_s=round(ended.duration_s, 3),
        ledger=ledger,
        tapes=(str(run.tape),),
        notes=(*notes, *([MOCKED] if _only_mocked(history, run.routes) else [])),
    )
    made = observed(
        subject,
        profile,
        history,
        ended.code,
        interrupted=ended.interrupted,
        redact=lambda text: redactor.error(text, {}),
        forwarded=forwarded([run.tape], [history]),
    )
    try:
        run.folder.write("report.json", json.render(made))
        return run.folder.write("report.html", html.render(made)), made
    except OSError as error:
        say(f"run.report: cannot write the report: {error.strerror}, expected room for it (exit 3)")
        say("hint: free disk space; the tape is whole, `faultwire tape report TAPE -o FILE` makes one")
        with suppress(OSError):
            run.folder.note(report_error=error.strerror)
        return None, made
