"""What a run was made of, as hashes: the scores of two runs are one series only where all of them agree."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.runner.artefacts import commit_of, digests_of, images_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from faultwire.config.model import Config
    from faultwire.runner.phases import Phase

FORMULA = "2"
"""Changes with the formula of a score: numbers of different formulas are not comparable."""
MOST = 16 * 1024 * 1024
"""Bytes of one of the agent's files that are hashed."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """SHA-256 digests in hex. `config_digest` is of the configuration file, `agent_digest` of the agent's
    settings and of the files that these name (not of what those import), `profiles_digest` of the faults of
    all scenarios. `artefacts` are these files, lock files beside the configuration and images that are named
    by digest, by name, and `commit` is what is checked out there; neither takes part in the comparison."""

    config_digest: str
    agent_digest: str
    profiles_digest: str
    score_formula: str = FORMULA
    artefacts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    commit: str | None = None

    def as_json(self) -> dict[str, Any]:
        """What `run.json` says of it."""
        return {
            **{key: getattr(self, key) for key in WORDS},
            "artefacts": dict(self.artefacts),
            "commit": self.commit,
        }

    def differs(self, about: Mapping[str, object]) -> str | None:
        """What the `run.json` of an earlier run names differently, in a word; None where all agrees."""
        for key, word in WORDS.items():
            if about.get(key) != getattr(self, key):
                return word
        return None


WORDS = {
    "score_formula": "score formula",
    "config_digest": "configuration",
    "agent_digest": "agent",
    "profiles_digest": "profiles",
}
"""What must agree, and what it is called where it does not."""


def identity(config: Config, phases: Iterable[Phase]) -> RunIdentity:
    """The hashes of a run that is about to start."""
    settings = config.agent.model_dump(mode="json")
    files = list(_files(settings, config.folder))
    named = {str(path): _digest(path) for path in files}
    entries = sorted(
        (phase.name, scenario.name, scenario.profile.name, scenario.profile.digest)
        for phase in phases
        for scenario in phase.scenarios
    )
    return RunIdentity(
        config.digest,
        _hash([settings, sorted(named.values())]),
        _hash(entries),
        artefacts={**digests_of(config.folder, files), **images_of(_words(settings))},
        commit=commit_of(config.folder),
    )


def _files(settings: object, folder: Path) -> Iterator[Path]:
    """The files that words of the settings name: `agent.py`, or `shop.agent:answer` for a module."""
    for word in _words(settings):
        module = word.partition(":")[0].replace(".", "/") + ".py" if ":" in word else word
        for name in dict.fromkeys((word, module)):
            path = folder / name
            try:
                found = bool(name) and path.is_file()
            except (OSError, ValueError):  # a whole program as an argument is no name of a file
                found = False
            if found:
                yield path


def _words(settings: object) -> Iterator[str]:
    if isinstance(settings, str):
        yield settings
    elif isinstance(settings, dict):
        for value in settings.values():
            yield from _words(value)
    elif isinstance(settings, list):
        for value in settings:
            yield from _words(value)


def _digest(path: Path) -> str:
    """Of an unreadable file, of nothing: the run itself will fail for it."""
    try:
        with path.open("rb") as file:
            return _core.sha256_hex(file.read(MOST))
    except OSError:
        return _core.sha256_hex(b"")


def _hash(value: object) -> str:
    return _core.sha256_hex(json.dumps(value, sort_keys=True).encode())
