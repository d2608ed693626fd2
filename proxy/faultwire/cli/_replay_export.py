"""Writes the sessions of `faultwire replay export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.cli._placed import anywhere, placed
from faultwire.cli.output import say, show
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from faultwire.profile.model import ToolSite
    from faultwire.replay.incident_export import Exported


def export_all(
    *,
    report: str | None,
    tape: str | None,
    session: str | None,
    input_: str | None,
    contract: str,
    config: Path | None,
    no_tape: bool,
    output: Path,
) -> None:
    """Write the sessions. Raises UsageError, ScenarioError, TapeError."""
    from faultwire.errors import UsageError
    from faultwire.replay.incident_export import Wish, from_tape
    from faultwire.tape.files.find import find

    if (report is None) == (tape is None):
        raise UsageError(
            "found neither or both of `--from-report` and `--from-tape`, expected exactly one",
            code="usage.origin",
        )
    if report is not None and (session is not None or input_ is not None):
        raise UsageError(
            "found `--session` or `--input` with `--from-report`, expected them with `--from-tape`",
            code="usage.origin",
        )
    path = report_file(report) if report is not None else Path()
    wish = Wish(
        folder=output,
        contract=contract,
        turns=(input_,) if input_ else (),
        tools=tools_of(config if config is not None else configured(path.parent)),
        with_tape=not no_tape,
    )
    if tape is not None:
        written(from_tape(find(tape), wish, session), output)
        return
    from faultwire.replay.incident_export import from_reports
    from faultwire.report.load import load

    written(from_reports([load(one) for one in phase_reports(path)], path.parent, wish), output)


def report_file(name: str) -> Path:
    """The report that a user named: a file, a run's folder or id, or `last`. Raises UsageError."""
    from faultwire.errors import UsageError, printable
    from faultwire.runner.past_runs import run_folder

    path = Path(name)
    if path.is_file():
        return path
    folder = path if path.is_dir() else run_folder(name)
    found = folder / "report.json"
    if not found.is_file() and (folder / "run.json").is_file():
        raise UsageError(
            f"found run `{printable(folder.name)}`, which has no report, expected one of `run`, `ci`, "
            "`contract run` or `replay run`",
            code="report.missing",
            hint="--from-tape exports the sessions of a tape",
        )
    return found


def phase_reports(report: Path) -> list[Path]:
    """The reports of a run: those of its phases where it is the summary of a `ci` run. Raises UsageError."""
    import json

    from faultwire.report.summary import SCHEMA

    try:
        summary = json.loads(report.read_bytes())
        phases = summary["phases"] if summary["schema"] == SCHEMA else None
        pages = [Path(phase["report"]).name for phase in phases or () if phase["report"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return [report]  # reading it as a report states what is wrong with it
    return [report.parent / Path(page).with_suffix(".json") for page in pages] if phases else [report]


def configured(folder: Path) -> Path | None:
    """The configuration file of a run, if its folder names one that still exists."""
    import json

    try:
        run_json = json.loads((folder / "run.json").read_bytes())
    except (OSError, ValueError):
        return None
    name = run_json.get("config") if isinstance(run_json, dict) else None
    path = Path(name) if isinstance(name, str) else None
    return path if path is not None and path.is_file() else None


def tools_of(config: Path | None) -> Mapping[str, ToolSite]:
    """The tool sites of a configuration. Raises ConfigError."""
    if config is None:
        return {}
    from faultwire.config.load import load

    return load(config).tools


def written(sessions: Iterable[Exported], output: Path) -> None:
    """Write each session, its contract, and its part of a run's tape. Raises ScenarioError, UsageError,
    TapeError."""
    from faultwire.replay.incident_write import text_of, write, write_session

    contracts: set[Path] = set()
    for one in with_tapes(list(sessions), output):
        place = output / f"{one.name}.yaml"
        if one.contract is not None:
            path = output / one.document["contract"]
            if path not in contracts:
                contracts.add(write(path, text_of(one.contract), anywhere=anywhere()))
        write_session(one.document, place, anywhere=anywhere())
        show(f"{place}: {counted(len(one.document['tool_responses']), 'tool response')}")
        for note in one.notes:
            say(f"warning: {place}: {note}")


def with_tapes(sessions: Sequence[Exported], output: Path) -> list[Exported]:
    """The sessions with tapes that stay: what they need of a tape in a run's folder is copied beside them,
    since runs are removed and are not under version control. Raises TapeError, UsageError."""
    from dataclasses import replace

    from faultwire.cli.tape_keep import origin_and_signer
    from faultwire.replay.incident_export import relative
    from faultwire.tape.files.copy import split_sessions
    from faultwire.tape.format.file import SUFFIX

    needed: dict[Path, list[str]] = {}
    for one in sessions:
        tape = _in_run(one, output)
        if tape is not None:
            needed.setdefault(tape, []).append(one.document["tape_session"])
    copies: dict[Path, Path] = {}
    for tape, names in needed.items():
        run = tape.parent.name
        target = output / "tapes" / f"{run if tape.stem == 'run' else f'{run}-{tape.stem}'}{SUFFIX}"
        split_sessions(tape, names, placed(target), *origin_and_signer(target))
        show(f"{target}: {len(names)} {'session' if len(names) == 1 else 'sessions'}, sealed")
        copies[tape] = target
    made = []
    for one in sessions:
        tape = _in_run(one, output)
        own = {"tape": relative(copies[tape], output)} if tape is not None else {}
        made.append(replace(one, document={**one.document, **own}))
    return made


def _in_run(session: Exported, output: Path) -> Path | None:
    """A session's tape, if it is in the folder of a run."""
    if "tape" not in session.document:
        return None
    tape = (output / session.document["tape"]).resolve()
    return tape if (tape.parent / "run.json").is_file() else None
