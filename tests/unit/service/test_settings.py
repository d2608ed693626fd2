"""The settings' file: what it may say, and that a mistake is named without its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.service.settings import Settings, load

WHOLE = """
projects:
  shop:
    baseline: {command: ci, score: 0.9}
    alerts:
      - {url: https://hooks.example/T0/secret, format: slack}
oidc:
  issuer: https://login.example
  client_id: faultwire
  roles:
    - {claim: groups, value: qa, project: shop, role: viewer}
"""


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "service.yaml"
    path.write_text(WHOLE)
    found = load(path)
    assert found.projects["shop"].alerts[0].format == "slack"
    assert found.oidc is not None
    assert found.oidc.roles[0].role == "viewer"
    path.write_text("")
    assert load(path) == load(None) == Settings()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("projects: {shop: {baselines: {}}}", "projects.shop.baselines"),
        ("projects: {shop: {alerts: [{url: 'http://hooks.example/s3cret'}]}}", "projects.shop.alerts.0.url"),
        ("projects: {shop: {baseline: {score: 90}}}", "projects.shop.baseline.score"),
        ("oidc: {issuer: https://x.example, client_id: c, roles: [{claim: g}]}", "oidc.roles.0.value"),
        ("[1, 2]", "valid dictionary"),
        ("a: [", "expected"),
        ("a: " + "[" * 5000, ""),
    ],
)
def test_what_is_wrong_is_named_and_its_value_is_not_shown(tmp_path: Path, text: str, names: str) -> None:
    path = tmp_path / "service.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        load(path)
    assert names in raised.value.message
    assert "s3cret" not in raised.value.message


def test_an_address_on_this_machine_may_be_plain(tmp_path: Path) -> None:
    path = tmp_path / "service.yaml"
    path.write_text("projects: {shop: {alerts: [{url: 'http://127.0.0.1:9/x'}]}}")
    assert load(path).projects["shop"].alerts[0].url == "http://127.0.0.1:9/x"
