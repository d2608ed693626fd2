"""The table of commands, and the errors of its one entrance."""

from __future__ import annotations

import errno
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner, Result

from faultwire.cli import COMMANDS, main
from faultwire.cli._group import Lazy, LazyGroup
from faultwire.cli._usage import Guarded, translate
from faultwire.errors import FaultError, ProfileError

PRODUCT = {
    "demo", "exec", "fork", "proxy", "env", "mock", "mcp-shim", "init", "verify", "profiles", "faults",
    "checks", "tape", "ui", "keys", "scan", "schema", "doctor", "ca", "run", "chaos", "contract", "ci",
    "score", "report", "replay", "runs", "prices", "shrink", "audit", "explore", "blame", "validate",
    "control", "certificate", "ingest", "serve", "token", "witness", "bench", "redteam", "attack", "load",
    "evolve", "worker", "push", "pull", "gc", "fuzz", "mutations",
}  # fmt: skip


def faultwire(*arguments: str, **options: object) -> Result:
    return CliRunner().invoke(main, arguments, **options)  # type: ignore[arg-type]


def test_the_table_names_the_commands_of_the_product() -> None:
    assert set(COMMANDS) == PRODUCT


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_exists_with_the_summary_of_the_table(name: str) -> None:
    context = click.Context(main)
    command = main.get_command(context, name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.get_short_help_str(limit=200) == COMMANDS[name].summary


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_everywhere(name: str, option: str) -> None:
    done = faultwire(name, option)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"Usage: main {name}")


def test_help_imports_no_command_and_nothing_heavy() -> None:
    heavy = (
        "pydantic",
        "mitmproxy",
        "cryptography",
        "yaml",
        "rich",
        "jinja2",
        "httpx",
        "asyncio",
        "ssl",
        "json",
    )
    program = (
        "import sys\nfrom faultwire.cli import main\n"
        "try:\n main(['--help'], prog_name='faultwire')\nexcept SystemExit: pass\n"
        f"print([m for m in {heavy!r} if m in sys.modules], "
        "[m for m in sys.modules if m.startswith('faultwire.cli.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[] ['faultwire.cli._group', 'faultwire.cli._usage']\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["exce"],
            "usage.unknown_command: found `exce`, expected a command of `main`\nhint: did you mean `exec`?\n",
        ),
        (
            ["ca", "shw"],
            "usage.unknown_command: found `shw`, expected a command of `main ca`\n"
            "hint: did you mean `show`?\n",
        ),
        (
            ["exec", "--profil", "x"],
            "usage.unknown_option: found `--profil`, expected an option of `main exec`\n"
            "hint: did you mean `--profile`?\n",
        ),
        *(
            (
                [command, "--seed", "42", "last"],
                f"usage.unknown_option: found `--seed`, expected an option of `main {command}`\n"
                "hint: the seed is that of the run that is named, and is on its tape: leave it out\n",
            )
            for command in ("shrink", "blame")
        ),
        (
            ["shrink", "--stat", "x", "last"],
            "usage.unknown_option: found `--stat`, expected an option of `main shrink`\n"
            "hint: did you mean `--state`?\n",
        ),
        (
            ["exec", "--seed", "x", "--", "true"],
            "usage.bad_value: `--seed`: `x` is not a valid integer\nhint: see `main exec --help`\n",
        ),
        (
            ["doctor", "--format", "xml"],
            "usage.bad_value: `--format`: `xml` is not one of `terminal`, `json`\n"
            "hint: known: terminal, json\n",
        ),
        (
            ["exec"],
            "usage.missing: found no command, expected one after `--`\n"
            "hint: faultwire exec --profile degraded_llm -- python agent.py\n",
        ),
    ],
)
def test_usage_errors_have_code_and_hint_and_exit_2(arguments: list[str], said: str) -> None:
    done = faultwire(*arguments)
    assert done.stderr == said
    assert done.stdout == ""
    assert done.exit_code == 2


def test_other_click_errors_keep_their_sense() -> None:
    missing = translate(click.MissingParameter(param=click.Argument(["tape"])))
    assert missing.code == "usage.missing"
    unread = translate(click.FileError("x.yaml", "No such file."))
    assert str(unread) == "usage.file: cannot open `x.yaml`: no such file"
    plain = translate(click.UsageError("Got unexpected extra argument (x)."))
    assert str(plain) == "usage.invalid: got unexpected extra argument (x)"


def guarded() -> Guarded:
    @click.group(cls=Guarded)
    def group() -> None:
        """A group with one command for each way to end."""

    def raising(name: str, error: BaseException) -> None:
        @group.command(name)
        def command() -> None:
            raise error

    raising("fault", FaultError("broke \x1b[2J", hint="mend it"))
    raising("profile", ProfileError("found `x`"))
    raising("interrupt", KeyboardInterrupt())
    raising("defect", ValueError("ours"))
    raising("leave", SystemExit(7))
    raising("full", OSError(errno.ENOSPC, "No space left on device", "run.json"))
    return group  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("fault", 3, "fault.failed: broke \\x1b[2J\nhint: mend it\n"),
        ("profile", 2, "profile.invalid: found `x`\n"),
        ("interrupt", 130, "\n"),
        ("leave", 7, ""),
        (
            "full",
            3,
            "disk.full: cannot write `run.json`: no space left on device\n"
            "hint: free disk space, or run from another folder; `faultwire tape prune` removes old tapes\n",
        ),
    ],
)
def test_errors_become_text_and_a_code(command: str, code: int, said: str) -> None:
    done = CliRunner().invoke(guarded(), [command])
    assert done.exit_code == code
    assert done.stderr.lstrip("\n") == said.lstrip("\n")


def test_an_internal_error_exits_3_with_its_traceback() -> None:
    program = (
        "import click\nfrom faultwire.cli._usage import Guarded\n"
        "group = Guarded(commands=[click.Command('x', callback=lambda: {}['absent'])])\n"
        "group.main(['x'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 3
    assert "KeyError: 'absent'" in done.stderr
    assert "faultwire.internal: this is a bug in faultwire" in done.stderr


def test_a_closed_stdout_is_not_an_error() -> None:
    program = (
        "import sys\nfrom faultwire.cli._usage import Guarded\nimport click\n"
        "def spill():\n while True: click.echo('x' * 10000)\n"
        "Guarded(commands=[click.Command('x', callback=spill)]).main(['x'])"
    )
    done = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "$0" | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}', program],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "141\n"
    assert done.stderr == ""


def test_a_lazy_entry_without_a_command_is_an_error() -> None:
    group = LazyGroup("g", lazy={"x": Lazy("output:safe", "No command.")}, package="faultwire.cli")
    with pytest.raises(TypeError, match="is not a command"):
        group.get_command(click.Context(group), "x")


def test_the_version_is_the_cores() -> None:
    from faultwire._core import __version__

    done = faultwire("--version")
    assert done.stdout == f"faultwire {__version__}\n"
    assert done.exit_code == 0
