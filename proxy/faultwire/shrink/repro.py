"""The repro folder: all that a colleague needs to see the failure, offline, with one command.

`profile.yaml` holds the pinned decisions, `repro.tape` what the servers answered, `contract.yaml` the
invariant that fails, `repro.json` what `faultwire shrink --rerun` reads, `run.sh` the one command.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from dataclasses import asdict, dataclass
from math import ceil, log
from typing import TYPE_CHECKING, Any

import yaml

from faultwire import dice
from faultwire.errors import UsageError
from faultwire.profile.load import dump

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.checks._api import Check
    from faultwire.profile.model import Profile

PROFILE, TAPE, CONTRACT, ABOUT = "profile.yaml", "repro.tape", "contract.yaml", "repro.json"
VERSION = 1
SURE = 0.99
"""How surely a repro shows its failure within its runs."""
PROMPT = "{prompt}"
SCRIPT = """#!/bin/sh
# Runs the agent on the tape with the pinned faults. Exits 1 if it fails as it did, 0 if not.
# ./run.sh [COMMAND ...]
here=$(cd "$(dirname "$0")" && pwd)
exec faultwire shrink --rerun "$here" -- "$@"
"""


@dataclass(frozen=True, slots=True)
class Repro:
    """What a repro folder says. `command` is None where it may hold a secret, and `oracle` is the command of
    the user's that judges, None where the contract does; `rate` is how often the failure comes."""

    session: str
    seed: int
    rate: float
    timeout_s: float
    command: tuple[str, ...] | None
    oracle: str | None = None
    prompt: str | None = None
    masks: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        """Runs within which the failure is seen for sure (`SURE`)."""
        return max(1, ceil(log(1 - SURE) / log(1 - min(self.rate, 0.999))))


def filled(command: Sequence[str], prompt: str | None) -> tuple[str, ...]:
    """The command with the prompt where it names a place for it."""
    return tuple(command if prompt is None else (part.replace(PROMPT, prompt) for part in command))


def write(
    folder: Path, about: Repro, profile: Profile, checks: Sequence[Check], tape: Path, findings: Sequence[str]
) -> None:
    """Write the folder, whole or not at all; the tape is moved there. Raises UsageError if it exists."""
    if folder.exists():
        message = f"found `{folder}`, expected a new folder"
        raise UsageError(message, code="shrink.output", hint="give another -o, or remove it")
    draft = folder.with_name(f".{folder.name}.{dice.token(4)}")
    draft.mkdir(mode=0o700, parents=True)
    try:
        texts = {
            PROFILE: profile_yaml(profile),
            ABOUT: json.dumps({"faultwire_repro": VERSION, **asdict(about)}, indent=2) + "\n",
            "README.md": readme(about, findings, contract=bool(checks)),
            "run.sh": SCRIPT,
        }
        if checks:
            texts[CONTRACT] = contract_yaml(checks)
        for name, text in texts.items():
            (draft / name).write_text(text)
        (draft / "run.sh").chmod(0o755)
        shutil.move(tape, draft / TAPE)
        os.rename(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def read(folder: Path) -> Repro:
    """What a folder says. Raises UsageError where it is none."""
    try:
        found = json.loads((folder / ABOUT).read_text())
        if found.pop("faultwire_repro") != VERSION:
            raise ValueError
        command = found["command"]
        found["command"] = None if command is None else tuple(map(str, command))
        found["masks"] = tuple(map(str, found["masks"]))
        about = Repro(**found)
        if not (0 < about.rate <= 1 and about.timeout_s > 0):
            raise ValueError
        return about
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(
            f"found no readable `{folder / ABOUT}`, expected a folder that `faultwire shrink` wrote",
            code="shrink.repro",
        ) from None


def profile_yaml(profile: Profile) -> str:
    """The profile as a file that `--profile` takes."""
    dumped = dump(profile)
    entries = [
        {
            entry["fault"]["name"]: entry["fault"]["settings"],
            "id": entry["id"],
            **{key: entry[key] for key in ("on", "trigger") if entry[key]},
        }
        for entry in dumped["entries"]
    ]
    about: dict[str, Any] = {"name": "repro", "description": "The decisions with which a run fails."}
    about |= {key: dumped[key] for key in ("tools", "agents") if dumped[key]}
    return yaml.safe_dump({**about, "faults": entries}, sort_keys=False, allow_unicode=True)


def contract_yaml(checks: Sequence[Check]) -> str:
    """The invariants that fail, as a contract's own file."""
    lines = [{"type": check.name, **check.model_dump(mode="json", exclude_defaults=True)} for check in checks]
    return yaml.safe_dump({"name": "repro", "invariants": lines}, sort_keys=False, allow_unicode=True)


def readme(about: Repro, findings: Sequence[str], *, contract: bool = True) -> str:
    """For the colleague."""
    command = shlex.join(about.command) if about.command is not None else "COMMAND"
    start = "./run.sh" if about.command is not None else "./run.sh COMMAND [ARG ...]"
    lines = [
        "# A failing run, made as small as possible",
        "",
        "The agent failed with these faults:",
        "",
        *(f"- {line}" for line in findings),
        "",
        "To see it, call this script where the agent starts; it takes no key and no network:",
        "",
        f"    {start}",
        "",
        f"It runs the agent at most {about.runs} times, exits 1 as soon as it fails, and 0 if it does not.",
        "One run by hand, in this folder:",
        "",
        f"    faultwire exec --profile ./{PROFILE} --replay ./{TAPE} --seed {about.seed} -- {command}",
    ]
    if contract:
        lines += [
            "",
            f"`{CONTRACT}` holds the invariant that fails, as a `contract` of a faultwire.yaml.",
        ]
    return "\n".join(lines) + "\n"
