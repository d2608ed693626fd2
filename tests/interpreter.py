"""An interpreter of its own that finds what this one finds, and what is installed in some folders besides.

Processes of ours read no `PYTHONPATH`; what they are to find has to be installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path


def make(home: Path, sites: Iterable[Path] = ()) -> Path:
    """Its path; `sites` are searched before what this interpreter finds. Made anew where it is there."""
    program = home / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = home / "lib" / version / "site-packages"
    library.mkdir(parents=True, exist_ok=True)
    program.parent.mkdir(exist_ok=True)
    base = Path(sys._base_executable)
    (home / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    if not program.exists():
        program.symlink_to(base)
    folders = [*map(str, sites), *(part for part in map(os.path.abspath, filter(None, sys.path)))]
    lines = [f"import site; site.addsitedir({folder!r})" for folder in folders if os.path.isdir(folder)]
    (library / "found.pth").write_text("\n".join(lines) + "\n")
    return program
