"""The contributor's three walks: their files are written and their commands run, as a reader would.

A `python`, `toml` or `yaml` block whose first line names a file is that file. A `sh` block is one command;
the `text` block behind it holds lines that the command prints, and its exit code where that is not 0.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests import interpreter

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
WALKS = ("add_a_fault", "add_a_check", "add_a_protocol")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = "8765"
"""The port of the server on the page, for which the tests take a free one."""
LIMIT_S = 120


class Step(NamedTuple):
    """One command with what it prints."""

    command: str
    prints: tuple[str, ...]
    code: int


def blocks(walk: str) -> list[tuple[str, str]]:
    return BLOCK.findall((HOWTO / f"{walk}.md").read_text())


def files(walk: str) -> dict[str, str]:
    """The files of a page by name."""
    named = (text.partition("\n") for kind, text in blocks(walk) if kind in ("python", "toml", "yaml"))
    return {first.removeprefix("# "): rest for first, _, rest in named}


def steps(walk: str) -> list[Step]:
    """The commands of a page, each with the block behind it."""
    found = []
    each = blocks(walk)
    for (kind, text), (behind, said) in zip(each, [*each[1:], ("", "")], strict=True):
        if kind != "sh":
            continue
        assert behind == "text", f"{text}: what does it print?"
        lines = said.splitlines()
        code = re.fullmatch(r"exit code (\d+)", lines[-1])
        found.append(Step(text.strip(), tuple(lines[:-1] if code else lines), int(code[1]) if code else 0))
    return found


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def written(walk: str, folder: Path, port: str) -> None:
    """The page's files."""
    for name, text in files(walk).items():
        (folder / name).write_text(text.replace(PORT, port))


def installed(folder: Path, site: Path) -> None:
    """`pip install .` in the folder, built with what this environment has, into a folder for packages."""
    source = shutil.copytree(folder, site.with_name("source"))  # setuptools writes beside what it builds
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--target", str(site), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr


@contextmanager
def serving(folder: Path, port: str) -> Iterator[None]:
    """The page's server, where it has one."""
    if not (folder / "server.py").exists():
        yield
        return
    with subprocess.Popen([sys.executable, "server.py"], cwd=folder, stderr=subprocess.DEVNULL) as server:
        try:
            while server.poll() is None:
                with socket.socket() as one:
                    if one.connect_ex(("127.0.0.1", int(port))) == 0:
                        break
            yield
        finally:
            server.terminate()


def run(command: str, folder: Path, port: str, site: Path) -> subprocess.CompletedProcess[str]:
    given, *words = shlex.split(command.replace(PORT, port))
    variables = {}
    if "=" in given:
        name, _, value = given.partition("=")
        variables[name] = value
        given, *words = words
    assert given == "faultwire"
    python = interpreter.make(site.with_name(f"{site.name}-python"), [site])
    return subprocess.run(
        [str(python), "-m", "faultwire", *words],
        cwd=folder,
        env=os.environ | {"COLUMNS": "120"} | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


def plain(text: str) -> str:
    """With blanks that layout may change made one."""
    return " ".join(text.split())


@pytest.mark.by_day("add_a_check")
@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_works_as_it_is_written(walk: str, tmp_path: Path) -> None:
    port, folder, site = free_port(), tmp_path / "here", tmp_path / "site"
    folder.mkdir()
    written(walk, folder, port)
    installed(folder, site)
    found = steps(walk)
    assert len(found) >= 2
    with serving(folder, port):
        for step in found:
            done = run(step.command, folder, port, site)
            said = plain(done.stdout + " " + done.stderr)
            assert done.returncode == step.code, f"{step.command}\n{done.stdout}{done.stderr}"
            missing = [line for line in step.prints if plain(line) not in said]
            assert missing == [], f"{step.command}\n{done.stdout}{done.stderr}"


@pytest.mark.by_day("add_a_check")
@pytest.mark.parametrize("walk", WALKS)
def test_without_the_package_the_first_command_fails(walk: str, tmp_path: Path) -> None:
    port = free_port()
    written(walk, tmp_path, port)
    first = steps(walk)[0]
    done = run(first.command, tmp_path, port, tmp_path / "site")
    said = plain(done.stdout + " " + done.stderr)
    assert done.returncode != first.code or any(plain(line) not in said for line in first.prints)


def test_what_a_page_does_not_say_is_missed() -> None:
    (first, *_) = steps("add_a_fault")
    assert first.command == "faultwire faults show captive_portal"
    assert plain("Answer with the login page of another network.") not in plain(" ".join(first.prints))
