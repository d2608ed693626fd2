from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.cli._config_file import section
from faultwire.errors import ConfigError


def test_a_section_is_plain_data(tmp_path: Path) -> None:
    path = tmp_path / "faultwire.yaml"
    path.write_text("version: '2.0'\nredact:\n  pii: true\n  paths: ['$.a']\n")
    assert section(path, "redact") == {"pii": True, "paths": ["$.a"]}
    assert section(path, "patterns") is None


@pytest.mark.parametrize("text", ["- a\n", "a: &b 1\nc: *b\n", "a: 1\na: 2\n", "a: [", "\x00"])
def test_a_non_configuration_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "faultwire.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        section(path, "redact")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="found no readable file"):
        section(tmp_path / "none.yaml", "redact")


def test_variables_are_filled_in_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "faultwire.yaml"
    path.write_text("redact: {headers: ['${TENANT}']}\nagent: {endpoint: '${NOPE}'}\n")
    monkeypatch.setenv("TENANT", "x-tenant")
    assert section(path, "redact") == {"headers": ["x-tenant"]}
    monkeypatch.delenv("TENANT")
    with pytest.raises(ConfigError, match="found no variable `TENANT`"):
        section(path, "redact")
