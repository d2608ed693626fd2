"""The folder of a crash: the case, its profile and prompt, what was printed, and one command.

`case.json` is what `faultwire fuzz --rerun` reads; `profile.yaml` (and `prompt.txt`) are the same for `exec`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire import dice
from faultwire.errors import UsageError
from faultwire.fuzz.case import Case, read as case_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.fuzz.search import Found

FILE, PROFILE, PROMPT, OUTPUT = "case.json", "profile.yaml", "prompt.txt", "output.txt"
FORMAT = "faultwire.fuzz.case/1"
SCRIPT = """#!/bin/sh
# Runs the agent with this case. Exits 1 if it crashes, 0 if not.
# ./run.sh [COMMAND ...]
here=$(cd "$(dirname "$0")" && pwd)
exec faultwire fuzz --rerun "$here" -- "$@"
"""


@dataclass(frozen=True, slots=True)
class About:
    """What a case was played with; `options` are those of `exec` for the same answers, `command` is None
    where it may hold a secret."""

    seed: int
    timeout_s: float
    command: tuple[str, ...] | None
    prompts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repro:
    """What a folder says."""

    about: About
    case: Case
    key: str
    title: str


def write(folder: Path, found: Found, about: About, output: str, redact: Callable[[str], str]) -> bool:
    """Write the folder, in place of an earlier one; False where a text holds what redaction takes out, so
    that it cannot be repeated from here."""
    case = found.smallest
    rows = clean(case.as_json(), redact)
    prompts = [redact(one) for one in about.prompts]
    exact = rows == case.as_json() and tuple(prompts) == about.prompts
    document = {
        "format": FORMAT,
        "key": found.crash.key,
        "title": found.crash.title,
        "seed": about.seed,
        "timeout_s": about.timeout_s,
        "command": about.command,
        "prompts": prompts,
        "options": about.options,
        "exact": exact,
        "case": rows,
    }
    prompt = case.prompt or (about.prompts[0] if about.prompts else None)
    texts = {
        FILE: json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        PROFILE: case_of(rows).as_yaml,
        OUTPUT: output + "\n",
        "README.md": readme(found, about, exact=exact),
        "run.sh": SCRIPT,
        **({} if prompt is None else {PROMPT: redact(prompt)}),
    }
    draft = folder.with_name(f".{folder.name}.{dice.token(4)}")
    draft.mkdir(mode=0o700, parents=True)
    try:
        for name, text in texts.items():
            (draft / name).write_text(text, encoding="utf-8", errors="replace")
        (draft / "run.sh").chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return exact


def clean(rows: list[dict[str, Any]], redact: Callable[[str], str]) -> list[dict[str, Any]]:
    """Parts of a case without secrets."""
    return [{**one, "text": redact(one["text"])} for one in rows]


def read(folder: Path) -> Repro:
    """What a folder says. Raises UsageError where it is none, or cannot be repeated."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError
        command = found["command"]
        about = About(
            int(found["seed"]),
            float(found["timeout_s"]),
            None if command is None else tuple(map(str, command)),
            tuple(map(str, found["prompts"])),
            tuple(map(str, found["options"])),
        )
        made = Repro(about, case_of(found["case"]), str(found["key"]), str(found["title"]))
        exact = bool(found["exact"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(
            f"found no readable `{folder / FILE}`, expected a folder that `faultwire fuzz` wrote",
            code="fuzz.repro",
        ) from None
    if not exact:
        raise UsageError(
            f"found a case in `{folder}` whose texts were redacted, expected one that can be repeated",
            code="fuzz.repro",
            hint="the search itself repeats it: call it with the same options again",
        )
    return made


def exec_command(folder: str, about: About) -> str:
    """The run by hand. The prompt goes where the command says so, else on stdin."""
    command = list(about.command or ("COMMAND",))
    words = ["faultwire", "exec", "--seed", str(about.seed), *about.options]
    text = shlex.join([*words, "--profile", f"{folder}/{PROFILE}", "--", *command])
    if not about.prompts:
        return text
    place = f'"$(cat {shlex.quote(f"{folder}/{PROMPT}")})"'
    if "'{prompt}'" in text:
        return text.replace("'{prompt}'", place)
    return f"{text} < {shlex.quote(f'{folder}/{PROMPT}')}"


def readme(found: Found, about: About, *, exact: bool) -> str:
    """For a colleague."""
    lines = [f"# {found.crash.kind}: {found.crash.title}", ""]
    lines += [f"- {one}" for one in found.crash.frames]
    lines += ["", "What the agent was given:", ""]
    for part in found.smallest.parts:
        steps = "; ".join(step.how for step in part.steps) or "as it is"
        lines.append(f"- {part.target.text}: {steps} (of: {part.base})")
    if not exact:
        lines += ["", "Secrets in these texts were redacted, so this folder does not repeat the crash."]
        return "\n".join(lines) + "\n"
    start = "./run.sh" if about.command is not None else "./run.sh COMMAND [ARG ...]"
    lines += ["", "Where the agent starts:", "", f"    {start}", "", "By hand, in this folder:", ""]
    lines += [f"    {exec_command('.', about)}", "", f"`{OUTPUT}` has what it printed."]
    return "\n".join(lines) + "\n"
