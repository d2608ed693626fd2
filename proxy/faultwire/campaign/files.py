"""The files of a run: every output format of every document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.report import faces, json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.runner.folder import RunFolder


def written(
    folder: RunFolder, documents: Mapping[str, dict[str, Any]], overall: dict[str, Any] | None
) -> Path:
    """Write them; the page to begin with. With one over all, `report.html` leads to the others."""
    if overall is None:
        document = next(iter(documents.values()))
        for face, name in faces.NAMES.items():
            folder.write(name, faces.render(document, face))
        return folder.path / faces.NAMES["html"]
    from faultwire.report import junit, summary

    for phase, document in documents.items():
        for face, name in faces.NAMES.items():
            folder.write(f"{phase}{Path(name).suffix}", faces.render(document, face))
    folder.write("report.json", json.render(overall))
    folder.write("report.md", summary.markdown(overall))
    folder.write("junit.xml", junit.joined(list(documents.values()), overall))
    return folder.write("report.html", summary.render(overall))
