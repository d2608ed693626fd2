"""Packages of somebody else's, installed with pip as users install them, in folders that go on the path."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import interpreter

PACKS = Path(__file__).parent
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index")
Install = Callable[[str, Path], Path]

BAD = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "bad-pack"
version = "1.0"

[project.entry-points."{group}"]
{lines}

[tool.setuptools]
py-modules = {modules}
"""


def pip_install(source: Path, site: Path) -> None:
    """Build and install without network: what builds it is in this environment, and so is faultwire."""
    command = [*PIP, "--no-deps", "--no-build-isolation", "--target", str(site), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Puts a package of this folder, installed, where a test wants it. It is built once."""
    sites: dict[str, Path] = {}

    def install(name: str, site: Path) -> Path:
        if name not in sites:
            built = tmp_path_factory.mktemp(name)
            shutil.copytree(PACKS / name, built / "source")  # setuptools writes beside what it builds
            pip_install(built / "source", built / "site")
            sites[name] = built / "site"
        return Path(shutil.copytree(sites[name], site, dirs_exist_ok=True))

    return install


@pytest.fixture
def install_bad(tmp_path: Path) -> Callable[..., None]:
    """Installs `bad-pack`, with these entry points and modules, into a folder."""

    def install(site: Path, group: str, entry_points: dict[str, str], **modules: str) -> None:
        source = tmp_path / "bad_pack"
        source.mkdir()
        lines = "\n".join(f'{name} = "{at}"' for name, at in entry_points.items())
        text = BAD.format(group=group, lines=lines, modules=list(modules))
        (source / "pyproject.toml").write_text(text)
        for name, code in modules.items():
            (source / f"{name}.py").write_text(code)
        pip_install(source, site)

    return install


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs an interpreter that finds what is installed in a folder."""

    def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = interpreter.make(tmp_path_factory.mktemp("python"), [site])
        return subprocess.run(
            [str(program), *arguments],
            cwd=site,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run
