"""The builder of locked environments lives with the agents."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
sys.path.insert(0, str(Path(__file__).parent))
