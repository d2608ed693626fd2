"""`python -m faultwire.checks docs/reference/checks.md` writes the tables of that page anew."""

from __future__ import annotations

import sys
from pathlib import Path

from faultwire.checks._markdown import filled
from faultwire.checks._registry import BUILTIN

if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(filled(page.read_text(), BUILTIN))
