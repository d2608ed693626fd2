"""The JSON report."""

from __future__ import annotations

import json
from typing import Any


def render(document: dict[str, Any]) -> str:
    """The document as JSON text, ASCII only, so that no value steers a terminal that shows it."""
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"
