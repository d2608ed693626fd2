"""The layers contract holds, and can fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lint(config: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--config", str(config), "--no-cache"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_layers_hold() -> None:
    done = lint(ROOT / "pyproject.toml")
    assert done.returncode == 0, done.stdout


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    turned = tmp_path / "pyproject.toml"
    turned.write_text(text.replace('  "exchange",\n  "profile",\n', '  "profile",\n  "exchange",\n'))
    assert turned.read_text() != text
    assert lint(turned).returncode != 0


def test_a_stage_that_knows_the_pipeline_is_found(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    turned = tmp_path / "pyproject.toml"
    turned.write_text(text.replace('  "pipeline",\n  "stages",\n', '  "stages",\n  "pipeline",\n'))
    assert turned.read_text() != text
    assert lint(turned).returncode != 0
