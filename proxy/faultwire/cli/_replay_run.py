"""What `faultwire replay run` plays: sessions from files, folders, tapes, LangSmith or the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.campaign.ci_run import Part
    from faultwire.config.model import Config
    from faultwire.replay.incident import Session


def parts_of(
    config: Config, paths: Sequence[Path], runs: Sequence[str], *, timing: float
) -> tuple[Part, ...]:
    """The parts of a run, with notes on assumptions that were made.

    Raises UsageError and its kinds where a session, its contract or its tape is not found.
    """
    from faultwire.campaign.ci_run import Part
    from faultwire.errors import ConfigError
    from faultwire.runner import incidents

    sessions = tuple(_sessions(config, paths, runs))
    if not sessions:
        raise ConfigError(
            f"found no session to replay in `{config.path}`, expected `replays.sessions` or a path",
            code="config.empty",
            hint="faultwire replay run replays/incident_001.yaml",
        )
    incidents.distinct(sessions)
    parts = []
    for use, some in incidents.by_tape(sessions):
        phase = incidents.phase(config, some, timing=timing)
        parts.append(Part((phase,), incidents.replay_settings(use, timing=timing)))
    return tuple(parts)


def _sessions(config: Config, paths: Sequence[Path], runs: Sequence[str]) -> Iterator[Session]:
    from faultwire.runner import incidents
    from faultwire.runner.incident_sources import from_langsmith

    for path in paths:
        yield from _at(path, config)
    for run in runs:
        yield from from_langsmith(run)
    if not paths and not runs:
        yield from incidents.sessions_of(config)


def _at(path: Path, config: Config) -> tuple[Session, ...]:
    from faultwire.replay.incident_read import read_all
    from faultwire.runner.incident_sources import from_tape
    from faultwire.tape.format.file import SUFFIX

    if path.suffix == SUFFIX:
        return from_tape(path, config)
    return read_all(path)
