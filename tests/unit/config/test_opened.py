"""`faultwire.config.opened`: what every file that people wrote goes through."""

from __future__ import annotations

import pytest

from faultwire.config.opened import everywhere, opened, taken
from faultwire.errors import ConfigError
from faultwire.profile.yaml import Node


def test_variables_are_filled_in_and_a_missing_one_is_held(tmp_path):
    path = tmp_path / "f"
    root, reading = opened(b"a: '${A} ${B}'", path, environ={"A": "1"})
    assert len(reading) == 1
    assert root.at(("a",)).value == "1 ${B}"
    with pytest.raises(ConfigError, match="found no variable `B`"):
        reading.settle()


def test_an_unneeded_model_is_none(tmp_path):
    root, reading = opened(
        b"a: '${A}'\nb: {c: '${B}'}",
        tmp_path / "f",
        environ={"B": "2"},
        needed=lambda _, place: place != ("a",),
    )
    assert root.plain() == {"a": None, "b": {"c": "2"}}
    assert not len(reading)
    assert everywhere(Node(None, 1, 1), ())


def test_the_environment_of_the_process_is_the_usual_one(tmp_path, monkeypatch):
    monkeypatch.setenv("FROM_HERE", "yes")
    assert opened(b"'${FROM_HERE}'", tmp_path / "f")[0].value == "yes"


def test_a_missing_file_states_what_was_expected(tmp_path):
    with pytest.raises(ConfigError, match="expected a contract") as caught:
        taken(tmp_path / "f", "a contract")
    assert caught.value.hint is None
