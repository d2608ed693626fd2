"""One set of fonts on every machine: those of a lock file, and a configuration in which Chromium finds no
others. What a text takes of a line is then the same wherever the tests run."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.e2e.workbench.accessibility import CACHE

HERE = Path(__file__).parent / "fonts"
CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{fonts}</dir>
<cachedir>{cache}</cachedir>
<alias binding="same"><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias binding="same"><family>serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias binding="same"><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias binding="same"><family>ui-monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<alias binding="same"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<match target="font">
<edit name="antialias" mode="assign"><bool>true</bool></edit>
<edit name="hinting" mode="assign"><bool>false</bool></edit>
<edit name="rgba" mode="assign"><const>none</const></edit>
</match>
</fontconfig>
"""


def environment() -> dict[str, str]:
    """The variables with which Chromium finds these fonts alone."""
    lock = HERE / "package-lock.json"
    made_of = lock.read_bytes() + CONFIGURATION.encode()
    place = CACHE / f"fonts-{hashlib.sha256(made_of).hexdigest()[:12]}"
    if not place.exists():
        part = place.with_name(f"{place.name}.part{os.getpid()}")
        part.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, part)
        command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=part, check=True, capture_output=True, timeout=300)
        (part / "fonts").mkdir()
        for font in (part / "node_modules" / "dejavu-fonts-ttf" / "ttf").glob("DejaVuSans[-M.]*"):
            shutil.copy(font, part / "fonts")  # without those with serifs, which `system-ui` may end at
        (part / "fonts.conf").write_text(CONFIGURATION.format(fonts=place / "fonts", cache=place / "cache"))
        try:
            part.rename(place)
        except OSError:  # another run was first
            shutil.rmtree(part)
    return {**os.environ, "FONTCONFIG_FILE": str(place / "fonts.conf")}
