"""Results of `faultwire blame` that go to the store with a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LARGEST = 8 << 20
"""Bytes of a `blame.json`, as the service takes them."""


def blames_of(run: Path, named: Sequence[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The results of blame that `ci --explain` left in a run's folder, and those that are named. Raises
    UsageError for what is none, or one of another run."""
    from faultwire.service.blame import checked

    for path in (*sorted(run.glob("blame-*.json")), *named):
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
            found = json.loads(data) if len(data) <= LARGEST else None
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"cannot read `{path}`: {error}", code="usage.blame") from error
        if not isinstance(found, dict):
            raise UsageError(f"found no result of `faultwire blame` in `{path}`", code="usage.blame")
        yield path, checked(found, run.name)
