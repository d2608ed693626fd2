from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.config.contract_file import load_contract
from faultwire.errors import ConfigError


def load(tmp_path: Path, text: str) -> tuple[str, list[str]]:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    name, checks = load_contract(path)
    return name, [check.label for check in checks]


def test_a_contract_by_itself_or_in_a_configuration(tmp_path: Path) -> None:
    assert load(tmp_path, "invariants: [completes, {id: a, type: latency, max_ms: 5}]") == (
        "rules",
        ["completes", "a"],
    )
    assert load(tmp_path, "name: x\ndescription: d\ninvariants: [completes]\nchaos_matrix: []") == (
        "x",
        ["completes"],
    )
    whole = "version: '2.0'\nagent: {}\ncontract: {name: y, invariants: [completes], chaos_matrix: []}"
    assert load(tmp_path, whole) == ("y", ["completes"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("invariants: []", "found no invariant in the contract, expected at least one"),
        ("contract: {name: x}", "found no invariant in the contract, expected at least one"),
        ("invariants: [compleetes]", "found check `compleetes`, expected a known one"),
        ("invariant: [completes]", "found key `invariant`, expected a key of a contract"),
        ("[1]", "found a list for a contract, expected a mapping"),
    ],
)
def test_an_invalid_contract_is_reported_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert caught.value.message == message
    assert caught.value.where is not None
    assert caught.value.where.line == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="found no readable file"):
        load_contract(tmp_path / "x.yaml")
