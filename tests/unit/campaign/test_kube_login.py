"""Tokens come from where the kubeconfig has them, and stand in no message. Programs: tests/e2e/play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faultwire.campaign.kube_login import VERSIONS, ExecLogin, FileLogin, NoLogin, TokenLogin
from faultwire.errors import UsageError


@pytest.mark.parametrize(
    "more", [{"apiVersion": "client.authentication.k8s.io/v1alpha1"}, {"interactiveMode": "Always"}]
)
def test_a_program_that_needs_a_person_or_another_version_is_refused(tmp_path: Path, more: Any) -> None:
    with pytest.raises(UsageError, match="expected a program that answers by itself"):
        ExecLogin({"apiVersion": VERSIONS[0], "command": "/nonexistent", **more}, tmp_path / "config", {})


def test_a_file_is_read_each_time(tmp_path: Path) -> None:
    login = FileLogin(tmp_path / "token")
    with pytest.raises(UsageError, match="cannot read the token"):
        login.token()
    for text in ("one\n", "two"):
        (tmp_path / "token").write_text(text)
        assert login.token() == text.strip()


def test_a_token_is_in_no_description() -> None:
    assert TokenLogin("sk-secret").token() == "sk-secret"
    assert "sk-secret" not in repr(TokenLogin("sk-secret"))
    assert NoLogin().token() is None
