"""Agents that are held at breakpoints while they run under `faultwire exec`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.e2e.exec.conftest import faultwire as faultwire, here as here, interpreter as interpreter

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))  # environments is there
