"""A pod plays its ask, answers by object storage, and hands on no key of the campaign or the storage."""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from faultwire.campaign.engine import Command
from faultwire.campaign.kube_exchange import Ask, Exchange, answer_name, ask_name, new_key, parse_answer
from faultwire.campaign.kube_worker import FAILED, main
from faultwire.store.objects import Objects

SHOW = "import json, os, sys; print(json.dumps(dict(os.environ)), sys.stdin.read()); sys.exit(3)"


def environment(folder: Path, key: bytes) -> dict[str, str]:
    return {
        "FAULTWIRE_KUBE_OBJECTS": f"file://{folder}",
        "FAULTWIRE_KUBE_PREFIX": "kube/1",
        "FAULTWIRE_KUBE_JOB": "job",
        "FAULTWIRE_KUBE_KEY": b64encode(key).decode(),
        "FAULTWIRE_KUBE_STORAGE_AWS_SECRET_ACCESS_KEY": "sk-storage",
        "JOB_COMPLETION_INDEX": "1",
    }


def test_the_command_of_the_ask_runs_without_the_keys_and_its_end_is_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = new_key()
    for name, value in {**environment(tmp_path, key), "OPENAI_API_KEY": "sk-agent"}.items():
        monkeypatch.setenv(name, value)
    exchange = Exchange(Objects(str(tmp_path)), "kube/1", key)
    ask = Ask(Command((sys.executable, "-I", "-S", "-c", SHOW), str(tmp_path)), "input")
    exchange.put(ask_name("job", 1), ask.as_bytes())
    assert main() == 0
    ended = parse_answer("b", exchange.get(answer_name("job", 1)) or b"")
    assert (ended.code, ended.lost) == (3, "")
    line, text = ended.output.decode().rsplit(" ", 1)
    seen = json.loads(line)
    assert text == "input\n"
    assert seen["OPENAI_API_KEY"] == "sk-agent"
    assert "sk-storage" not in seen.values()
    assert not [name for name in seen if name.startswith("FAULTWIRE_KUBE_")]
    assert "AWS_SECRET_ACCESS_KEY" not in os.environ


def test_a_variable_of_the_agent_that_the_storage_needs_too_stays_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = new_key()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sk-agent")
    for name, value in environment(tmp_path, key).items():
        monkeypatch.setenv(name, value)
    main()
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == "sk-agent"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, "found no ask for the index 1 of `job`"),
        ({"JOB_COMPLETION_INDEX": "one"}, "found no ask of a campaign in the environment"),
        ({"FAULTWIRE_KUBE_KEY": None}, "found no ask of a campaign in the environment: 'FAULTWIRE_KUBE_KEY'"),
        ({"FAULTWIRE_KUBE_OBJECTS": "file:///nonexistent"}, "found `file:///nonexistent` for `objects`"),
    ],
)
def test_a_pod_that_cannot_answer_leaves_the_reason_as_its_last_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str | None], why: str
) -> None:
    environ = {**environment(tmp_path, new_key()), **change}
    assert main({name: value for name, value in environ.items() if value is not None}) == FAILED
    last = capsys.readouterr().err.splitlines()[-1]
    assert why in last
    assert "sk-storage" not in last
