"""Which runtime is a command, and what does it need when none of its traffic arrived?

A guess from names and first bytes only; nothing is executed.
"""

from __future__ import annotations

import os
import re  # noqa: TID251 - the patterns below are fixed
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Runtime = Literal[
    "python", "node", "java", "go", "curl", "deno", "bun", "ruby", "php", "perl", "dotnet", "shell", "unknown"
]

_NAMES: dict[str, Runtime] = {
    "python": "python", "pypy": "python", "uv": "python", "uvx": "python", "poetry": "python",
    "pipenv": "python", "pdm": "python", "hatch": "python", "rye": "python", "pytest": "python",
    "node": "node", "nodejs": "node", "npm": "node", "npx": "node", "yarn": "node", "pnpm": "node",
    "tsx": "node", "ts-node": "node",
    "java": "java", "gradle": "java", "gradlew": "java", "mvn": "java", "mvnw": "java", "kotlin": "java",
    "go": "go", "curl": "curl", "wget": "curl", "git": "curl",
    "deno": "deno", "bun": "bun", "bunx": "bun",
    "ruby": "ruby", "bundle": "ruby", "php": "php", "perl": "perl", "dotnet": "dotnet",
    "sh": "shell", "bash": "shell", "zsh": "shell", "dash": "shell", "fish": "shell", "make": "shell",
}  # fmt: skip
_WRAPPERS = frozenset({"env", "nice", "nohup", "time", "timeout", "stdbuf", "xargs", "sudo"})
_VERSIONED = re.compile(r"^(python|pypy|node|ruby|php|perl)[0-9.]*(\.exe)?$")
_HEAD = 1 << 20
_GO_MARK = b"\xff Go buildinf:"
"""Every Go binary since 1.18 carries this mark (`debug/buildinfo`), near the start of its data."""
_ELF_HEAD, _ELF_ENTRY, _INTERP = 64, 56, 3
_ELF_TABLE = ((0x20, 0x28), (0x36, 0x38), (0x38, 0x3A))
"""Where a 64-bit ELF head (gABI, chapter 4) names its program headers: their offset, size, and number."""
_ELF, _ROOT = b"\x7fELF", b"ISRG Root X1"
"""A root that every list has (Let's Encrypt's)."""

NEEDS: dict[Runtime, str] = {
    "python": "an `aiohttp` session needs `trust_env=True`; an `httpx` client with its own `transport` or "
    "`trust_env=False` ignores the variables",
    "node": "a client with its own `dispatcher`, or one that opens sockets itself (`ws`), ignores the "
    "variables; Node before 18 is not covered",
    "java": "a program that sets its own `ProxySelector` or trust store ignores `JAVA_TOOL_OPTIONS`",
    "go": "Go never sends calls to `localhost`, `127.0.0.0/8` and `::1` to a proxy: give the server another "
    "name in the hosts file; a `Transport` without `Proxy: http.ProxyFromEnvironment` ignores the variables",
    "curl": "`--noproxy` and a `~/.curlrc` overrule the variables",
    "deno": "`deno` needs `--allow-net` for the proxy's address as well",
    "bun": "a `fetch` with its own `proxy` option ignores the variables",
    "ruby": "`Net::HTTP.new` with an explicit `nil` proxy ignores the variables, and some gems (`http`) "
    "never read them",
    "php": "the curl extension, and what is made with it (Guzzle), reads the variables; streams "
    "(`file_get_contents`, `fopen`) need a `proxy` context option",
    "perl": "`HTTP::Tiny` reads the variables, LWP and Mojolicious by `PERL_LWP_ENV_PROXY` and `MOJO_PROXY`, "
    "which are set; a `no_proxy`, `env_proxy => 0`, or sockets of its own ignore them",
    "dotnet": "an `HttpClientHandler` with `UseProxy = false` ignores the variables",
    "shell": "a command in the script may clear its environment (`env -i`, `sudo` without `-E`)",
    "unknown": "the program must honour `HTTPS_PROXY` and trust the file in `SSL_CERT_FILE`",
}


