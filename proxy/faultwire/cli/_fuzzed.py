"""What `faultwire fuzz` does: search, keep corpus and crashes, and report."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.errors import FaultError, UsageError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.cli.options import Traffic
    from faultwire.cli.output import Format
    from faultwire.fuzz.case import Case
    from faultwire.fuzz.coverage import Coverage, From
    from faultwire.fuzz.journal import Journal
    from faultwire.fuzz.live import Player
    from faultwire.fuzz.repro import About
    from faultwire.fuzz.search import Phase, Result, Seen
    from faultwire.runner.started_run import Run


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `fuzz`'s own."""

    prompts: tuple[str, ...]
    budget: int
    max_time: float | None
    finds: int
    confirm: int
    shrink: int
    coverage: From
    guidance: str
    timeout: float
    home: Path | None
    output: tuple[Path, ...]
    quiet: bool


def fuzz(command: tuple[str, ...], asked: Asked, traffic: Traffic, format_: Format) -> int:
    """Search, and report; the exit code. Raises UsageError, ProfileError, FaultError."""
    from faultwire._core import sha256_hex
    from faultwire.capture import child
    from faultwire.cli._placed import anywhere, placed
    from faultwire.cli.output import say
    from faultwire.fuzz.faces import ENDINGS, checked, render
    from faultwire.fuzz.journal import Journal
    from faultwire.output_file import check, write_text
    from faultwire.runner.folder import private_dir, state
    from faultwire.runner.launch import start_run

    targets = [(check(path, anywhere=anywhere()), checked(path)) for path in asked.output]
    child.find(command, os.environ)
    profile = traffic.load()
    about = sha256_hex(json.dumps(_identity(command, asked, traffic)).encode())
    home = asked.home or private_dir(state() / "fuzz") / about[:12]
    placed(home / "state.jsonl")
    private_dir(home)
    journal = Journal(home / "state.jsonl", about)
    try:
        if journal.resumed and not asked.quiet:
            say(f"going on after {counted(journal.resumed, 'run')} of {journal.path}")
        with start_run(traffic.launch("fuzz", profile=profile)) as run:
            found = _searched(run, journal, home, command, asked, traffic)
            given = asked.prompts[0] if asked.prompts else None
            made = {ending: render(found, ending, given) for ending in ENDINGS}
            for ending, text in made.items():
                run.folder.write(f"fuzz{ending}", text)
            run.folder.end("finished")
    finally:
        journal.close()
    for path, ending in targets:
        write_text(path, made[ending], anywhere=anywhere())
    _print(found, format_, run.folder.path, home)
    return _exit(found)


def _searched(
    run: Run, journal: Journal, home: Path, command: tuple[str, ...], asked: Asked, traffic: Traffic
) -> dict[str, Any]:
    """Make the runs; the report as a document."""
    from faultwire import clock
    from faultwire.cli._failed_run import redactor
    from faultwire.fuzz.corpus import Corpus
    from faultwire.fuzz.coverage import Coverage
    from faultwire.fuzz.live import Player
    from faultwire.fuzz.search import Search

    redact = redactor(traffic)
    with tempfile.TemporaryDirectory(prefix=".coverage-", dir=home) as folder:
        coverage: Coverage | None = None
        if asked.coverage != "none":
            coverage = Coverage.at(Path(folder).absolute() / "agent", asked.coverage)
        player = Player(
            run, traffic.load(), command, asked.prompts, asked.timeout, traffic.seed, journal, coverage,
            redact, _notifier(asked),
        )  # fmt: skip
        calm = player.calm()
        _must_have(bool(calm.sources), calm.unnamed)
        corpus = Corpus(calm.sources, traffic.seed, guided=asked.guidance != "none")
        began = clock.monotonic()

        def late() -> bool:
            return asked.max_time is not None and clock.monotonic() - began > asked.max_time

        search = Search(
            corpus, player.play, asked.budget, asked.confirm, asked.shrink, asked.finds, calm.runs, late
        )  # fmt: skip
        player.known = search.novelty.known
        search.novelty.new(calm.features)
        result = search.run()
    _keep_corpus(home, corpus, redact)
    return _documented(result, player, home, command, asked, traffic)


