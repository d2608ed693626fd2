"""A search as `faultwire explore` was asked for it: here, and on workers that make its runs."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.campaign.cell import Surroundings
    from faultwire.cli.options import Traffic
    from faultwire.profile.model import Profile
    from faultwire.runner.launch import LaunchSettings
    from faultwire.trials.execute import AnswerKey, TrialRunner

PATH = "$path"
"""Marks a path among plain values."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a failure is, in the words of the options."""

    oracle: str | None
    expect: str | None
    contract: Path | None
    timeout: float


@dataclass(frozen=True, slots=True)
class Searched:
    """The agent, its faults, who answers it, and what a failure is."""

    command: tuple[str, ...]
    traffic: Traffic
    judged: Judged

    def profile(self) -> Profile:
        """All faults as one profile. Raises UsageError where there is none, and ProfileError."""
        found = faults(self.traffic)
        if not found.entries:
            raise UsageError(
                "found no fault, expected --profile or --fault with those to try",
                code="explore.no_fault",
                hint="faultwire explore --mock --fault 'status: {code: 503}' -- python agent.py",
            )
        return found

    def runner(self, profile: Profile) -> TrialRunner:
        """What makes its runs. Raises UsageError, ConfigError and TapeError."""
        from faultwire.capture import child
        from faultwire.cli._failed_run import oracle
        from faultwire.trials.execute import TrialRunner

        child.find(self.command, os.environ)
        settings = self.traffic.launch("explore", profile=profile)
        made = _made_by_faults(settings, unverified=self.traffic.unverified)
        judge = oracle("explore", self.judged.oracle, self.judged.expect, self.judged.contract)
        return TrialRunner(settings, profile, self.command, judge, self.judged.timeout, made_by_faults=made)

    def surroundings(self, profile: Profile, settings: LaunchSettings) -> Surroundings:
        """What must be the same on every worker: the same options, and the same files behind them."""
        from faultwire import _core
        from faultwire.audit.program import program_hash
        from faultwire.campaign.cell import Surroundings
        from faultwire.profile.load import dump

        files = [self.traffic.script, self.judged.contract, self.traffic.config]
        files += [settings.replay.tape] if settings.replay is not None else []
        read = [None if path is None else _core.sha256_hex(path.read_bytes()) for path in files]
        words = self.as_json()
        return Surroundings(
            _core.__version__,
            _hash([words["judged"], words["traffic"], read]),
            _hash([list(self.command), program_hash(self.command)]),
            _hash(dump(profile)["entries"]),
        )

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "command": list(self.command),
            "traffic": plain(asdict(self.traffic)),
            "judged": plain(asdict(self.judged)),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Searched:
        """Raises UsageError for anything else."""
        from faultwire.cli.options import Traffic

        try:
            command = tuple(map(str, value["command"]))
            return cls(
                command, Traffic(**from_plain(value["traffic"])), Judged(**from_plain(value["judged"]))
            )
        except (KeyError, TypeError) as error:
            raise UsageError(f"found no search in a request: {error}", code="campaign.request") from error


def plain(value: Any) -> Any:
    """Options as JSON has them: their sequences are tuples, and paths are marked."""
    if isinstance(value, Path):
        return {PATH: str(value)}
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, tuple) else value


def from_plain(value: Any) -> Any:
    """Options as they were."""
    if isinstance(value, dict):
        if set(value) == {PATH}:
            return Path(value[PATH])
        return {name: from_plain(one) for name, one in value.items()}
    return tuple(map(from_plain, value)) if isinstance(value, list) else value


def answer(text: str) -> dict[str, Any]:
    """What a worker answers to a request for runs. Raises UsageError and its kinds, and FaultError."""
    from faultwire.campaign.trial_request import TrialRequest, answer as made
    from faultwire.cli._failed_run import redactor

    request = TrialRequest.parse(text)
    search = Searched.from_json(request.search)
    profile = search.profile()
    runner = search.runner(profile)
    return made(request, search.surroundings(profile, runner.settings), runner, redactor(search.traffic))


def faults(traffic: Traffic) -> Profile:
    """All faults as one profile. That one would leave another nothing to act on is no error here: each is
    tried alone. Raises ProfileError."""
    from faultwire.profile.across import joined
    from faultwire.profile.dump import marked, merge
    from faultwire.profile.load import find, inline, load

    profiles = [*(load(find(name)) for name in traffic.profile), *map(inline, traffic.fault)]
    joined([one.model_copy(update={"entries": ()}) for one in profiles])
    return marked(merge(profiles)) if traffic.mark else merge(profiles)


def _made_by_faults(settings: LaunchSettings, *, unverified: bool) -> frozenset[AnswerKey]:
    """The answers on a replayed tape that no server gave. Raises TapeError."""
    from faultwire.replay.reader import open_tape
    from faultwire.trials.execute import answers_of_faults

    if settings.replay is None:
        return frozenset()
    with open_tape(settings.replay.tape, unverified=unverified) as tape:
        return answers_of_faults(tape.exchanges())


def _hash(value: object) -> str:
    from faultwire import _core

    return _core.sha256_hex(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass"))
