from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if str(Path(__file__).parent) not in sys.path:
    sys.path.append(str(Path(__file__).parent))

from disk import Disk


@pytest.fixture(scope="module")
def disk() -> Iterator[Disk]:
    """A writer's process whose disk does as it is told."""
    with Disk() as made:
        yield made
