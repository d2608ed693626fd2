"""Secrets in the queries of URLs and in forms, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.tape.redact.edit import edits_of

if TYPE_CHECKING:
    from faultwire.tape.redact.edit import Edit


def url_edits(text: str) -> list[Edit]:
    """Values of secret query parameters in a text that holds URLs."""
    return edits_of(_core.query_edits(text))


def pair_class(name: str, value: str) -> str | None:
    """The class of a pair's value if it is secret: by its name, or by what it says when decoded."""
    return _core.pair_class(name, value)


def form_edits(text: str) -> list[Edit]:
    """Values of secret fields in a form body."""
    return edits_of(_core.form_edits(text))
