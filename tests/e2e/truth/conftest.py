from __future__ import annotations

import sys
from pathlib import Path

# The environments of the real SDKs, and the harness around `exec`, belong to the tests of agents.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "agents")]
