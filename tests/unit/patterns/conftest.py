"""The generators beside this file are plain modules; tests import them by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
