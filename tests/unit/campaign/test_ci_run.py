"""What a configuration starts; that it really does is for the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.agents.settings import CommandSettings
from faultwire.campaign.ci_run import Part, Wanted, launch_settings
from faultwire.config.model import Config, ProxySettings
from faultwire.contract.cells import Prompt
from faultwire.profile.model import ToolSite
from faultwire.runner.phases import Phase
from faultwire.runner.run_identity import RunIdentity

PART = Part((Phase("replay", (), (), (), ()),))


def config(proxy: ProxySettings | None = None, **tools: ToolSite) -> Config:
    agent = CommandSettings(command=("a", "{prompt}"))
    given = proxy or ProxySettings()
    return Config(Path("f.yaml"), Path(), "d" * 64, agent, (Prompt("p1", "?"),), proxy=given, tools=tools)


def test_what_the_file_says_of_the_proxy_is_started(tmp_path: Path) -> None:
    said = ProxySettings(
        mock=True, allow_hosts=("10.0.0.7",), capture="base-url", reverse={"a": "http://x"}, seed=9,
        redact={"pii": True}, upstream_ca=tmp_path / "ca.pem",
        client_certs={"a.example": tmp_path / "me.pem"},
    )  # fmt: skip
    made_of = RunIdentity("d" * 64, "a" * 64, "p" * 64)
    found = launch_settings(config(said), Wanted("contract", base=tmp_path), PART, 0, made_of)
    assert (found.command, found.mock, found.base_urls, found.base) == ("contract", True, True, tmp_path)
    assert (found.allow_hosts, found.reverse, found.redact) == (
        ("10.0.0.7",),
        {"a": "http://x"},
        {"pii": True},
    )
    assert found.upstream_ca == tmp_path / "ca.pem"
    assert found.client_certs == (("a.example", tmp_path / "me.pem"),)
    assert found.about == {"seed": 9, "config": "f.yaml", **made_of.as_json()}
    assert found.tape_name is None


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://localhost:5001/search*", ("localhost:5001",)),
        (("http://localhost:5001/a", "http://10.0.0.9/b"), ("localhost:5001", "10.0.0.9")),
        ("http://user:pass@localhost:1/x", ("localhost:1",)),
        ("*/search", ()),
        ("http://*.internal/search", ()),
        ("http://localhost:50??/search", ()),
    ],
)
def test_hosts_of_declared_tools_are_allowed_where_they_are_named(
    url: str | tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    found = launch_settings(config(search=ToolSite(url=url)), Wanted("run"), PART)
    assert found.allow_hosts == allowed


def test_each_part_after_the_first_has_a_tape_of_its_own() -> None:
    names = [launch_settings(config(), Wanted("ci"), PART, number).tape_name for number in (0, 1, 2)]
    assert names == [None, "replay1.tape", "replay2.tape"]
