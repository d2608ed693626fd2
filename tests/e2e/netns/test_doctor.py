"""`faultwire doctor` tries a namespace, and says why there is none."""

from __future__ import annotations

import pytest
from tests.e2e.netns.conftest import Outside, command

only_nobody = pytest.mark.parametrize("outside", ["nobody"], indirect=True)


def row(text: str, runtime: str) -> str:
    table = text[text.index("in a namespace") :]
    return next(line for line in table.splitlines() if line.startswith(runtime))


@only_nobody
def test_runtimes_are_tried_in_a_namespace(outside: Outside) -> None:
    done = outside.run(*command(), "doctor")
    assert row(done.stdout, "curl").split()[:4] == ["curl", "captured", "captured", "files"], done.stderr


@only_nobody
def test_a_forbidden_namespace_is_reported(outside: Outside) -> None:
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    done = outside.run("unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh", *command(), "doctor")
    assert row(done.stdout, "curl").split()[:4] == ["curl", "captured", "not", "tried"], done.stderr
    assert "no namespace: " in done.stdout
    assert "`user.max_user_namespaces` is `0`" in done.stdout
