"""In its namespace a program is the user that it was, without rights; changes to files stay in there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.e2e.netns.conftest import Outside, command

LOOKS = """
import glob, json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "user": os.getuid(), "rights": int(status["CapEff"], 16), "may_gain": int(status["CapBnd"], 16),
    "users": os.readlink("/proc/self/ns/user"), "mounts": os.readlink("/proc/self/ns/mnt"),
    "resolver": open("/etc/resolv.conf").read(), "interfaces": os.listdir("/sys/class/net"),
    "held": [one for one in (os.readlink(p) for p in glob.glob("/proc/self/fd/*") if os.path.islink(p))
             if ":[" in one and not one.startswith(("pipe:", "socket:"))],
}))
"""


def look(outside: Outside, *before: str) -> dict[str, object]:
    done = outside.run(*before, "python3", "-c", LOOKS)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_it_is_the_user_that_it_was_and_nothing_outside_changes(outside: Outside) -> None:
    without = look(outside)
    inside = look(
        outside, *command(), "exec", "--capture", "netns", "--mock", "-q", "--allow-no-traffic", "--"
    )
    after = look(outside)
    assert inside["user"] == without["user"] == outside.user
    assert inside["users"] != without["users"], (
        "a namespace of users of its own, in which root has its rights"
    )
    assert inside["mounts"] != without["mounts"]
    if outside.user:
        assert inside["rights"] == 0
    assert inside["held"] == [], "no descriptor of a namespace is inherited"
    assert "nameserver 127.0.0.1\n" in str(inside["resolver"])
    assert after["resolver"] == without["resolver"] != inside["resolver"]
    assert Path("/etc/resolv.conf").read_text() == without["resolver"]


@pytest.mark.parametrize("outside", ["nobody"], indirect=True)
def test_control_a_descriptor_of_a_namespace_would_be_seen(outside: Outside) -> None:
    found = look(outside, "sh", "-c", 'exec 7</proc/self/ns/net; exec "$@"', "sh")
    assert found["held"] == [os.readlink(f"/proc/{outside.holder.pid}/ns/net")]
