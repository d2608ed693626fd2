from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from faultwire.cli import env as env_command, main
from faultwire.cli.env import ENDPOINT, exports, here

AT = {
    "proxy_url": "http://127.0.0.1:9001",
    "bundle": "/t/b.pem",
    "ca_cert": "/t/ca.pem",
    "truststore": "/t/s.jks",
}


def test_a_shell_parses_the_exports_exactly() -> None:
    tricky = 'it\'s $HOME `id` \\ "x" ünï'
    lines = exports({"A": tricky, "B": "plain", "GONE": None})
    script = f'GONE=1\n{lines}\nprintf \'%s|%s|%s\' "$A" "$B" "${{GONE-unset}}"'
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == f"{tricky}|plain|unset"


def test_what_this_shell_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", "/t/b.pem")
    changed = here(AT)
    assert changed["https_proxy"] == "http://127.0.0.1:9001"
    assert changed["NO_PROXY"] is None
    assert "SSL_CERT_FILE" not in changed
    assert "-Dhttps.proxyPort=9001" in (changed["JAVA_TOOL_OPTIONS"] or "")


def test_a_proxy_that_lets_nothing_out_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "mine")
    assert here({**AT, "keyless": True})["OPENAI_API_KEY"]
    assert "ANTHROPIC_API_KEY" not in here({**AT, "keyless": True})
    assert "OPENAI_API_KEY" not in here(AT)


def folder(root: Path, name: str, about: object) -> None:
    path = root / ".faultwire" / "runs" / name
    path.mkdir(parents=True)
    (path / "run.json").write_text(json.dumps(about))


def test_the_newest_running_proxy_that_answers_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(env_command, "_answers", lambda url: not url.endswith(":1"))
    folder(tmp_path, "1", {"status": "running", ENDPOINT: {**AT, "proxy_url": "http://127.0.0.1:2"}})
    folder(tmp_path, "2", {"status": "running", ENDPOINT: {**AT, "proxy_url": "http://127.0.0.1:3"}})
    folder(tmp_path, "3", {"status": "running", ENDPOINT: {**AT, "proxy_url": "http://127.0.0.1:1"}})
    folder(tmp_path, "4", {"status": "finished", ENDPOINT: AT})
    folder(tmp_path, "5", {"status": "running"})
    folder(tmp_path, "6", ["not an object"])
    assert (
        json.loads(CliRunner().invoke(main, ["env", "--format", "json"]).stdout)["HTTP_PROXY"]
        == "http://127.0.0.1:3"
    )
    assert "export HTTP_PROXY=http://127.0.0.1:2\n" in CliRunner().invoke(main, ["env", "--run", "1"]).stdout


def test_a_missing_proxy_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["--run", "x"]):
        done = CliRunner().invoke(main, ["env", *arguments])
        assert done.exit_code == 2
        assert done.stderr.startswith("proxy.not_running: found no ")
