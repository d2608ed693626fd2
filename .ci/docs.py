"""Builds the documentation site; anything that Sphinx warns of fails the build.

    .ci/docs.py [--install] [OUTPUT]

`--install` first installs the tools of the extra `docs` into the interpreter that runs this, without building
faultwire. Without OUTPUT the site goes to a temporary folder and is thrown away.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from installer import installer

ROOT = Path(__file__).parents[1]


def tools() -> list[str]:
    """The requirements of the extra."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return list(settings["project"]["optional-dependencies"]["docs"])


def build(output: Path) -> int:
    """The exit code of Sphinx."""
    options = ("--fail-on-warning", "--keep-going", "--quiet", "--builder", "html")
    command = [sys.executable, "-m", "sphinx", *options, ROOT / "docs", output]
    return subprocess.run(command, check=False).returncode


def main() -> None:
    arguments = sys.argv[1:]
    if "--install" in arguments:
        arguments.remove("--install")
        subprocess.run([*installer(), *tools()], check=True)
    if arguments:
        sys.exit(build(Path(arguments[0])))
    with tempfile.TemporaryDirectory(prefix="fwdocs") as folder:
        sys.exit(build(Path(folder)))


if __name__ == "__main__":
    main()
