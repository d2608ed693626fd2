from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from faultwire.cli import options
from faultwire.cli.options import Traffic, traffic_options
from faultwire.errors import ProfileError

seen: list[Traffic] = []


@click.command(context_settings={"auto_envvar_prefix": "FAULTWIRE_EXEC"})
@traffic_options
def command(**given: object) -> None:
    seen.append(Traffic(**given))  # type: ignore[arg-type]


def parsed(*arguments: str, env: dict[str, str] | None = None) -> Traffic:
    seen.clear()
    done = CliRunner().invoke(command, arguments, env=env)
    assert done.exit_code == 0, done.output
    return seen[0]


def test_the_defaults_are_repeatable_and_harmless() -> None:
    traffic = parsed()
    assert traffic == Traffic(
        profile=(),
        fault=(),
        seed=options.DEFAULT_SEED,
        record=None,
        mock=False,
        script=None,
        listen="127.0.0.1:0",
        capture="env",
        reverse=(),
        allow_host=(),
        upstream_ca=None,
    )
    assert traffic.load().entries == ()


def test_profiles_and_inline_faults_become_one_profile_in_order() -> None:
    profile = parsed(
        "--profile", "rate_limits", "--fault", "latency: {ms: 5}", "--fault", "slow_tokens: {ms: 5}"
    ).load()
    names = [entry.fault.name for entry in profile.entries]
    assert names[-2:] == ["latency", "slow_tokens"]
    assert len(names) > 2


def test_each_line_of_the_variable_is_a_fault() -> None:
    traffic = parsed(env={"FAULTWIRE_EXEC_FAULT": "status: {code: 503}\nlatency: {ms: 5}"})
    assert traffic.fault == ("status: {code: 503}", "latency: {ms: 5}")


def test_a_flag_wins_over_its_variable() -> None:
    environment = {"FAULTWIRE_EXEC_SEED": "7", "FAULTWIRE_EXEC_ALLOW_HOST": "localhost 10.0.0.1"}
    assert parsed(env=environment).seed == 7
    assert parsed(env=environment).allow_host == ("localhost", "10.0.0.1")
    assert parsed("--seed", "8", env=environment).seed == 8


@pytest.mark.parametrize("arguments", [("--profile", "nope"), ("--fault", "nope: {}"), ("--fault", "[")])
def test_an_invalid_profile_is_reported_before_anything_starts(arguments: tuple[str, str]) -> None:
    with pytest.raises(ProfileError):
        parsed(*arguments).load()


def test_launch_carries_everything_and_a_script_means_the_mock() -> None:
    traffic = parsed("--script", "s.yaml", "--listen", "127.0.0.1:9", "--allow-host", "h", "--record", "t")
    profile = traffic.load()
    settings = traffic.launch("exec", profile=profile, note="x")
    assert (settings.command, settings.mock, settings.script) == ("exec", True, Path("s.yaml"))
    assert (settings.listen, settings.allow_hosts, settings.tape) == ("127.0.0.1:9", ("h",), Path("t"))
    assert settings.about["seed"] == options.DEFAULT_SEED
    assert settings.about["note"] == "x"


def test_routes_are_pairs_and_base_urls_a_way_of_capture() -> None:
    traffic = parsed("--capture", "base-url", "--reverse", "Search=https://api.x.test/v1?a=b")
    assert traffic.reverse == (("search", "https://api.x.test/v1?a=b"),)
    settings = traffic.launch("exec", profile=traffic.load())
    assert (settings.reverse, settings.base_urls) == ({"search": "https://api.x.test/v1?a=b"}, True)


@pytest.mark.parametrize(
    "given",
    ["search", "=https://x.test", "-a=https://x.test", "a/b=https://x.test", "a=x.test", "a=file:///etc",
     "a=https://", "a=https://x.test:port", "ä=https://x.test", "a" * 65 + "=https://x.test"],
)  # fmt: skip
def test_an_invalid_route_is_refused(given: str) -> None:
    done = CliRunner().invoke(command, ["--reverse", given])
    assert done.exit_code == 2
    assert "found `" in done.output


def test_hosts_that_are_not_mocked_are_names() -> None:
    traffic = parsed("--mock", "--mock-except", "a.example", "--mock-except", "*.b.example")
    assert traffic.launch("exec", profile=traffic.load()).mock_except == ("a.example", "*.b.example")
    for given in ("https://a.example", "a.example:443", "u@a", ""):
        done = CliRunner().invoke(command, ["--mock", "--mock-except", given])
        assert done.exit_code == 2
        assert f"found `{given}`, expected a host name" in done.output
