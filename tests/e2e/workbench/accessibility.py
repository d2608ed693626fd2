"""axe-core, installed by its lock into a folder outside of the repository; it is not shipped."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent / "axe"
CACHE = Path(os.environ.get("FAULTWIRE_TEST_CACHE", Path.home() / ".cache" / "faultwire-tests"))
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def source() -> str:
    """The script that is run in a page."""
    lock = HERE / "package-lock.json"
    place = CACHE / f"axe-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    if not place.exists():
        part = place.with_name(f"{place.name}.part{os.getpid()}")
        part.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, part)
        command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=part, check=True, capture_output=True, timeout=300)
        try:
            part.rename(place)
        except OSError:  # another run was first
            shutil.rmtree(part)
    return (place / "node_modules" / "axe-core" / "axe.min.js").read_text()


def findings(page) -> list[str]:
    """What axe finds wrong with the page as it is now."""
    page.evaluate(source())
    found = page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}}).then(done => done.violations)",
        RULES,
    )
    return [
        f"{one['impact']} {one['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for one in found
        for node in one["nodes"]
    ]
