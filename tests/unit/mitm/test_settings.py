"""What an engine may be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from faultwire.errors import UsageError
from faultwire.mitm.network.upstream_proxy import from_environment
from faultwire.mitm.settings import EngineSettings, SessionSettings

WHERE: dict[str, Any] = {"run_dir": Path("/run/x"), "ca_dir": Path("/ca")}


def test_they_survive_the_pipe() -> None:
    told = EngineSettings(
        **WHERE,
        tape=Path("/run/x/a.tape"),
        routes={"API.openai.com": "http://127.0.0.1:9"},
        allow_hosts=("localhost",),
        implicit=SessionSettings(name="proxy", profile={"name": "calm"}, seed=7),
        upstream_proxies=from_environment({"ALL_PROXY": "http://u:secret@h:1", "NO_PROXY": "a, 10.0.0.0/8"}),
    )
    assert EngineSettings.model_validate_json(told.model_dump_json()) == told
    assert "secret" not in repr(told)
    assert told.routes == {"api.openai.com": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("listen", "address"),
    [("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:8080", ("::1", 8080)), ("localhost:1", ("localhost", 1))],
)
def test_where_to_listen(listen: str, address: tuple[str, int]) -> None:
    assert EngineSettings(**WHERE, listen=listen).address == address


@pytest.mark.parametrize("listen", ["8080", ":8080", "localhost", "localhost:", "localhost:http", "x:70000"])
def test_where_not_to_listen(listen: str) -> None:
    with pytest.raises(UsageError) as refused:
        _ = EngineSettings(**WHERE, listen=listen).address
    assert refused.value.code == "engine.listen"
    assert listen in refused.value.message


@pytest.mark.parametrize("target", ["127.0.0.1:80", "ftp://x", "http://"])
def test_routes_lead_to_base_urls(target: str) -> None:
    with pytest.raises(ValidationError):
        EngineSettings(**WHERE, routes={"x": target})


@pytest.mark.parametrize("name", ["", "a\\b", "a b", "x" * 129, "a\nb"])
def test_session_names_are_plain(name: str) -> None:
    with pytest.raises(ValidationError):
        SessionSettings(name=name, profile={}, seed=1)


def test_unknown_keys_are_refused() -> None:
    with pytest.raises(ValidationError):
        EngineSettings(**WHERE, insecure=True)


@pytest.mark.parametrize("name", ["", "-a", "a/b", "a b", "A", "a" * 65, "..", "a\n"])
def test_routes_of_base_url_mode_have_plain_names(name: str) -> None:
    with pytest.raises(ValidationError):
        EngineSettings(**WHERE, reverse={name: "https://x.test"})
    with pytest.raises(ValidationError):
        EngineSettings(**WHERE, reverse={"a": "x.test"})
    assert EngineSettings(**WHERE, reverse={"a-1.b_2": "https://x.test/v1"}).reverse


SWITCHES = [("FAULTWIRE_NATIVE", "native", True), ("FAULTWIRE_HTTP2", "http2", True)]


@pytest.mark.parametrize(("variable", "field", "default"), SWITCHES)
@pytest.mark.parametrize(("text", "on"), [(None, None), ("", None), ("off", False), ("on", True)])
def test_the_native_path_and_http_2_are_chosen_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    field: str,
    default: bool,
    text: str | None,
    on: bool | None,
) -> None:
    if text is None:
        monkeypatch.delenv(variable, raising=False)
    else:
        monkeypatch.setenv(variable, text)
    assert getattr(EngineSettings(**WHERE), field) is (default if on is None else on)


@pytest.mark.parametrize(("variable", "default"), [("FAULTWIRE_NATIVE", "on"), ("FAULTWIRE_HTTP2", "on")])
def test_a_choice_that_there_is_not_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, default: str
) -> None:
    monkeypatch.setenv(variable, "yes")
    with pytest.raises(UsageError, match=f"`{variable}` is `yes`, expected `on` or `off`") as raised:
        EngineSettings(**WHERE)
    assert raised.value.hint == f"leave it out for `{default}`"


@pytest.mark.parametrize(
    ("variable", "field", "default"),
    [
        ("FAULTWIRE_FIRST_BYTE_S", "first_byte_s", 600),
        ("FAULTWIRE_IDLE_BODY_S", "idle_body_s", 600),
        ("FAULTWIRE_IDLE_REQUEST_S", "idle_request_s", 60),
        ("FAULTWIRE_HANDSHAKE_S", "handshake_s", 30),
        ("FAULTWIRE_CONNECTIONS", "per_source", 4096),
    ],
)
def test_limits_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, variable: str, field: str, default: float
) -> None:
    assert getattr(EngineSettings(**WHERE), field) == default
    monkeypatch.setenv(variable, "7")
    assert getattr(EngineSettings(**WHERE), field) == 7
    for wrong in ("0", "-1", "soon", "nan"):
        monkeypatch.setenv(variable, wrong)
        with pytest.raises(UsageError, match=f"`{variable}` is `{wrong}`"):
            EngineSettings(**WHERE)
