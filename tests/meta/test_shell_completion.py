"""Completion in the shell works as `docs/howto/shell_completion.md` sets it up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "shell_completion.md").read_text()
BASH = re.search(r"```bash\n(.*?)```", PAGE, re.DOTALL)
PLACE = ".local/share/bash-completion/completions/faultwire"
LIMIT_S = 60


def shell(script: str, home: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"HOME": str(home), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


def tab(home: Path, *words: str) -> list[str]:
    """What Bash offers when Tab is pressed behind the last word."""
    typed = " ".join(f"'{word}'" for word in words)
    done = shell(
        f"source ~/{PLACE}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; "
        '_faultwire_completion faultwire; printf "%s\\n" "${COMPREPLY[@]}"',
        home,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the page's commands were run."""
    folder = tmp_path_factory.mktemp("home")
    assert BASH is not None
    done = shell(f"set -e\n{BASH[1]}", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("faultwire", "tape", "ve"), ["verify"]),
        (("faultwire", "exec", "--on-t"), ["--on-tape-failure"]),
        (("faultwire", "exec", "--record-policy", ""), ["block", "drop"]),
        (("faultwire", "tape", "nothing-begins-like-this"), []),
    ],
)
def test_bash_completes_commands_options_and_choices(
    home: Path, words: tuple[str, ...], offered: list[str]
) -> None:
    assert tab(home, *words) == offered


@pytest.mark.parametrize("name", ["zsh", "fish"])
def test_a_script_is_printed_for_the_shell(name: str, tmp_path: Path) -> None:
    (command,) = re.findall(rf"^(_FAULTWIRE_COMPLETE={name}_source faultwire) >", PAGE, re.MULTILINE)
    done = shell(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"_FAULTWIRE_COMPLETE={name}_complete" in done.stdout
