"""What an API server refuses is repeated in its own words. Calls: tests/e2e/play/test_kube_api.py."""

from __future__ import annotations

import httpx
import pytest

from faultwire.campaign.kube_api import GROUPS, PATHS, words


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"message": "jobs is forbidden"}', "jobs is forbidden (HTTP 403)"),
        (b'{"message": "a\\u001b[31m"}', "a\\x1b[31m (HTTP 403)"),
        (b"<html>", "no reason given (HTTP 403)"),
        (b"[]", "no reason given (HTTP 403)"),
    ],
)
def test_a_refusal_is_a_line_of_the_servers_words(body: bytes, found: str) -> None:
    assert words(httpx.Response(403, content=body)) == found


def test_jobs_are_of_their_group_and_all_else_is_of_none() -> None:
    grouped = {name: path.split("/")[1] for name, path in PATHS.items() if path.startswith("apis/")}
    assert grouped == GROUPS == {"jobs": "batch"}