NEEDS_BASE_URL = (
    "the program must take its provider's address from the environment (`OPENAI_BASE_URL`, "
    "`ANTHROPIC_BASE_URL`, …); one that names it in its code needs `--capture env`"
)
"""The same for a program that was given base URLs."""
NEEDS_INSIDE = (
    "in a namespace whatever goes to ports 80 and 443 is captured, by any client: the program called nobody, "
    "or another port (`--capture-port PORT`)"
)
"""The same for a program in a namespace."""
NETNS = "`--capture netns` captures clients that ignore the variables"
"""Where it can be had: on Linux."""


def recognise(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Runtime:
    """The runtime of a command: by its program's name, its `#!` line, or the mark of a Go binary."""
    words = _unwrapped(command)
    if not words:
        return "unknown"
    named = _by_name(words[0])
    if named is not None:
        return named
    path = shutil.which(words[0], path=(environment if environment is not None else os.environ).get("PATH"))
    return _by_contents(Path(path)) if path else "unknown"


def needs(runtime: Runtime) -> str:
    """What usually keeps this runtime's traffic from the proxy, in one sentence."""
    return NEEDS[runtime]


def uncaptured(command: Sequence[str], *, bases: bool = False, inside: bool = False) -> str:
    """What to do where none of its traffic arrived, by the way in which it was to be captured."""
    if inside:
        return NEEDS_INSIDE
    if bases:
        return NEEDS_BASE_URL
    runtime = recognise(command)
    return f"{needs(runtime)}; {NETNS}" if sys.platform == "linux" else needs(runtime)


def has_compiled_roots(program: Path) -> bool:
    """Does a native program hold a root certificate's name? As `webpki-roots` does, in DER (Node has PEM)."""
    try:
        with program.open("rb") as file:
            block = file.read(_HEAD)
            if not block.startswith(_ELF):
                return False
            while block:
                if _ROOT in block:
                    return True
                more = file.read(_HEAD)
                block = block[-len(_ROOT) :] + more if more else b""
    except OSError:
        return False
    return False


def program_of(command: Sequence[str], environment: Mapping[str, str]) -> Path | None:
    """The file that a command starts, without `env`, `nice` and the like; None where there is none."""
    words = _unwrapped(command)
    path = shutil.which(words[0], path=environment.get("PATH")) if words else None
    return Path(path) if path else None


def is_static(program: Path) -> bool:
    """Is it a 64-bit ELF program that names no loader (`PT_INTERP`)? No library is loaded into such a one."""
    try:
        with program.open("rb") as file:
            head = file.read(_ELF_HEAD)
            if not head.startswith(_ELF) or head[4:6] != b"\x02\x01" or len(head) < _ELF_HEAD:
                return False
            table, size, count = (int.from_bytes(head[a:b], "little") for a, b in _ELF_TABLE)
            if size != _ELF_ENTRY:
                return False
            file.seek(table)
            entries = file.read(size * count)
    except OSError:
        return False
    return all(
        int.from_bytes(entries[at : at + 4], "little") != _INTERP for at in range(0, len(entries), size)
    )


def _unwrapped(command: Sequence[str]) -> list[str]:
    """The words from the real program on: `env A=1 nice -n 5 python x` is `python x`."""
    words = list(command)
    while words and Path(words[0]).name in _WRAPPERS:
        words.pop(0)
        while words and (words[0].startswith("-") or "=" in words[0] or words[0].rstrip("smhd").isdigit()):
            words.pop(0)
    return words


def _by_name(program: str) -> Runtime | None:
    name = Path(program).name.lower()
    versioned = _VERSIONED.match(name)
    return _NAMES.get(versioned[1] if versioned else name.removesuffix(".exe"))


def _by_contents(path: Path) -> Runtime:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            if head.startswith(b"#!"):
                line = head.split(b"\n", 1)[0][2:].decode("utf-8", "replace").split()
                words = _unwrapped(line)
                return (_by_name(words[0]) if words else None) or "unknown"
            while head:
                if _GO_MARK in head:
                    return "go"
                tail = head[-len(_GO_MARK) :]
                block = file.read(_HEAD)
                head = tail + block if block else b""
    except OSError:
        return "unknown"
    return "unknown"
