"""`python -m faultwire.faults` prints docs/reference/faults.md."""

from __future__ import annotations

import sys

from faultwire.faults._markdown import markdown

sys.stdout.write(markdown())
