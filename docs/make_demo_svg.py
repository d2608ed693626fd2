"""Make `docs/demo.svg`, the README's picture of a terminal, from a real run of `faultwire demo`.

    python docs/make_demo_svg.py [--agent-python PYTHON] [--seed N]

Nothing in the picture is typed in: the command runs on a pseudo-terminal, and what it prints there is
drawn as it stands, colours included. The folder of the run is a temporary one.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS, LINES = 88, 60
TARGET = Path(__file__).with_name("demo.svg")


def on_terminal(command: list[str], folder: str) -> tuple[str, str]:
    """What a command prints on a terminal of ours, and on stderr."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 65536):
            printed += piece
    except OSError:
        pass  # Linux reports the other end's close this way
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(said.decode())
    return printed.decode().replace("\r\n", "\n"), said.decode()


def _self_contained(picture: str) -> str:
    """Without the fonts that rich would load from elsewhere; the reader's own monospace font does."""
    head, mark, rest = picture.partition("@font-face")
    if not mark:
        return picture
    return head + ".faultwire-matrix" + rest.partition(".faultwire-matrix")[2]


def main(arguments: list[str]) -> None:
    """Run the demo in an empty folder and draw what it prints."""
    command = [sys.executable, "-m", "faultwire", "demo", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        printed, said = on_terminal(command, folder)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True, highlight=False)
        console.print(Text.assemble(("$ ", "bold green"), ("faultwire demo", "bold")))
        console.print(Text(said.rstrip(), style="dim"))
        console.print(Text.from_ansi(printed.rstrip()))
        picture = console.export_svg(title="faultwire demo", unique_id="faultwire")
    TARGET.write_text(_self_contained(picture), encoding="utf-8")
    print(TARGET)


if __name__ == "__main__":
    main(sys.argv[1:])
