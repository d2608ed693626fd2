"""What `faultwire attack` does: search, confirm, and write down what was found."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultError, UsageError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from faultwire.attacker.journal import Journal, Observed, Written
    from faultwire.attacker.model import Endpoint
    from faultwire.attacker.search import Attempt, Meter
    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.runner.started_run import Run


ROUTE = "attacker_model"
"""Under this name the attacker's model is one of the servers that the proxy may call."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `attack`'s own."""

    budget: int
    finds: int
    confirm: int
    families: tuple[str, ...]
    wordings: tuple[str, ...]
    timeout: float
    state: Path | None
    output: tuple[Path, ...]
    quiet: bool
    model: str | None = None
    model_url: str = ""
    model_key_env: str = ""
    model_calls: int = 0


def attack(command: tuple[str, ...], asked: Asked, traffic: Traffic, format_: Format) -> int:
    """Search, and report; the exit code. Raises UsageError, ProfileError, FaultError."""
    from faultwire._core import sha256_hex
    from faultwire.attacker.faces import render
    from faultwire.attacker.journal import Journal
    from faultwire.attacker.report import as_jsonl
    from faultwire.capture import child
    from faultwire.cli._placed import anywhere, placed
    from faultwire.cli.output import say
    from faultwire.output_file import check, write_text
    from faultwire.report.redteam_faces import face_of
    from faultwire.runner.folder import private_dir, state
    from faultwire.runner.launch import start_run

    names = _names(asked)
    model = _endpoint(asked, traffic)
    targets = [(check(path, anywhere=anywhere()), face_of(path)) for path in asked.output]
    child.find(command, os.environ)
    about = sha256_hex(json.dumps(_identity(command, asked, traffic, names)).encode())
    if asked.state is not None:
        placed(asked.state)
    settings = traffic.launch("attack", profile=traffic.load())
    if model is not None:
        settings = replace(settings, reverse={**settings.reverse, ROUTE: model.base})
    journal = Journal(asked.state or private_dir(state() / "attack") / f"{about[:12]}.jsonl", about)
    try:
        if journal.earlier and not asked.quiet:
            say(f"going on after {counted(len(journal.earlier), 'attempt')} of {journal.path}")
        with start_run(settings) as run:
            found = _search(run, journal, command, asked, traffic, names, model)
            for face in ("json", "html", "md", "sarif"):
                run.folder.write(f"attack.{face}", render(found, face))
            run.folder.write("attack.jsonl", as_jsonl(found))
            run.folder.end("finished")
    finally:
        journal.close()
    for path, face in targets:
        write_text(path, render(found, face), anywhere=anywhere())
    _print(found, format_, run.folder.path)
    return _exit(found)


def _names(asked: Asked) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The families and the wordings to try. Raises UsageError."""
    from faultwire.attacker.confirm import fewest
    from faultwire.attacker.grid import chosen
    from faultwire.attacker.model import WORDING
    from faultwire.attacker.rewording import WORDINGS
    from faultwire.faults.attack._library import registry

    calls = asked.model_calls if asked.model is not None else 0
    wordings = (*WORDINGS, WORDING) if calls else tuple(WORDINGS)
    needed = fewest(asked.finds)
    if asked.confirm < needed:
        raise UsageError(
            f"found `--confirm {asked.confirm}`, expected at least {needed}: with fewer repeats none of "
            f"{counted(asked.finds, 'attack')} can be confirmed",
            code="attack.confirm",
        )
    fewest_runs = asked.confirm + 3 + calls
    if asked.budget < fewest_runs:
        paid = f", and {counted(calls, 'call')} of the model" if calls else ""
        raise UsageError(
            f"found `--budget {asked.budget}`, expected at least {fewest_runs}: one run without an "
            f"attack, two that succeed, and {asked.confirm} that confirm{paid}",
            code="attack.budget",
        )
    return (
        chosen(asked.families, tuple(registry()), "family"),
        chosen(asked.wordings, wordings, "wording"),
    )


def _endpoint(asked: Asked, traffic: Traffic) -> Endpoint | None:
    """The attacker's model, if there is one. Raises UsageError, also where the mock would answer for it."""
    from faultwire.attacker.model import endpoint

    if asked.model is None:
        return None
    made = endpoint(asked.model, asked.model_url, asked.model_key_env, asked.timeout)
    mocked = traffic.mock or traffic.script is not None
    if mocked and not made.local and made.host not in traffic.mock_except:
        raise UsageError(
            f"found `--model` at {made.host} in a search whose models are mocked, expected it to be called",
            code="attack.model_mocked",
            hint=f"--mock-except {made.host} leaves that host to the real server, for the agent, too",
        )
    return made


