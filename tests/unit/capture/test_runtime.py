from __future__ import annotations

import sys
from pathlib import Path

import pytest

from faultwire.capture.runtime import NEEDS, NETNS, is_static, needs, program_of, recognise, uncaptured


@pytest.mark.parametrize(
    ("command", "runtime"),
    [
        (["python", "agent.py"], "python"),
        (["/usr/bin/python3.12", "-m", "agent"], "python"),
        (["uv", "run", "agent.py"], "python"),
        (["node", "agent.mjs"], "node"),
        (["npx", "tsx", "agent.ts"], "node"),
        (["java", "-jar", "agent.jar"], "java"),
        (["./gradlew", "run"], "java"),
        (["go", "run", "."], "go"),
        (["curl", "https://x"], "curl"),
        (["deno", "run", "x.ts"], "deno"),
        (["bun", "x.ts"], "bun"),
        (["perl", "agent.pl"], "perl"),
        (["/usr/bin/perl5.36", "agent.pl"], "perl"),
        (["php8.2", "agent.php"], "php"),
        (["bash", "-c", "x"], "shell"),
        (["env", "A=1", "B=2", "python3", "x.py"], "python"),
        (["timeout", "-k", "5", "30s", "node", "x.js"], "node"),
        (["no-such-program"], "unknown"),
        ([], "unknown"),
        (["env"], "unknown"),
    ],
)
def test_by_name(command: list[str], runtime: str) -> None:
    assert recognise(command, {"PATH": "/nowhere"}) == runtime


@pytest.mark.parametrize(
    ("contents", "runtime"),
    [
        (b"#!/usr/bin/env -S node --no-warnings\n", "node"),
        (b"#!/opt/venv/bin/python3\nimport x", "python"),
        (b"#!/opt/strange\n", "unknown"),
        (b"#!\n", "unknown"),
        (b"\x7fELF" + b"\0" * 3_000_000 + b"\xff Go buildinf:\x08\x02", "go"),
        (b"\x7fELF" + b"\0" * ((1 << 20) - 10) + b"\xff Go buildinf:\x08\x02", "go"),
        (b"\x7fELF" + b"\0" * 100, "unknown"),
        (b"", "unknown"),
    ],
    ids=["env", "path", "strange", "bare", "go", "go-across-blocks", "elf", "empty"],
)
def test_by_contents(tmp_path: Path, contents: bytes, runtime: str) -> None:
    program = tmp_path / "agent"
    program.write_bytes(contents)
    program.chmod(0o755)
    assert recognise(["agent"], {"PATH": str(tmp_path)}) == runtime


def test_every_runtime_has_a_sentence_of_one_line() -> None:
    for runtime, text in NEEDS.items():
        assert needs(runtime) == text
        assert "\n" not in text
        assert not text.endswith(".")


def elf(*kinds: int) -> bytes:
    """The head of a 64-bit little-endian program with program headers of these kinds, each of 56 bytes."""
    head = bytearray(b"\x7fELF\x02\x01\x01".ljust(64, b"\0"))
    head[0x20:0x28] = (64).to_bytes(8, "little")
    head[0x36:0x38], head[0x38:0x3A] = (56).to_bytes(2, "little"), len(kinds).to_bytes(2, "little")
    return bytes(head) + b"".join(kind.to_bytes(4, "little").ljust(56, b"\0") for kind in kinds)


@pytest.mark.parametrize(
    ("contents", "static"),
    [
        (elf(6, 3, 1, 2), False),
        (elf(1, 2), True),
        (elf(1)[:40], False),
        (elf(1)[:0x36] + bytes(10), False),
        (b"#!/bin/sh\n", False),
        (b"", False),
    ],
)
def test_a_static_program_names_no_loader(tmp_path: Path, contents: bytes, static: bool) -> None:
    (tmp_path / "agent").write_bytes(contents)
    assert is_static(tmp_path / "agent") is static


def test_what_is_started_is_found_and_a_dynamic_program_is_not_static() -> None:
    assert program_of(["env", "A=1", "sh", "-c", "x"], {"PATH": "/bin"}) == Path("/bin/sh")
    assert program_of(["no-such-program"], {"PATH": "/bin"}) is None
    assert not is_static(Path("/bin/sh"))
    assert not is_static(Path("/no/such/program"))


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_what_to_do_names_a_namespace_where_there_is_one(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    told = uncaptured(["ruby", "agent.rb"])
    assert needs("ruby") in told
    assert (NETNS in told) == (system == "linux")


@pytest.mark.parametrize(("bases", "inside"), [(False, True), (True, False)])
def test_by_another_way_of_capture_the_variables_are_no_reason(bases: bool, inside: bool) -> None:
    told = uncaptured(["python", "agent.py"], bases=bases, inside=inside)
    assert "trust_env" not in told
    assert NETNS not in told
    assert ("--capture-port" in told) == inside
    assert "trust_env" in uncaptured(["python", "agent.py"])
