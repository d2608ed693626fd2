"""A wheel called faultwire that leads to the package under test: a pipeline installs it without a network."""

from __future__ import annotations

import base64
import hashlib
import site
import sys
import zipfile
from pathlib import Path

import faultwire

VERSION = "9.9.9"
NAME = f"faultwire-{VERSION}-py3-none-any.whl"


def wheel(folder: Path) -> Path:
    """The wheel in a folder."""
    about = f"faultwire-{VERSION}.dist-info"
    places = [*site.getsitepackages(), str(Path(faultwire.__file__).parents[1])]
    places += [path for path in sys.path if path.endswith("site-packages")]
    files = {
        "faultwire-redirect.pth": "\n".join(dict.fromkeys(places)) + "\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: faultwire\nVersion: {VERSION}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\nfaultwire = faultwire.cli:main\n",
    }
    lines = []
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(text.encode())}")
    files[f"{about}/RECORD"] = "\n".join([*lines, f"{about}/RECORD,,"]) + "\n"
    path = folder / NAME
    with zipfile.ZipFile(path, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return path
