"""What is refused before a token leaves this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.store.service_client import ServiceClient


@pytest.mark.parametrize(
    ("url", "mode", "text", "code"),
    [
        ("http://team.example", 0o600, "p.i.s", "usage.store"),
        ("https://team.example", 0o644, "p.i.s", "usage.token"),
        ("https://team.example", 0o600, "", "usage.token"),
        ("https://team.example", 0o600, "p.i.\u00e9", "usage.token"),
        ("https://team.example", 0o600, "a\nb", "usage.token"),
        ("https://team.example", 0o600, None, "usage.store"),
    ],
)
def test_a_token_that_others_can_read_is_not_used(
    tmp_path: Path, url: str, mode: int, text: str | None, code: str
) -> None:
    path = tmp_path / "token"
    path.write_text(text or "")
    path.chmod(mode)
    with pytest.raises(UsageError) as raised:
        ServiceClient.open(url, "shop", None if text is None else path)
    assert raised.value.code == code


@pytest.mark.parametrize("url", ["https://[::1", "https://", "https://x:99999", "https://x:0"])
def test_what_is_no_address_is_named(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="found no address"):
        ServiceClient.open(url, "shop", None)
