"""Writes the sessions of `faultwire replay export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.cli.output import say, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    from faultwire.replay.incident_export import from_report
    from faultwire.report.load import load

    written(from_report(load(path), path.parent, wish), output)


def report_file(name: str) -> Path:
    """The report that a user named: a file, a run's folder or id, or `last`. Raises UsageError."""
    from faultwire.runner.past_runs import run_folder

    path = Path(name)
    if path.is_file():
        return path
    folder = path if path.is_dir() else run_folder(name)
    return folder / "report.json"


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
    """Write each session and its contract. Raises ScenarioError, UsageError."""
    from faultwire.replay.incident_write import text_of, write, write_session

    contracts: set[Path] = set()
    for one in sessions:
        place = output / f"{one.name}.yaml"
        if one.contract is not None:
            path = output / one.document["contract"]
            if path not in contracts:
                contracts.add(write(path, text_of(one.contract)))
        write_session(one.document, place)
        show(f"{place}: {len(one.document['tool_responses'])} tool responses")
        for note in one.notes:
            say(f"warning: {place}: {note}")