def _documented(
    result: Result, player: Player, home: Path, command: tuple[str, ...], asked: Asked, traffic: Traffic
) -> dict[str, Any]:
    from faultwire.cli._same_answers import words
    from faultwire.fuzz import repro
    from faultwire.fuzz.report import About, document
    from faultwire.report.text import redacted

    redact, calm = player.redact, player.calm()
    plain = all(redact(word) == word for word in command)
    about = repro.About(
        traffic.seed, asked.timeout, command if plain else None, asked.prompts, words(traffic)
    )  # fmt: skip
    folders, commands = {}, {}
    for one in result.found:
        folder = home / "crashes" / one.crash.key
        kept = player.journal.earlier[one.number]
        exact = repro.write(folder, one, about, kept.output, redact)
        folders[one.crash.key] = str(folder)
        commands[one.crash.key] = _reproduce(folder, about, exact=exact)
    reported = () if player.coverage is None else tuple(sorted(player.coverage.languages))
    if player.coverage is not None and not reported:
        reported = _languages(calm.features)
    made = About(
        traffic.seed, asked.budget, tuple(map(redact, command)), asked.guidance != "none", asked.coverage,
        reported, bool(asked.prompts),
    )  # fmt: skip
    found = document(result, calm, player.journal.earlier, folders, commands, made)
    clean: dict[str, Any] = redacted(found, redact)
    return clean


def _languages(features: frozenset[str]) -> tuple[str, ...]:
    """The languages that told their coverage before an interruption."""
    kinds = {"py ": "python", "v8 ": "node"}
    return tuple(name for mark, name in kinds.items() if any(one.startswith(mark) for one in features))


def _reproduce(folder: Path, about: About, *, exact: bool) -> str:
    import shlex

    if not exact:
        return f"faultwire fuzz (again, with the same options: the texts in {folder} are redacted)"
    return shlex.join(["faultwire", "fuzz", "--rerun", str(folder), "--", *(about.command or ("CMD",))])


def _keep_corpus(home: Path, corpus: Any, redact: Callable[[str], str]) -> None:
    """Write the cases that showed something new, for people and for other tools."""
    from faultwire.fuzz.repro import clean
    from faultwire.output_file import write_text
    from faultwire.runner.folder import private_dir

    folder = private_dir(home / "corpus")
    for kept in corpus.kept[1:]:
        text = json.dumps(clean(kept.case.as_json(), redact), indent=1, ensure_ascii=False) + "\n"
        write_text(folder / f"{kept.case.id}.json", text, anywhere=True)


def _notifier(asked: Asked) -> Callable[[int, Phase, Case, Seen], None]:
    from faultwire.cli.output import say

    def notify(number: int, phase: Phase, case: Case, seen: Seen) -> None:
        if asked.quiet:
            return
        where = ", ".join(part.target.text for part in case.parts)
        last = case.parts[-1]
        how = last.steps[-1].how if last.steps else last.base
        outcome: str = "no crash" if seen.crash is None else seen.crash.kind
        outcome = "inconclusive" if seen.void else outcome
        say(f"{number}/{asked.budget} {phase:<7} {where}: {how}: {outcome}")

    return notify


def _must_have(any_: bool, unnamed: tuple[str, ...]) -> None:
    if any_:
        return
    calls = f": {', '.join(unnamed[:3])} have no tool's name" if unnamed else ""
    raise UsageError(
        f"found nothing that can be generated{calls}",
        code="fuzz.surface",
        hint="`tools` of a --profile names the agent's tools; --prompt gives a prompt to begin with",
    )


def _identity(command: tuple[str, ...], asked: Asked, traffic: Traffic) -> list[object]:
    """All that outcomes, and the order of the search, depend on."""
    from faultwire.cli._failed_run import surroundings
    from faultwire.profile.load import dump

    script = "" if traffic.script is None else traffic.script.read_text(errors="replace")
    options = replace(asked, max_time=None, home=None, output=(), quiet=False)
    search = [getattr(options, name) for name in Asked.__dataclass_fields__]
    program = [list(command), *surroundings(command)]
    return [program, search, traffic.seed, dump(traffic.load()), traffic.mock, script]


def _print(found: dict[str, Any], format_: Format, folder: Path, home: Path) -> None:
    from faultwire.cli.output import show, show_json
    from faultwire.fuzz.report import crash_lines, summary
    from faultwire.text import safe

    if format_ == "json":
        show_json(found)
        return
    for line in summary(found):
        show(line)
    for one in found["crashes"]:
        for line in crash_lines(one):
            show(safe(line))
    if found["not_generated"]:
        show("not generated")
        for line in found["not_generated"]:
            show(safe(f"  {line}"))
    show(f"corpus  {home / 'corpus'}")
    show(f"report  {folder / 'fuzz.html'}")


def _exit(found: dict[str, Any]) -> int:
    """The exit code. Raises FaultError where no case reached the agent."""
    cases = found["cases"]
    if found["crashes"]:
        return 1
    if not cases["agent"] + cases["model"]:
        raise FaultError(
            f"the search is inconclusive: none of {counted(cases['generated'], 'case')} reached the agent",
            code="fuzz.nothing",
            hint="the calls that are replaced must come in each run; a larger --budget makes more cases",
        )
    return 0
