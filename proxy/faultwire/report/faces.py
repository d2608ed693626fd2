"""The output formats of a report: names, files, and the target of `-o`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from faultwire.errors import UsageError
from faultwire.output_file import check

Face = Literal["html", "json", "junit", "md"]
NAMES: dict[Face, str] = {
    "html": "report.html",
    "json": "report.json",
    "junit": "junit.xml",
    "md": "report.md",
}
"""What each is called in a folder."""
ENDINGS: dict[str, Face] = {".html": "html", ".htm": "html", ".json": "json", ".xml": "junit", ".md": "md"}


def render(document: dict[str, Any], face: Face) -> str:
    """The report's text in one format."""
    from faultwire.report import html, json, junit, markdown

    made = {"html": html.render, "json": json.render, "junit": junit.render, "md": markdown.render}
    return made[face](document)


def target(output: Path, face: str | None = None, *, anywhere: bool = False) -> tuple[Path, Face]:
    """Where a report goes, and as what: `output` is a file whose ending says it, or a folder.

    A folder is one that exists, or any name without an ending; its file is named after `face` (html without
    one). Missing folders are made and the file is tried, so that the run need not be thrown away. Raises
    UsageError for an ending that says nothing or something else than `face`, and for what cannot be written:
    outside the working directory only with `anywhere`.
    """
    if face is not None and face not in NAMES:
        raise UsageError(f"found the format `{face}`, expected one of {_listed()}", code="usage.output")
    chosen: Face | None = next((known for known in get_args(Face) if known == face), None)
    if output.is_dir() or not output.suffix:
        chosen = chosen or "html"
        return _tried(output / NAMES[chosen], anywhere=anywhere), chosen
    meant = ENDINGS.get(output.suffix.lower())
    if meant is None or (chosen is not None and meant != chosen):
        expected = f"for the format `{chosen}`" if chosen else f"one of {', '.join(ENDINGS)}"
        raise UsageError(
            f"found the ending `{output.suffix}` of `{output}`, expected {expected}", code="usage.output"
        )
    return _tried(output, anywhere=anywhere), meant


def _tried(file: Path, *, anywhere: bool) -> Path:
    """Check that the file can be written, without changing its content."""
    try:
        return check(file, anywhere=anywhere, parents=True)
    except OSError as error:
        raise UsageError(f"cannot write `{file}`: {error.strerror}", code="usage.output") from error


def _listed() -> str:
    return ", ".join(f"`{name}`" for name in NAMES)
