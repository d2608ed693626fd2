"""`--capture tun|wireguard`: options that do not fit are refused with what was expected."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from faultwire.cli import main
from faultwire.cli._packets import packets
from faultwire.errors import UsageError


def test_without_either_there_is_none() -> None:
    assert packets("env", "exec", None, None) is None
    assert packets("netns", "exec", None, None, ("a.example:5",)) is None


def test_defaults() -> None:
    tunnel = packets("wireguard", "exec", None, None, ("a.example:5",))
    assert tunnel is not None
    assert (tunnel.listen, tunnel.relays) == (("0.0.0.0", 51820), ("a.example:5",))
    interface = packets("tun", "exec", None, None)
    assert interface is not None
    assert interface.device == "faultwire0"


@pytest.mark.parametrize(
    ("capture", "given", "named"),
    [
        ("env", {"listen": ("127.0.0.1", 5), "device": None}, "--wireguard-listen"),
        ("tun", {"listen": ("127.0.0.1", 5), "device": None}, "--wireguard-listen"),
        ("wireguard", {"listen": None, "device": "fw0"}, "--tun-device"),
    ],
)
def test_an_option_of_the_other_way_is_refused(capture: str, given: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=f"found `{named}` without"):
        packets(capture, "exec", **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--wireguard-listen", "host:51820"),
        ("--wireguard-listen", "127.0.0.1:0"),
        ("--wireguard-listen", "127.0.0.1:99999"),
        ("--wireguard-listen", "51820"),
        ("--tun-device", "a b"),
        ("--tun-device", "0fw"),
        ("--tun-device", "a" * 16),
        ("--tun-device", "a/b"),
        ("--tun-device", ""),
        ("--tun-device", "-"),
    ],
)
def test_values_that_cannot_be_are_refused(option: str, value: str) -> None:
    kind = "wireguard" if "wire" in option else "tun"
    words = ["exec", "--capture", kind, option, value, "--", "true"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert f"found `{value}`, expected" in done.output


@pytest.mark.parametrize("kind", ["tun", "wireguard", "netns"])
def test_commands_that_cannot_say_so(kind: str) -> None:
    from faultwire.cli.options import CAPTURED_BY

    assert "exec" in CAPTURED_BY[kind]
    assert ("proxy" in CAPTURED_BY[kind]) is (kind != "netns")