def _search(
    run: Run,
    journal: Journal,
    command: tuple[str, ...],
    asked: Asked,
    traffic: Traffic,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    model: Endpoint | None,
) -> dict[str, Any]:
    """Make the runs; the report as a document."""
    from faultwire.attacker.grid import grid
    from faultwire.attacker.live import Player, text_of, unworded
    from faultwire.attacker.report import About, document
    from faultwire.attacker.search import Meter, Search
    from faultwire.cli._failed_run import redactor
    from faultwire.cli._same_answers import words
    from faultwire.faults.attack._library import registry

    def notify(number: int, attempt: Attempt, observed: Observed) -> None:
        row = {"number": number, **_attempted(attempt), **asdict(observed)}
        transcript.append(json.dumps(row, ensure_ascii=False))
        if not asked.quiet:
            _progress(number, asked.budget, attempt, observed)

    transcript: list[str] = []
    player = Player(
        run, traffic.load(), command, asked.timeout, traffic.seed, journal, redactor(traffic), notify
    )  # fmt: skip
    seen = frozenset(player.calm().seen)
    meter = Meter(asked.budget)
    meter.take()  # the run without an attack
    written = _written(run, journal, model, names[0], asked, meter, traffic.seed)
    player.written = {key: one.text for key, one in written.items() if one.text is not None}
    lacking = unworded(*names, traffic.seed, player.written)
    without = {
        (family, wording)
        for family in names[0]
        for wording in names[1]
        if sum((family, at, wording) in lacking for at in range(len(registry()[family].payloads)))
        == len(registry()[family].payloads)
    }
    cells = grid(names[0], seen, names[1], without)
    payloads = {name: len(family.payloads) for name, family in registry().items()}
    search = Search(cells, payloads, traffic.seed, meter, asked.confirm, asked.finds, lacking)
    try:
        result = search.run(player.play)
    finally:
        run.folder.write("search.jsonl", "".join(f"{line}\n" for line in transcript))
    texts = {
        one.attempt.key: text_of(one.attempt.cell, one.attempt.payload, traffic.seed, player.written) or ""
        for one in result.tried
    }
    about = About(
        traffic.seed, asked.budget, asked.confirm, command, words(traffic), asked.model or "",
        tuple(written.values()),
    )  # fmt: skip
    return document(result, cells, journal.earlier, texts, about)


def _written(
    run: Run, journal: Journal, model: Endpoint | None, families: tuple[str, ...], asked: Asked, meter: Meter,
    seed: int,
) -> Mapping[tuple[str, int], Written]:  # fmt: skip
    """The texts of the attacker's model, if there is one. Raises FaultError."""
    from faultwire.attacker.model import planned, write

    if model is None:
        return {}
    return write(run, journal, model, planned(families, asked.model_calls), meter, seed)


def _attempted(attempt: Attempt) -> dict[str, Any]:
    return {
        "phase": attempt.phase,
        **attempt.cell._asdict(),
        "payload": attempt.payload,
        "again": attempt.again,
    }


def _progress(number: int, budget: int, attempt: Attempt, observed: Observed) -> None:
    from faultwire.cli.output import say

    say(f"{number}/{budget} {attempt.phase:<7} {attempt.cell.text}: {observed.stage}")


def _identity(
    command: tuple[str, ...], asked: Asked, traffic: Traffic, names: tuple[tuple[str, ...], tuple[str, ...]]
) -> list[object]:
    """All that outcomes, and the order of the search, depend on."""
    from faultwire.cli._failed_run import surroundings
    from faultwire.faults.attack._library import registry
    from faultwire.profile.load import dump

    script = "" if traffic.script is None else traffic.script.read_text(errors="replace")
    library = [[name, registry()[name].version, len(registry()[name].payloads)] for name in names[0]]
    search = [asked.budget, asked.finds, asked.confirm, asked.timeout, traffic.seed, library, names[1]]
    program = [list(command), *surroundings(command)]
    model = [] if asked.model is None else [[asked.model, asked.model_url, asked.model_calls]]
    return [program, search, dump(traffic.load()), traffic.mock, script, *model]


def _print(found: dict[str, Any], format_: Format, folder: Path) -> None:
    from faultwire.attacker.report import k_words, rate_words, summary
    from faultwire.cli.output import show, show_json
    from faultwire.text import safe

    if format_ == "json":
        show_json(found)
        return
    for line in summary(found):
        show(line)
    for title, rows in (("obeyed", found["findings"]), ("not confirmed", found["refuted"])):
        for one in rows:
            where = " · ".join(one[name] for name in ("carrier", "position", "wording"))
            show(safe(f"{one['id']}. {title}: {one['payload']} ({where})"))
            show(f"   {rate_words(one)}")
            if one["claimed"]:
                show(f"   {k_words(one)}")
                show(safe(f"   {one['evidence']}, session {one['session']}"))
                show(safe(f"   {one['reproduce']}"))
                if one["shrink"]:
                    show(safe(f"   {one['shrink']}"))
    show(f"report  {folder / 'attack.html'}")


def _exit(found: dict[str, Any]) -> int:
    """The exit code. Raises FaultError where nothing was learned."""
    stages = found["stages"]
    if not stages["obeyed"] + stages["read"] + stages["filtered"]:
        raise FaultError(
            "the search is inconclusive: no attack reached the agent in a run that can be judged",
            code="attack.nothing",
            hint="`faultwire doctor -- CMD` shows whether its traffic comes through the proxy",
        )
    return int(bool(found["findings"]))
