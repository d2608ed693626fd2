"""Requests whose signature covers their bytes (AWS Signature Version 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import header

if TYPE_CHECKING:
    from faultwire.events import Request

WHY = "the request is signed, and a changed one would be refused"


def is_signed(request: Request) -> bool:
    """Does a signature cover this request's body?"""
    return (header(request.headers, "authorization") or "").startswith("AWS4-")


def signs_header(request: Request, name: str) -> bool:
    """Does a signature cover this header field?"""
    value = header(request.headers, "authorization") or ""
    if not value.startswith("AWS4-"):
        return False
    listed = value.partition("SignedHeaders=")[2].partition(",")[0]
    return name.lower() in listed.strip().lower().split(";")
