"""Writes the sessions of `faultwire replay import` from HAR files, mitmproxy flows and LangSmith runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.cli._placed import anywhere, placed
from faultwire.cli.output import say, show
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.replay.langsmith import Fetched, RunFilter


@dataclass(frozen=True, slots=True)
class Origin:
    """The command's options."""

    har: Path | None
    flows: Path | None
    langsmith: str | None
    langsmith_project: str | None
    filter_status: str
    since: str | None
    min_latency_ms: int | None
    limit: int
    contract: str
    input_: str | None
    config: Path | None
    output: Path

    def check(self) -> None:
        """Require exactly one source. Raises UsageError."""
        from faultwire.errors import UsageError

        sources = [
            name
            for name, value in (
                ("--har", self.har),
                ("--flows", self.flows),
                ("--langsmith", self.langsmith),
                ("--langsmith-project", self.langsmith_project),
            )
            if value is not None
        ]
        if len(sources) > 1 or (not sources and self.config is None):
            found = f"`{'`, `'.join(sources)}`" if sources else "no source"
            raise UsageError(
                f"found {found}, expected one of `--har`, `--flows`, `--langsmith`, "
                "`--langsmith-project`, or a `--config` with `replays.sources`",
                code="usage.origin",
            )
        if self.langsmith_project is None and (self.since or self.min_latency_ms is not None):
            raise UsageError(
                "found `--since` or `--min-latency-ms` without `--langsmith-project`, expected them together",
                code="usage.origin",
            )

    def filter(self) -> RunFilter:
        """The filter for a project's runs. Raises UsageError."""
        from faultwire.replay.langsmith import RunFilter, since

        return RunFilter(
            self.filter_status,  # type: ignore[arg-type]  # click has checked it
            since(self.since) if self.since else None,
            self.min_latency_ms,
            self.limit,
        )


def import_all(**options: object) -> None:
    """Write the sessions. Raises UsageError, ScenarioError, TapeError, FaultwireError; exits 1 if some
    could not be written."""
    origin = Origin(**options)  # type: ignore[arg-type]  # click has checked them
    origin.check()
    if origin.har is not None:
        _traffic("har", "faultwire.tape.import_.har", origin.har, origin)
    elif origin.flows is not None:
        _traffic("flows", "faultwire.mitm.flowfile.import_", origin.flows, origin)
    else:
        _runs(origin)


def _traffic(kind: str, module: str, file: Path, origin: Origin) -> None:
    """Import traffic to a redacted, sealed tape that is marked as not recorded by the proxy."""
    from importlib import import_module

    from faultwire.cli._replay_export import tools_of, written
    from faultwire.cli.tape_keep import origin_and_signer
    from faultwire.replay.incident_export import Wish, from_tape
    from faultwire.tape.files.find import STATE
    from faultwire.tape.format.file import SUFFIX
    from faultwire.tape.import_._api import store
    from faultwire.tape.import_._source import digest_of
    from faultwire.tape.redact.redactor import load_key

    tools = tools_of(origin.config)
    target = placed(origin.output / f"{file.stem}{SUFFIX}")
    about = {"imported_file": file.name, "imported_sha256": digest_of(file)}
    origin.output.mkdir(parents=True, exist_ok=True)
    signed_by, signer = origin_and_signer(target)
    key = load_key(STATE / "keys" / "redaction.key")
    done = store(import_module(module).read(file), target, kind, signed_by, signer, key=key, about=about)
    for one in done.findings:
        say(f"{'note' if one.note else 'warning'}: {file}: {one.message}")
    wish = Wish(
        folder=origin.output,
        contract=origin.contract,
        turns=(origin.input_,) if origin.input_ else (),
        tools=tools,
        source=kind,
    )
    written(from_tape(target, wish), origin.output)
    show(f"{target}: {counted(done.exchanges, 'exchange')}, not recorded by the proxy")


def _runs(origin: Origin) -> None:
    from faultwire.runner.incident_sources import client, fetched

    if origin.langsmith is not None:
        found: Iterable[Fetched] = [client().one(origin.langsmith, origin.contract)]
    elif origin.langsmith_project is not None:
        run_filter = origin.filter()
        found = client().project(origin.langsmith_project, run_filter, origin.contract)
    else:
        from faultwire.config.load import load
        from faultwire.errors import ConfigError

        assert origin.config is not None
        config = load(origin.config)
        if config.replays is None or not config.replays.sources:
            raise ConfigError(
                f"found no `replays.sources` in `{origin.config}`, expected at least one", code="config.empty"
            )
        found = (one for source in config.replays.sources for one in fetched(source, origin.contract))
    failed = _written(found, origin.output)
    sys.exit(1 if failed else 0)


def _written(found: Iterable[Fetched], output: Path) -> int:
    """Write the sessions; returns how many runs could not be converted."""
    from faultwire.errors import ScenarioError
    from faultwire.replay.incident_write import write_session

    failed = count = 0
    for one in found:
        problem = one.problem
        if one.document is not None:
            place = output / f"{one.run}.yaml"
            try:
                write_session(one.document, place, anywhere=anywhere())
            except ScenarioError as error:
                problem = error.message
            else:
                count += 1
                show(f"{place}: {counted(len(one.document['tool_responses']), 'tool response')}")
                for note in one.notes:
                    say(f"warning: {place}: {note}")
        if problem is not None:
            failed += 1
            say(f"warning: run `{one.run}` was not imported: {problem}")
    if not count and not failed:
        say("found no run that matches the filter")
    return failed
