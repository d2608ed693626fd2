"""`python -m faultwire.wire docs/reference/protocols.md` writes the tables of that page anew."""

from __future__ import annotations

import sys
from pathlib import Path

from faultwire.wire.documentation import filled
from faultwire.wire.registry import BUILTIN

if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(filled(page.read_text(), [source() for source in BUILTIN]))
