"""The files of the page, the same for everybody: no build, no source map, nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "assets"
REPORT_STYLE = Path(__file__).parents[1] / "report" / "templates" / "style.css"
"""The style of reports, whose components the page shows."""
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types faultwire-view"
)
"""No inline script or style, no other host, no frame; only the one place that shows an exchange may make
markup."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every response carries."""


class Asset(NamedTuple):
    """One file of the page."""

    body: bytes
    media_type: str


def assets() -> dict[str, Asset]:
    """The files by their path on the server."""
    found = {f"/{path.name}": path for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES}
    found["/report.css"] = REPORT_STYLE
    made = {name: Asset(path.read_bytes(), TYPES[path.suffix]) for name, path in found.items()}
    made["/"] = made.pop("/index.html")
    return made
