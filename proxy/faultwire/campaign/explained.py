"""What is found of a run's failures after its end, added to its files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire.campaign.files import written
from faultwire.runner.folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.campaign.ci_run import Result


def explained(result: Result, rows: Sequence[Mapping[str, Any]]) -> Result:
    """The same run with what is known of its failures: its files are written anew, each whole."""
    documents = {
        phase: {**document, "explained": [row for row in rows if row["phase"] == phase]}
        for phase, document in result.documents.items()
    }
    overall = None if result.overall is None else {**result.overall, "explained": list(rows)}
    written(RunFolder(result.folder), documents, overall)
    return replace(result, documents=documents, overall=overall)
